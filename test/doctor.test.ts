// doctor as a person runs it: the built file against services, sockets and proxies that are broken in one way each.

import { mkdtemp, readdir, writeFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { createCertificate } from "./faults/certificate.ts";
import { CANARY, tracesOf } from "./fixtures/canary.ts";
import { BUILT_FILE } from "./fixtures/clients.ts";
import { run } from "./fixtures/run.ts";
import { envelope, type Reply, type ScriptedService, scriptedService } from "./fixtures/scripted-service.ts";
import { proxyServer } from "./service/proxy-server.ts";

const reportSchema = z.strictObject({
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(["ok", "warn", "fail", "skipped"]),
      detail: z.string().regex(/[^.]$/),
      remedy: z.string().regex(/[^.]$/).optional(),
    }),
  ),
});
type Report = z.infer<typeof reportSchema>;
type Found = Report["checks"][number];

const VIDEOS = "GET /api/v1/videos";
const NO_VIDEOS = { json: { videos: [] } };
const NETWORK_CHECKS = [
  "proxy",
  "dns",
  "connection",
  "service",
  "key",
  "allowance",
  "clock",
  "openapi",
  "platforms",
];
const ALL_CHECKS = [
  "node",
  "FACELESS_API_KEY",
  "FACELESS_BASE_URL",
  "FACELESS_POLL_SECONDS",
  "FACELESS_MAX_GENERATIONS",
  "FACELESS_CONFIRM_PUBLISH",
  "FACELESS_STATE_DIR",
  "FACELESS_LOG_LEVEL",
  "FACELESS_SANDBOX_SECONDS",
  ...NETWORK_CHECKS,
  "journal",
];

type Env = Readonly<Record<string, string>>;

interface Examined {
  readonly code: number | null;
  /** What was neither ok nor left out. */
  readonly troubles: readonly Found[];
  readonly skipped: readonly string[];
  readonly of: (name: string) => Found | undefined;
}

/** Has a key and keeps no journal unless `env` says otherwise. The key must not come out again, whatever is wrong. */
async function examine(env: Env): Promise<Examined> {
  const { code, stdout, stderr } = await run(process.execPath, [BUILT_FILE, "doctor", "--json"], {
    env: { FACELESS_API_KEY: CANARY, FACELESS_STATE_DIR: "off", ...env },
  });
  expect({ stderr, traces: tracesOf(CANARY, stdout) }).toEqual({ stderr: "", traces: [] });
  const { ok, checks } = reportSchema.parse(JSON.parse(stdout));
  const names = new Set(checks.map(({ name }) => name));
  expect([...ALL_CHECKS].filter((name) => !names.has(name))).toEqual([]);
  expect({ code, ok }).toEqual(
    checks.some(({ status }) => status === "fail") ? { code: 1, ok: false } : { code: 0, ok: true },
  );
  return {
    code,
    troubles: checks.filter(({ status }) => status === "warn" || status === "fail"),
    skipped: checks.filter(({ status }) => status === "skipped").map(({ name }) => name),
    of: (name) => checks.find((check) => check.name === name),
  };
}

const answering = (reply: Reply): Promise<ScriptedService> => scriptedService({ [VIDEOS]: reply });

/** A socket server of a test's own making. Gives its port. */
async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}

/** An HTTPS service with a certificate of its own making for `address`, and that certificate's file. */
async function tlsService(address: string): Promise<{ port: number; caFile: string }> {
  const certificate = createCertificate(address);
  const port = await listening(
    createTlsServer(certificate, (_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"videos":[]}');
    }),
  );
  const caFile = join(await mkdtemp(join(tmpdir(), "faceless-ca-")), "ca.pem");
  await writeFile(caFile, certificate.cert);
  return { port, caFile };
}

interface BrokenSetUp {
  readonly what: string;
  readonly env: () => Promise<Env> | Env;
  readonly name: string;
  readonly status?: "warn";
  readonly detail: RegExp;
  readonly remedy: RegExp;
}

