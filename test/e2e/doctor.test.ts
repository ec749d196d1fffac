// doctor as a user runs it: the built file, with services, sockets and proxies that each fail in one way.

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { createCertificate } from "../faults/certificate.ts";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { BUILT_FILE } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";
import { envelope, type Reply, type ScriptedService, scriptedService } from "../fixtures/scripted-service.ts";
import { proxyServer } from "../service/proxy-server.ts";

const reportSchema = z.strictObject({
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(["ok", "warn", "fail"]),
      detail: z.string().regex(/[^.]$/),
      fix: z.string().regex(/[^.]$/).optional(),
    }),
  ),
  skipped: z.array(z.string()),
});
type Report = z.infer<typeof reportSchema>;
type Found = Report["checks"][number];
type Env = Readonly<Record<string, string>>;

const VIDEOS = "GET /api/v1/videos";
const NO_VIDEOS = { json: { videos: [] } };
const PLATFORMS = "/api/v1/connected-platforms";
const DOCUMENT = "GET /api/v1/openapi.json";

const doctor = (env: Env, ...options: string[]) =>
  run(process.execPath, [BUILT_FILE, "doctor", ...options], {
    env: { FACELESS_API_KEY: CANARY, FACELESS_STATE_DIR: "off", ...env },
  });

/** The report and its checks that are not ok. The key must not be in the report, whatever is wrong. */
async function examine(env: Env): Promise<Report & { problems: readonly Found[] }> {
  const { code, stdout, stderr } = await doctor(env, "--json");
  expect({ stderr, traces: tracesOf(CANARY, stdout) }).toEqual({ stderr: "", traces: [] });
  const report = reportSchema.parse(JSON.parse(stdout));
  const ok = report.checks.every(({ status }) => status !== "fail");
  expect({ code, ok: report.ok }).toEqual({ code: ok ? 0 : 1, ok });
  return { ...report, problems: report.checks.filter(({ status }) => status !== "ok") };
}

/** A service with this answer for the video list, and with one connected platform. */
const answering = (reply: Reply): Promise<ScriptedService> =>
  scriptedService({
    [VIDEOS]: reply,
    [DOCUMENT]: { json: { paths: { [PLATFORMS]: { get: { operationId: "list_connected_platforms" } } } } },
    [`GET ${PLATFORMS}`]: { json: { platforms: ["tiktok"] } },
  });

/** Listens until the test is over. Returns the port. */
async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}

/** An HTTPS service whose self-signed certificate is for `address`, and the certificate's file. */
async function tlsService(address: string): Promise<{ port: number; caFile: string }> {
  const certificate = createCertificate(address);
  const port = await listening(
    createTlsServer(certificate, (_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"videos":[]}');
    }),
  );
  const caFile = join(temporaryFolder(), "ca.pem");
  await writeFile(caFile, certificate.cert);
  return { port, caFile };
}

/** The URL of a port where nothing listens. */
async function deadUrl(): Promise<string> {
  const service = await scriptedService();
  await service.close();
  return service.url;
}

interface BrokenSetUp {
  readonly what: string;
  readonly env: () => Promise<Env> | Env;
  readonly name: string;
  readonly status?: "warn";
  readonly detail: RegExp;
  readonly fix: RegExp;
}

const at = async (reply: Reply): Promise<Env> => ({ FACELESS_BASE_URL: (await answering(reply)).url });
const healthy = () => at(NO_VIDEOS);

