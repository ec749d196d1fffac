// What doctor finds with services, sockets and proxies that each fail in one way.

import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import { CANARY } from "../fixtures/canary.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { envelope, type Reply, scriptedService } from "../fixtures/scripted-service.ts";
import { doctor, NO_VIDEOS, serviceWith } from "./run-doctor.ts";

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
type Env = Readonly<Record<string, string>>;

const run = (env: Env, json = false, homeDir = "/home/user") =>
  doctor({ env: { FACELESS_API_KEY: CANARY, ...env }, json, homeDir });

/** The report and its checks that are not ok. */
async function examine(env: Env, homeDir?: string) {
  const { code, text } = await run(env, true, homeDir);
  const report = reportSchema.parse(JSON.parse(text));
  const ok = report.checks.every(({ status }) => status !== "fail");
  expect({ code, ok: report.ok }).toEqual({ code: ok ? 0 : 1, ok });
  return { ...report, problems: report.checks.filter(({ status }) => status !== "ok") };
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

const at = async (reply: Reply): Promise<Env> => ({ FACELESS_BASE_URL: (await serviceWith(reply)).url });
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
      /^https:\/\/videos\.test gives no answer: the connection to the proxy at 127\.0\.0\.1:\d+, which HTTPS_PROXY names, failed: connection refused/,
    fix: /^Check that the proxy runs and that HTTPS_PROXY is right\./,
  },
  {
    what: "neither key nor address",
    env: () => ({ FACELESS_API_KEY: "" }),
    name: "settings",
    detail:
      /^this terminal does not set FACELESS_API_KEY and FACELESS_BASE_URL, and without --client doctor sees nothing else$/,
    fix: /^Add --client and the name of your client, .+; or set what is missing in this terminal$/,
  },
  {
    what: "the address of the example",
    env: () => ({ FACELESS_BASE_URL: "https://videos.example.com" }),
    name: "FACELESS_BASE_URL",
    detail: /^it is the example address$/,
    fix: /^Replace it with your service's address$/,
  },
  {
    what: "an address with a wrong path",
    env: async () => ({ FACELESS_BASE_URL: `${(await serviceWith(NO_VIDEOS)).url}/app` }),
    name: "service",
    detail: /\(HTTP 404; its words: "No such path\."\)$/,
    fix: /^Check FACELESS_BASE_URL: it must lead to the service itself, not to its website or a sign-in page$/,
  },
  {
    what: "the address of another service",
    env: () => at({ json: { hello: "world" } }),
    name: "service",
    detail: /^something else answers at this address$/,
    fix: /^Set FACELESS_BASE_URL to the service's address, not/,
  },
  {
    what: "a key that is refused",
    env: () => at(envelope(401, "unauthorized", `No such key: ${CANARY}`)),
    name: "key",
    detail: /\(HTTP 401; its words: "No such key: \[redacted\]"\)$/,
    fix: /^Check FACELESS_API_KEY: create a key/,
  },
  {
    what: "a refusal in words for a caller",
    env: () => at(envelope(400, "bad_request", "No such thing.")),
    name: "service",
    detail: /refused to list the videos \(HTTP 400; its words: "No such thing\."\)$/,
    fix: /^See what the service says, and check FACELESS_BASE_URL$/,
  },
  {
    what: "a refusal without words",
    env: () => at({ status: 422, json: {} }),
    name: "service",
    detail: /refused to list the videos \(HTTP 422\)$/,
    fix: /^Check FACELESS_BASE_URL$/,
  },
  {
    what: "an account without credits",
    env: () => at(envelope(402, "out_of_credits", "No credits remain.")),
    name: "credits",
    detail: /not have enough credits \(HTTP 402/,
    fix: /^Add credits to the account/,
  },
  {
    what: "a rate limit that is used up",
    env: () => at({ ...envelope(429, "rate_limited", "Slow down."), headers: { "retry-after": "17" } }),
    name: "rate limit",
    detail: /\(HTTP 429; its words: "Slow down\."\)$/,
    fix: /^Wait 17 s/,
  },
  {
    what: "the last request of a rate limit",
    env: () => at({ ...NO_VIDEOS, headers: { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0" } }),
    name: "rate limit",
    status: "warn",
    detail: /^0 of 60 requests left for now$/,
    fix: /^Wait a few minutes/,
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
    detail: /^it can't be read \(ENOTDIR: \/.+\/file\/state\)\. Nothing is paid for or posted/,
    fix: /^Check it and the disk that holds it$/,
  },
  {
    what: "a set journal folder that is missing, which the server does not make",
    env: async () => ({ ...(await healthy()), FACELESS_STATE_DIR: join(temporaryFolder(), "state") }),
    name: "journal",
    detail: /^it can't be read \(ENOENT: \/.+\/state\)\. Nothing is paid for or posted/,
    fix: /^Create that folder, or mount the disk that holds it$/,
  },
  {
    what: "a folder for videos that can't be written",
    env: async () => {
      const file = join(temporaryFolder(), "file");
      await writeFile(file, "");
      return { ...(await healthy()), FACELESS_SAVE_DIR: file };
    },
    name: "saved videos",
    status: "warn",
    detail: /\/file can't be written: a part of the folder's path is a file \(ENOTDIR\)\./,
    fix: /^Set FACELESS_SAVE_DIR to a folder that you can write to$/,
  },
  {
    what: "a journal that can't be read",
    env: async () => {
      const folder = temporaryFolder();
      await writeFile(join(folder, "journal-2026-11-21.jsonl"), '{"version":9}');
      return { ...(await healthy()), FACELESS_STATE_DIR: folder };
    },
    name: "journal",
    detail: /^it can't be understood \(.+: \/.*\/journal-2026-11-21\.jsonl\)\. Nothing is paid for or posted/,
    fix: /^Update this server, as a newer version has written it$/,
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

test("doctor sends only GET requests, makes no journal and leaves nothing in a folder", async () => {
  const service = await serviceWith({
    ...NO_VIDEOS,
    headers: { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59" },
  });
  const home = temporaryFolder();
  const folder = join(home, ".faceless-video-mcp");
  const videos = temporaryFolder();

  const report = await examine(
    { FACELESS_BASE_URL: `${service.url}/`, FACELESS_STATE_DIR: "", FACELESS_SAVE_DIR: videos },
    home,
  );

  expect(report).toMatchObject({ ok: true, problems: [], skipped: [] });
  expect(Object.fromEntries(report.checks.map(({ name, detail }) => [name, detail]))).toEqual({
    "Node.js": process.versions.node,
    settings:
      "key and address are set in this terminal; to check your client's entry, add --client and its name",
    service: expect.stringMatching(new RegExp(`^${service.url} answers \\(\\d+ ms\\)$`)),
    key: "the service accepts it",
    "rate limit": "59 of 60 requests left for now",
    journal: `${folder} keeps what was paid and posted, so that nothing is done twice. faceless-video-mcp history shows it`,
    "saved videos": videos,
  });
  expect(service.lines()).toEqual([`${VIDEOS}?limit=1`]);
  expect(service.requests.map(({ headers: { authorization } }) => authorization)).toEqual(
    service.requests.map(() => `Bearer ${CANARY}`),
  );
  await expect(readdir(folder)).rejects.toThrow("ENOENT");
  expect(await readdir(videos)).toEqual([]);
});

test("doctor shows no key that was set in the wrong variable", async () => {
  const { text } = await run({
    FACELESS_BASE_URL: "https://fl_5tray.invalid/fl_5tray",
    FACELESS_STATE_DIR: "/fl_5tray",
    FACELESS_LOG_LEVEL: "fl_5tray",
    HTTPS_PROXY: "http://fl_5tray:x@127.0.0.1:1",
  });

  expect(text).toContain("[redacted]");
  expect(text).not.toContain("5tray");
});