const at = async (reply: Reply): Promise<Env> => ({ FACELESS_BASE_URL: (await answering(reply)).url });
const healthy = () => at(NO_VIDEOS);

const BROKEN: readonly BrokenSetUp[] = [
  {
    what: "no key",
    env: async () => ({ ...(await healthy()), FACELESS_API_KEY: "" }),
    name: "FACELESS_API_KEY",
    detail: /^is not set$/,
    remedy: /^Create a key in the account settings .+ put it in the env of this server's entry/,
  },
  {
    what: "a key of another service",
    env: async () => ({ ...(await healthy()), FACELESS_API_KEY: `sk-${CANARY.slice(3)}` }),
    name: "FACELESS_API_KEY",
    detail: /^does not begin with fl_$/,
    remedy: /^Check that the whole key was copied/,
  },
  {
    what: "a placeholder that the client did not fill in",
    env: async () => ({ ...(await healthy()), FACELESS_API_KEY: "${input:faceless-key}" }),
    name: "FACELESS_API_KEY",
    detail: /placeholder that the client did not fill in/,
    remedy: /^Set FACELESS_API_KEY where the client takes the placeholder from/,
  },
  {
    what: "the key of the example",
    env: async () => ({ ...(await healthy()), FACELESS_API_KEY: "fl_example" }),
    name: "FACELESS_API_KEY",
    detail: /^is the key of the example$/,
    remedy: /^Put your own key in its place/,
  },
  {
    what: "no address",
    env: () => ({}),
    name: "FACELESS_BASE_URL",
    detail: /^is not set$/,
    remedy: /^Set it to the service's address/,
  },
  {
    what: "an address without https",
    env: () => ({ FACELESS_BASE_URL: "http://videos.test" }),
    name: "FACELESS_BASE_URL",
    detail: /does not use https/,
    remedy: /^Begin it with https:\/\/$/,
  },
  {
    what: "the address of the example",
    env: () => ({ FACELESS_BASE_URL: "https://videos.example.com" }),
    name: "FACELESS_BASE_URL",
    detail: /^is the address of the example$/,
    remedy: /^Put the address of your service in its place$/,
  },
  {
    what: "an address with a wrong path",
    env: async () => ({ FACELESS_BASE_URL: `${(await answering(NO_VIDEOS)).url}/app` }),
    name: "service",
    detail: /nothing at this address \(HTTP 404; its words: "No such path\."\)$/,
    remedy: /^Check the path in FACELESS_BASE_URL/,
  },
  {
    what: "the address of the website",
    env: () => at({ headers: { "content-type": "text/html" }, body: "<!doctype html><title>Videos</title>" }),
    name: "service",
    detail: /not the service's API \(HTTP 200, a web page\)$/,
    remedy: /^Set FACELESS_BASE_URL to the address of the API, not of the website/,
  },
  {
    what: "a host that there is not",
    env: () => ({ FACELESS_BASE_URL: "https://videos.invalid" }),
    name: "dns",
    detail: /videos\.invalid.*\((ENOTFOUND|EAI_AGAIN|no answer within 3 s)\)$/,
    remedy: /^Check (the spelling of the host in FACELESS_BASE_URL$|that this machine is online)/,
  },
  {
    what: "a port where nothing listens",
    env: async () => {
      const gone = await scriptedService();
      await gone.close();
      return { FACELESS_BASE_URL: gone.url };
    },
    name: "connection",
    detail: /^127\.0\.0\.1:\d+ refuses connections \(ECONNREFUSED\)$/,
    remedy: /^Check the host and the port .+ nothing listens there$/,
  },
  {
    what: "a certificate that nobody vouches for",
    env: async () => ({ FACELESS_BASE_URL: `https://127.0.0.1:${(await tlsService("127.0.0.1")).port}` }),
    name: "connection",
    detail: /^TLS: no authority that Node\.js knows .+ \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/,
    remedy: /NODE_EXTRA_CA_CERTS/,
  },
  {
    what: "the certificate of another host",
    env: async () => {
      const { port, caFile } = await tlsService("127.0.0.2");
      return { FACELESS_BASE_URL: `https://127.0.0.1:${port}`, NODE_EXTRA_CA_CERTS: caFile };
    },
    name: "connection",
    detail: /^TLS: the certificate .+ another host \(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
    remedy: /^Check the spelling of the host/,
  },
  {
    what: "https at a port of plain HTTP",
    env: async () => {
      const { url } = await answering(NO_VIDEOS);
      return { FACELESS_BASE_URL: url.replace("http:", "https:") };
    },
    name: "connection",
    detail: /^TLS: 127\.0\.0\.1:\d+ does not speak it/,
    remedy: /^Check the port in FACELESS_BASE_URL\. The usual one/,
  },
  {
    what: "plain HTTP at a port of TLS",
    env: async () => ({ FACELESS_BASE_URL: `http://127.0.0.1:${(await tlsService("127.0.0.1")).port}` }),
    name: "connection",
    detail: /gives no HTTP answer: the connection was closed/,
    remedy: /whether it begins with https:\/\/ as it should$/,
  },
  {
    what: "something else than a web server",
    env: async () => {
      const greeter = createServer((socket) => socket.on("error", () => {}).end("220 mail.test ESMTP\r\n"));
      return { FACELESS_BASE_URL: `http://127.0.0.1:${await listening(greeter)}` };
    },
    name: "connection",
    detail: /gives no HTTP answer: the answer is not HTTP$/,
    remedy: /^Check the port in FACELESS_BASE_URL/,
  },
  {
    what: "a proxy that is no URL",
    env: () => ({ FACELESS_BASE_URL: "https://videos.test", HTTPS_PROXY: "socks5://127.0.0.1:1080" }),
    name: "proxy",
    detail: /^HTTPS_PROXY is not the URL of an HTTP proxy$/,
    remedy: /^Set it to a URL such as http:\/\/proxy\.example:8080/,
  },
  {
    what: "a proxy that is not there",
    env: async () => {
      const gone = await scriptedService();
      await gone.close();
      return { FACELESS_BASE_URL: "https://videos.test", HTTPS_PROXY: gone.url.replace("//", "//u:p@") };
    },
    name: "proxy",
    detail: /^127\.0\.0\.1:\d+ \(HTTPS_PROXY\) can't be reached: ECONNREFUSED$/,
    remedy: /^Check the host and the port in HTTPS_PROXY/,
  },
  {
    what: "a proxy that refuses",
    env: async () => ({
      FACELESS_BASE_URL: "https://videos.test",
      https_proxy: (await proxyServer(403)).url,
    }),
    name: "connection",
    detail: /^the proxy refuses the way to videos\.test:443 \(HTTP 403\)$/,
    remedy: /^Ask whoever runs the proxy to let videos\.test:443 through/,
  },
  {
    what: "a proxy that wants a password",
    env: async () => ({
      FACELESS_BASE_URL: "https://videos.test",
      HTTPS_PROXY: (await proxyServer(407)).url,
    }),
    name: "connection",
    detail: /^the proxy wants a user name and a password \(HTTP 407\)$/,
    remedy: /^Put them into HTTPS_PROXY/,
  },
  {
    what: "a proxy that hangs up",
    env: async () => ({
      FACELESS_BASE_URL: "https://videos.test",
      HTTPS_PROXY: (await proxyServer("drop")).url,
    }),
    name: "connection",
    detail: /^the proxy breaks off the connection/,
    remedy: /^Check that HTTPS_PROXY names the port of an HTTP proxy$/,
  },
  {
    what: "a key that is refused",
    env: () => at(envelope(401, "unauthorized", `No such key: ${CANARY}`)),
    name: "key",
    detail: /did not accept the API key \(HTTP 401; its words: "No such key: \[redacted\]"\)$/,
    remedy: /^Check FACELESS_API_KEY: create a key/,
  },
  {
    what: "a key without the right",
    env: () => at(envelope(403, "forbidden", "Not with this key.")),
    name: "key",
    detail: /This API key is not allowed to list videos \(HTTP 403; its words: "Not with this key\."\)$/,
    remedy: /what the key may do$/,
  },
  {
    what: "a firewall",
    env: () => at({ status: 403, body: "<h1>Blocked</h1>" }),
    name: "key",
    detail: /\(HTTP 403\)$/,
    remedy: /or whether a firewall on the way says no$/,
  },
  {
    what: "an account without credits",
    env: () => at(envelope(402, "out_of_credits", "No credits remain.")),
    name: "credits",
    detail: /has no credits left \(HTTP 402/,
    remedy: /^Add credits to the account/,
  },
  {
    what: "a service that is down",
    env: () => at({ status: 503 }),
    name: "service",
    detail: /failed while handling the request to list the videos \(HTTP 503\)$/,
    remedy: /^Try again in a minute$/,
  },
  {
    what: "a redirect to another origin",
    env: () => at({ status: 301, headers: { location: "https://www.videos.test/api/v1/videos" } }),
    name: "service",
    detail: /a redirect to https:\/\/www\.videos\.test, which was not followed/,
    remedy: /^Set FACELESS_BASE_URL to the address at which the service itself answers$/,
  },
  {
    what: "a rate limit that is used up",
    env: () => at({ ...envelope(429, "rate_limited", "Slow down."), headers: { "retry-after": "17" } }),
    name: "allowance",
    detail: /takes no more requests for now \(HTTP 429\)$/,
    remedy: /^Wait 17 s$/,
  },
  {
    what: "a limit of no videos",
    env: async () => ({ ...(await healthy()), FACELESS_MAX_GENERATIONS: "0" }),
    name: "FACELESS_MAX_GENERATIONS",
    detail: /^allows no video at all$/,
    remedy: /^Raise it, or remove it$/,
  },
  {
    what: "a setting out of shape",
    env: async () => ({ ...(await healthy()), FACELESS_POLL_SECONDS: "often" }),
    name: "FACELESS_POLL_SECONDS",
    detail: /^is not a number of seconds/,
    remedy: /^Set it to a number of seconds .+ or remove it$/,
  },
  {
    what: "a journal that can't be written",
    env: async () => {
      const file = join(await mkdtemp(join(tmpdir(), "faceless-doctor-")), "file");
      await writeFile(file, "");
      return { ...(await healthy()), FACELESS_STATE_DIR: join(file, "state") };
    },
    name: "journal",
    status: "warn",
    detail: /\/file\/state \(FACELESS_STATE_DIR\) can't be written \(ENOTDIR\)/,
    remedy: /^Set FACELESS_STATE_DIR to a folder that you can write to/,
  },
  {
    what: "a journal somewhere or other",
    env: async () => ({ ...(await healthy()), FACELESS_STATE_DIR: "state" }),
    name: "journal",
    status: "warn",
    detail: /^the folder state \(FACELESS_STATE_DIR\) is relative/,
    remedy: /^Set FACELESS_STATE_DIR to a full path$/,
  },
  {
    what: "a clock that is an hour fast",
    env: () => at({ ...NO_VIDEOS, headers: { date: new Date(Date.now() - 3_600_000).toUTCString() } }),
    name: "clock",
    status: "warn",
    detail: /^this machine is 60 min ahead of the service$/,
    remedy: /^Set the clock of this machine/,
  },
];

function fits({ name, detail, remedy }: BrokenSetUp, found: Found | undefined): boolean {
  return found?.name === name && detail.test(found.detail) && remedy.test(found.remedy ?? "");
}

describe("doctor", () => {
  test.each(BROKEN)(
    "tells $what from all the rest, and how to mend it",
    async ({ what, env, name, status = "fail", detail, remedy }) => {
      const { troubles } = await examine(await env());

      // None of these services has an OpenAPI document, where it is asked for one at all.
      const [trouble, ...more] = troubles.filter((found) => found.name !== "openapi");
      expect({ trouble, more }).toEqual({
        trouble: {
          name,
          status,
          detail: expect.stringMatching(detail),
          remedy: expect.stringMatching(remedy),
        },
        more: [],
      });
      expect(BROKEN.filter((one) => fits(one, trouble)).map((one) => one.what)).toEqual([what]);
    },
  );

  test("sees that the address ends in the API's own path, and what comes of it", async () => {
    const rest = await answering(NO_VIDEOS);

    const { troubles } = await examine({ FACELESS_BASE_URL: `${rest.url}/api/v1` });

    expect(troubles).toEqual([
      {
        name: "FACELESS_BASE_URL",
        status: "warn",
        detail: `${rest.url}/api/v1 ends in the path of the API, which is added to it once more`,
        remedy: "Remove /api/v1 from its end",
      },
      {
        name: "service",
        status: "fail",
        detail: expect.stringContaining("HTTP 404"),
        remedy: "Remove /api and what follows it from the end of FACELESS_BASE_URL",
      },
    ]);
  });

  test("ends within its time at a service that never answers", async () => {
    const rest = await answering("hang");
    const startMs = performance.now();

    const { troubles, skipped } = await examine({ FACELESS_BASE_URL: rest.url });

    expect(performance.now() - startMs).toBeLessThan(20_000);
    expect(troubles).toEqual([
      {
        name: "connection",
        status: "fail",
        detail: expect.stringMatching(/takes the request, but no answer came: it took longer than 7 s$/),
        remedy: "Try again in a minute",
      },
    ]);
    expect(skipped).toEqual(["service", "key", "allowance", "clock", "openapi", "platforms"]);
  });

  test("finds nothing wrong where nothing is, asks with GET alone and keeps no journal of its own", async () => {
    const platforms = "/api/v1/connected-platforms";
    const parameters = [{ name: "before", in: "query" }];
    const headers = {
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "59",
      "x-ratelimit-reset": "30",
    };
    const rest = await scriptedService({
      [VIDEOS]: { ...NO_VIDEOS, headers },
      "GET /api/v1/openapi.json": {
        json: { paths: { "/api/v1/videos": { get: { parameters } }, [platforms]: { get: {} } } },
      },
      [`GET ${platforms}`]: { json: { platforms: ["tiktok", { platform: `\u001B[31m${CANARY}` }] } },
    });
    const folder = join(await mkdtemp(join(tmpdir(), "faceless-doctor-")), "not", "yet", "there");

    const { code, troubles, skipped, of } = await examine({
      FACELESS_BASE_URL: `${rest.url}/`,
      FACELESS_STATE_DIR: folder,
    });

    expect({ code, troubles, skipped }).toEqual({ code: 0, troubles: [], skipped: [] });
    expect(
      ["FACELESS_BASE_URL", "allowance", "openapi", "platforms", "journal"].map((name) => of(name)?.detail),
    ).toEqual([
      rest.url,
      "59 of 60 requests left, renewed in 30 s",
      `names the paging parameter before; the platforms' path ${platforms}`,
      "tiktok, [redacted]",
      `${folder} (FACELESS_STATE_DIR) can be made when it is needed`,
    ]);
    expect(rest.lines()).toEqual([`${VIDEOS}?limit=1`, "GET /api/v1/openapi.json", `GET ${platforms}`]);
    expect(rest.requests.map(({ headers: { authorization } }) => authorization)).toEqual(
      rest.requests.map(() => `Bearer ${CANARY}`),
    );
    await expect(readdir(folder)).rejects.toThrow("ENOENT");
  });

  test("leaves nothing behind in a journal's folder that is there", async () => {
    const rest = await answering(NO_VIDEOS);
    const folder = await mkdtemp(join(tmpdir(), "faceless-doctor-"));

    const { of } = await examine({ FACELESS_BASE_URL: rest.url, FACELESS_STATE_DIR: folder });

    expect(of("journal")).toEqual({
      name: "journal",
      status: "ok",
      detail: `${folder} (FACELESS_STATE_DIR) can be written`,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test("goes through a proxy's tunnel over TLS with a company's certificate, as the server would", async () => {
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

    const { of, troubles } = await examine({
      FACELESS_BASE_URL: "https://192.0.2.1",
      HTTPS_PROXY: `http://user:secret@127.0.0.1:${proxyPort}`,
      NODE_EXTRA_CA_CERTS: caFile,
    });

    // That service speaks no MCP, so its platforms stay unknown.
    expect(troubles.map(({ name }) => name)).toEqual(["platforms"]);
    expect(["proxy", "dns", "connection", "key"].map((name) => of(name))).toEqual([
      { name: "proxy", status: "ok", detail: `127.0.0.1:${proxyPort} (HTTPS_PROXY) takes connections` },
      { name: "dns", status: "skipped", detail: "the proxy resolves the name" },
      { name: "connection", status: "ok", detail: expect.stringMatching(/^over TLS, answered in \d+ ms$/) },
      { name: "key", status: "ok", detail: "accepted" },
    ]);
    expect(new Set(tunnels)).toEqual(new Set(["CONNECT 192.0.2.1:443"]));
  });

  test("tries the address of one who has no key yet, without one", async () => {
    const rest = await answering(envelope(401, "unauthorized", "Who are you?"));

    const { of } = await examine({ FACELESS_API_KEY: "", FACELESS_BASE_URL: rest.url });

    expect([of("service"), of("key")]).toEqual([
      { name: "service", status: "ok", detail: "answers (HTTP 401)" },
      { name: "key", status: "skipped", detail: "there is no key to try" },
    ]);
    expect(rest.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test("shows no key that was put in the wrong place", async () => {
    const strays = {
      FACELESS_BASE_URL: "https://fl_5tray.invalid/fl_5tray",
      FACELESS_STATE_DIR: "/fl_5tray",
    };
    const { stdout } = await run(process.execPath, [BUILT_FILE, "doctor"], {
      env: { ...strays, FACELESS_LOG_LEVEL: "fl_5tray", HTTPS_PROXY: "http://fl_5tray:x@127.0.0.1:1" },
    });

    expect(stdout).toContain("[redacted]");
    expect(stdout).not.toContain("5tray");
  });

  test("prints a line for each check in plain text, with what it comes to at the end", async () => {
    const rest = await answering({ status: 503 });

    const { code, stdout, stderr } = await run(process.execPath, [BUILT_FILE, "doctor"], {
      env: { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: rest.url, FACELESS_STATE_DIR: "off" },
    });

    const lines = stdout.split("\n");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(lines.slice(0, -3).map((line) => line.split(/ +/).slice(0, 2))).toEqual(
      ALL_CHECKS.map((name) => [expect.stringMatching(/^(ok|warn|fail|skip)$/), name]),
    );
    expect(lines.find((line) => line.startsWith("fail"))).toMatch(
      /^fail {2}service +the service, or a gateway in front of it, failed while handling the request to list the videos \(HTTP 503\)\. Try again in a minute\.$/,
    );
    expect(lines.slice(-3)).toEqual(["", "No video can be made before this is mended: service.", ""]);
    // eslint-disable-next-line no-control-regex -- escape sequences are the very thing that must not be there
    expect(stdout).not.toMatch(/[\u001B✔✖]/);
  });
});