const BROKEN: readonly BrokenSetUp[] = [
  {
    what: "a proxy that is not there",
    env: async () => ({
      FACELESS_BASE_URL: "https://videos.test",
      HTTPS_PROXY: (await deadUrl()).replace("//", "//u:p@"),
    }),
    name: "service",
    detail:
      /^https:\/\/videos\.test can't be reached: the connection to the proxy at 127\.0\.0\.1:\d+, which HTTPS_PROXY names, failed: connection refused/,
    fix: /^Check that the proxy runs and that HTTPS_PROXY is right\./,
  },
  {
    what: "neither key nor address",
    env: () => ({ FACELESS_API_KEY: "" }),
    name: "settings",
    detail: /^key and address are not set in this terminal, and without --client doctor sees nothing else$/,
    fix: /^Add --client and the name of your client, .+; or set FACELESS_API_KEY and FACELESS_BASE_URL in this terminal$/,
  },
  {
    what: "no key",
    env: async () => ({ ...(await healthy()), FACELESS_API_KEY: "" }),
    name: "FACELESS_API_KEY",
    detail: /^it is not set in this terminal, and without --client doctor sees nothing else$/,
    fix: /^Set it in this terminal too, or add --client/,
  },
  {
    what: "a key in quotes",
    env: async () => ({ ...(await healthy()), FACELESS_API_KEY: `"${CANARY}"` }),
    name: "FACELESS_API_KEY",
    detail: /^it is in quotes$/,
    fix: /^Remove the quotes around it$/,
  },
  {
    what: "the key of the example",
    env: async () => ({ ...(await healthy()), FACELESS_API_KEY: "fl_example" }),
    name: "FACELESS_API_KEY",
    detail: /^it is the key of the example$/,
    fix: /^Replace it with your own key/,
  },
  {
    what: "no address",
    env: () => ({}),
    name: "FACELESS_BASE_URL",
    detail: /^it is not set in this terminal/,
    fix: /^Set it in this terminal too/,
  },
  {
    what: "the address of the example",
    env: () => ({ FACELESS_BASE_URL: "https://videos.example.com" }),
    name: "FACELESS_BASE_URL",
    detail: /^it is the address of the example$/,
    fix: /^Replace it with the address of your service$/,
  },
  {
    what: "an address with a wrong path",
    env: async () => ({ FACELESS_BASE_URL: `${(await answering(NO_VIDEOS)).url}/app` }),
    name: "service",
    detail: /\(HTTP 404; its words: "No such path\."\)$/,
    fix: /^Check FACELESS_BASE_URL: it is the service's address without \/api\/v1$/,
  },
  {
    what: "an address that ends in the API's path",
    env: async () => ({ FACELESS_BASE_URL: `${(await answering(NO_VIDEOS)).url}/api/v1/` }),
    name: "service",
    detail: /\(HTTP 404/,
    fix: /^Remove \/api\/v1 from the end of FACELESS_BASE_URL$/,
  },
  {
    what: "the address of the website",
    env: () => at({ headers: { "content-type": "text/html" }, body: "<!doctype html><title>Videos</title>" }),
    name: "service",
    detail: /^a web page answers, not the service$/,
    fix: /^Set FACELESS_BASE_URL to the address of the service itself/,
  },
  {
    what: "the address of another service",
    env: () => at({ json: { hello: "world" } }),
    name: "service",
    detail: /^something else answers at this address$/,
    fix: /^Check FACELESS_BASE_URL/,
  },
  {
    what: "a host that does not exist",
    env: () => ({ FACELESS_BASE_URL: "https://videos.invalid" }),
    name: "service",
    detail: /^https:\/\/videos\.invalid can't be reached: .+\((ENOTFOUND|EAI_AGAIN)\)$/,
    fix: /^Check (the spelling of the host in FACELESS_BASE_URL|that this computer is online)/,
  },
  {
    what: "a port where nothing listens",
    env: async () => ({ FACELESS_BASE_URL: await deadUrl() }),
    name: "service",
    detail: /^http:\/\/127\.0\.0\.1:\d+ can't be reached: connection refused \(ECONNREFUSED\)$/,
    fix: /the host and the port in FACELESS_BASE_URL/,
  },
  {
    what: "a proxy that refuses",
    env: async () => ({
      FACELESS_BASE_URL: "https://videos.test",
      https_proxy: (await proxyServer(403)).url,
    }),
    name: "service",
    detail: /: the proxy refused the connection$/,
    fix: /^Ask the operator of the proxy to allow this host/,
  },
  {
    what: "a key that is refused",
    env: () => at(envelope(401, "unauthorized", `No such key: ${CANARY}`)),
    name: "key",
    detail: /\(HTTP 401; its words: "No such key: \[redacted\]"\)$/,
    fix: /^Check FACELESS_API_KEY: create a key/,
  },
  {
    what: "a firewall",
    env: () => at({ status: 403, body: "<h1>Blocked</h1>" }),
    name: "key",
    detail: /\(HTTP 403\)$/,
    fix: /or whether a firewall blocks the request$/,
  },
  {
    what: "an account without credits",
    env: () => at(envelope(402, "out_of_credits", "No credits remain.")),
    name: "credits",
    detail: /no credits left \(HTTP 402/,
    fix: /^Add credits to the account/,
  },
  {
    what: "a service that is down",
    env: () => at({ status: 503 }),
    name: "service",
    detail: /\(HTTP 503\)$/,
    fix: /^Try again in a minute$/,
  },
  {
    what: "a service that never answers",
    env: () => at("hang"),
    name: "service",
    detail: /^http:\/\/127\.0\.0\.1:\d+ takes the request, but does not answer: it took longer than \d s$/,
    fix: /^Try again in a minute$/,
  },
  {
    what: "a redirect to another origin",
    env: () => at({ status: 301, headers: { location: "https://www.videos.test/api/v1/videos" } }),
    name: "service",
    detail: /a redirect to https:\/\/www\.videos\.test/,
    fix: /^Set FACELESS_BASE_URL to the address/,
  },
  {
    what: "a rate limit that is used up",
    env: () => at({ ...envelope(429, "rate_limited", "Slow down."), headers: { "retry-after": "17" } }),
    name: "requests",
    detail: /\(HTTP 429; its words: "Slow down\."\)$/,
    fix: /^Wait 17 s/,
  },
  {
    what: "the last request of a rate limit",
    env: () => at({ ...NO_VIDEOS, headers: { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0" } }),
    name: "requests",
    status: "warn",
    detail: /^0 of 60 requests left for now$/,
    fix: /^Wait some minutes/,
  },
  {
    what: "a limit of no videos",
    env: async () => ({ ...(await healthy()), FACELESS_MAX_GENERATIONS: "0" }),
    name: "FACELESS_MAX_GENERATIONS",
    detail: /^it allows no video at all$/,
    fix: /^Raise it, or remove it$/,
  },
  {
    what: "a setting whose default is used instead",
    env: async () => ({ ...(await healthy()), FACELESS_POLL_SECONDS: "often" }),
    name: "FACELESS_POLL_SECONDS",
    status: "warn",
    detail: /^it is not a number of seconds .+, so the usual schedule is used$/,
    fix: /^Set it to a number of seconds .+ or remove it$/,
  },
  {
    what: "a journal that can't be written",
    env: async () => {
      const file = join(temporaryFolder(), "file");
      await writeFile(file, "");
      return { ...(await healthy()), FACELESS_STATE_DIR: join(file, "state") };
    },
    name: "journal",
    status: "warn",
    detail:
      /\/file\/state can't be written: a part of its path is a file \(ENOTDIR\)\. After a restart nothing/,
    fix: /^Set FACELESS_STATE_DIR to a folder that you can write to$/,
  },
  {
    what: "a journal that can't be read",
    env: async () => {
      const folder = temporaryFolder();
      await mkdir(join(folder, "journal-2026-11-21.jsonl"));
      return { ...(await healthy()), FACELESS_STATE_DIR: folder };
    },
    name: "journal",
    detail: /can't be read \(EISDIR: \/.*\/journal-2026-11-21\.jsonl\)\. Nothing is paid for or posted/,
    fix: /^Give yourself the right to read it, or set FACELESS_STATE_DIR to another folder$/,
  },
];

test.each(BROKEN)(
  "doctor names $what, how to fix it, and nothing else",
  async ({ env, name, status = "fail", detail, fix }) => {
    const { problems } = await examine(await env());

    expect(problems).toEqual([
      { name, status, detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) },
    ]);
  },
);

test("doctor sends only GET requests and makes no journal", async () => {
  const service = await scriptedService({
    [VIDEOS]: { ...NO_VIDEOS, headers: { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59" } },
    [DOCUMENT]: { json: { paths: { [PLATFORMS]: { get: { operationId: "list_connected_platforms" } } } } },
    [`GET ${PLATFORMS}`]: { json: { platforms: ["tiktok", { platform: `\u001B[31m${CANARY}` }] } },
  });
  const folder = join(temporaryFolder(), "not", "yet", "there");

  const report = await examine({
    FACELESS_BASE_URL: `${service.url}/`,
    FACELESS_STATE_DIR: folder,
  });

  expect(report).toMatchObject({ ok: true, problems: [], skipped: [] });
  expect(Object.fromEntries(report.checks.map(({ name, detail }) => [name, detail]))).toEqual({
    "Node.js": process.versions.node,
    settings:
      "key and address are set in this terminal; to check your client's entry, add --client and its name",
    service: expect.stringMatching(new RegExp(`^${service.url} answers \\(\\d+ ms\\)$`)),
    key: "the service accepts it",
    requests: "59 of 60 requests left for now",
    platforms: "tiktok, [redacted]",
    journal: `${folder} keeps what was paid and posted, so that nothing is done twice`,
  });
  expect(service.lines()).toEqual([`${VIDEOS}?limit=1`, DOCUMENT, `GET ${PLATFORMS}`]);
  expect(service.requests.map(({ headers: { authorization } }) => authorization)).toEqual(
    service.requests.map(() => `Bearer ${CANARY}`),
  );
  await expect(readdir(folder)).rejects.toThrow("ENOENT");
});

test("doctor goes through a proxy over TLS with a company's certificate, as the server would", async () => {
  const { port, caFile } = await tlsService("192.0.2.1");
  const tunnels: string[] = [];
  const proxy = createServer((socket) => {
    socket.once("data", (head) => {
      tunnels.push(head.toString("latin1").split(" ").slice(0, 2).join(" "));
      const target = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        socket.pipe(target).pipe(socket);
      });
      target.on("error", () => socket.destroy());
      socket.on("close", () => target.destroy());
    });
    socket.on("error", () => {});
  });
  const proxyPort = await listening(proxy);

  const { checks, problems } = await examine({
    FACELESS_BASE_URL: "https://192.0.2.1",
    HTTPS_PROXY: `http://user:secret@127.0.0.1:${proxyPort}`,
    NODE_EXTRA_CA_CERTS: caFile,
  });

  // This service speaks no MCP, so its platforms stay unknown.
  expect(problems.map(({ name }) => name)).toEqual(["platforms"]);
  expect(checks).toContainEqual({ name: "key", status: "ok", detail: "the service accepts it" });
  expect(new Set(tunnels)).toEqual(new Set(["CONNECT 192.0.2.1:443"]));
});

test("doctor checks the address even without a key", async () => {
  const service = await answering(envelope(401, "unauthorized", "Who are you?"));

  const { checks, skipped } = await examine({ FACELESS_API_KEY: "", FACELESS_BASE_URL: service.url });

  expect(checks).toContainEqual({ name: "service", status: "ok", detail: `${service.url} answers` });
  expect(skipped).toContain("key");
});

test("doctor shows no key that was set in the wrong variable", async () => {
  const { stdout } = await doctor({
    FACELESS_BASE_URL: "https://fl_5tray.invalid/fl_5tray",
    FACELESS_STATE_DIR: "/fl_5tray",
    FACELESS_LOG_LEVEL: "fl_5tray",
    HTTPS_PROXY: "http://fl_5tray:x@127.0.0.1:1",
  });

  expect(stdout).toContain("[redacted]");
  expect(stdout).not.toContain("5tray");
});

test("doctor prints about ten plain lines if all is well", async () => {
  const { code, stdout, stderr } = await doctor(await healthy());

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/).slice(0, 2).join(" "))).toEqual([
    "A video can be made.",
    "",
    "ok Node.js",
    "ok settings",
    "ok service",
    "ok key",
    "ok platforms",
    "ok journal",
    "",
    "Not checked: requests.",
    "",
  ]);
  // eslint-disable-next-line no-control-regex -- escape sequences are what must not be there
  expect(stdout).not.toMatch(/[\u001B✔✖]/);
});

test("doctor prints what to fix first, and the skipped checks in one line", async () => {
  const { code, stdout } = await doctor(await at({ status: 503 }));

  expect(code).toBe(1);
  const lines = stdout.split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "Before a video can be made, fix this:",
    "",
    "fail  service   Try again in a minute.",
  ]);
  expect(lines.filter((line) => line.startsWith("Not checked"))).toEqual([
    "Not checked: key, requests, platforms.",
  ]);
});
