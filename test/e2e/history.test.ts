// What `history` prints: of the journals of real clients, and of journals that tests write.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runHistory } from "../../src/commands/history.ts";
import { DEFAULTS } from "../../src/service/options.ts";
import { connectLegacy, connectModern } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, OTHER_JOB_ID, PUBLISH, STATUS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer } from "../fixtures/host.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const LINK = `https://tiktok.example/${"7".repeat(90)}`;

beforeAll(() => void vi.stubEnv("TZ", "Asia/Tokyo"));
afterAll(() => void vi.unstubAllEnvs());

/** The output of `history`, with FOLDER for the folder, and its exit code. stderr stays empty. */
async function history(folder: string, { json = false, env = {} } = {}) {
  const { host, stdout, stderr } = computer({ env: { FACELESS_STATE_DIR: folder, ...env } });
  const code = await runHistory(json, host);
  expect(stderr()).toBe("");
  return { code, text: stdout().replaceAll(folder, "FOLDER") };
}

async function entriesIn(folder: string): Promise<unknown[]> {
  return JSON.parse((await history(folder, { json: true })).text).entries;
}

type Fields = Readonly<Record<string, unknown>>;
const order = (fields: Fields): Fields => ({
  operation: "generate",
  arguments: {},
  ...fields,
});
const post = (fields: Fields): Fields => ({ operation: "publish", jobId: JOB_ID, ...fields });

/** A folder with a journal of these entries, a minute apart from noon on. */
function journalOf(...entries: readonly Fields[]): string {
  const folder = temporaryFolder();
  const lines = entries.map((entry, index) =>
    JSON.stringify({ id: `${index}`, atMs: NOON + index * 60_000, outcome: "done", ...entry }),
  );
  writeFileSync(join(folder, "journal-2026-11-21.jsonl"), lines.join("\n"));
  return folder;
}

test("history shows what each client has ordered and posted, and sends nothing", async () => {
  const rest = await scriptedService({
    [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } },
    [STATUS]: { json: { status: "completed", videoUrls: [] } },
    [PUBLISH]: { json: { results: [{ platform: "tiktok", ok: true, url: "https://tiktok.example/1" }] } },
  });
  const folder = temporaryFolder();
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, FACELESS_STATE_DIR: folder };
  const desktop = { name: "claude-ai", title: "Claude Desktop", version: "1.2.3" };
  const one = await connectLegacy({ env, clientInfo: desktop });
  const topic = "Tides come twice a day. [the sea, blue light]\nThe\u202E moon pulls.";
  await one.call("generate_video", { topic, duration: 20, style: "asmr" });
  await one.raw.close();
  const editor = { name: "\u202Ecursor\u001B[31m-vscode", version: "0.50" };
  const other = await connectModern({ env, clientInfo: editor });
  await other.call("publish_video", { jobId: JOB_ID, platforms: ["tiktok"] });
  const sent = rest.lines();

  const { code, text } = await history(folder, { env });
  const entries = await entriesIn(folder);

  expect({ code, text: text.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d/gm, "TIME") }).toEqual({
    code: 0,
    text: `Orders and posts in the journal, newest first (FOLDER):

TIME  by cursor-vscode 0.50
  Post: "Tides come twice a day. The moon pulls."
  TikTok: posted  https://tiktok.example/1

TIME  by Claude Desktop 1.2.3
  Order: "Tides come twice a day. The moon pulls."
  20 s, English, asmr
  Started as job ${JOB_ID} (history doesn't ask how it went)
`,
  });
  const { duration: _, ...standard } = DEFAULTS;
  const ordered = { ...standard, topic, seconds: 20, style: "asmr" };
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(entries).toEqual([
    {
      at,
      client: "cursor-vscode 0.50",
      operation: "publish",
      jobId: JOB_ID,
      ...ordered,
      results: [{ platform: "tiktok", ok: true, url: "https://tiktok.example/1" }],
    },
    { at, client: "Claude Desktop 1.2.3", operation: "generate", jobId: JOB_ID, ...ordered },
  ]);
  expect(rest.lines()).toEqual(sent);
});

test("history says what is known of each request", async () => {
  const topic = "The first spoken words of this one are so many that they need more than a line. And on.";
  const folder = journalOf(
    order({ jobId: JOB_ID, arguments: { topic }, client: "c".repeat(80) }),
    order({
      arguments: { topic: "Lost", language: "pt-BR", style: "asmr", duration: 90 },
      outcome: undefined,
    }),
    order({ arguments: { topic: "Refused" }, outcome: "rejected" }),
    post({
      platforms: ["tiktok", "instagram", "youtube", "x", "facebook"],
      results: [
        { platform: "tiktok", ok: true, url: LINK },
        { platform: "instagram", ok: false, reason: "The token has expired" },
        { platform: "youtube", ok: false },
        { platform: "x", ok: true },
      ],
    }),
    post({ jobId: OTHER_JOB_ID, platforms: ["tiktok"], outcome: undefined }),
    order({ arguments: { topic: "Now" }, outcome: undefined, atMs: Date.now() }),
    post({ platforms: ["x"], outcome: undefined, atMs: Date.now() - 5_000 }),
  );

  const { code, text } = await history(folder);

  const name = '"The first spoken words of this one are so many that they need more than a line.…"';
  expect({ code, text: text.replace(/^(?!2026-11-21)\d{4}-.+$/gm, "NOW") }).toEqual({
    code: 0,
    text: `Orders and posts in the journal, newest first (FOLDER):

NOW
  Order: "Now"
  30 s, English, story
  Under way: the service has not answered yet.

NOW
  Post: ${name} (under way: the service has not answered yet)
  X: sent, outcome not known

2026-11-21 21:04
  Post: job ${OTHER_JOB_ID}
  TikTok: sent, outcome not known

2026-11-21 21:03
  Post: ${name}
  TikTok: posted  ${LINK}
  Instagram: not posted (the service says "The token has expired")
  YouTube: not posted
  X: posted
  Facebook: sent, outcome not known

2026-11-21 21:01
  Order: "Lost"
  90 s, Brazilian Portuguese, asmr
  Not known whether it was started and paid for: ask your assistant to list the videos.

2026-11-21 21:00  by ${"c".repeat(59)}…
  Order: ${name}
  30 s, English, story
  Started as job ${JOB_ID} (history doesn't ask how it went)
`,
  });
  expect(await entriesIn(folder)).toMatchObject([
    { unknown: true, underWay: true, topic: "Now" },
    { unknown: true, underWay: true, topic, results: [{ platform: "x", unknown: true }] },
    { unknown: true, jobId: OTHER_JOB_ID },
    {
      jobId: JOB_ID,
      results: [{ url: LINK }, { ok: false }, { ok: false }, { ok: true }, { unknown: true }],
    },
    { at: "2026-11-21T12:01:00.000Z", unknown: true, topic: "Lost", seconds: 90, language: "pt-BR" },
    { at: "2026-11-21T12:00:00.000Z", jobId: JOB_ID, topic },
  ]);
});

const NEWER = /^The journal can't be understood \(a line has another form: FOLDER.+ Update this server, /;

/** The journal's file, or FACELESS_STATE_DIR, and what is printed. */
test.each<[string, string | ((path: string) => void), number, RegExp]>([
  [
    "an empty journal",
    () => {},
    0,
    /^The journal holds no orders and no posts \(FOLDER\)\. The sandbox keeps /,
  ],
  ["no journal", "off", 0, /^FACELESS_STATE_DIR=off keeps no journal, so there is no history\. ?\n$/],
  [
    "a journal that can't be read",
    mkdirSync,
    1,
    /^The journal can't be read \(EISDIR: FOLDER\/.+ Put the files that this folder holds in its place/,
  ],
  ["a newer version's journal", (path) => writeFileSync(path, '{"id":"1","operation":"remix"}'), 1, NEWER],
  [
    "a folder that is not used",
    "state",
    1,
    /^FACELESS_STATE_DIR is a relative path, .+ Set it to an absolute path/,
  ],
])("history explains %s", async (_, journal, code, said) => {
  const folder = temporaryFolder();
  if (typeof journal === "function") journal(join(folder, "journal-2026-11-21.jsonl"));
  const before = readdirSync(folder);
  const env = typeof journal === "string" ? { FACELESS_STATE_DIR: journal } : {};

  const printed = await history(folder, { env });
  const json = await history(folder, { json: true, env });

  expect(printed).toEqual({ code, text: expect.stringMatching(said) });
  const { summary, nextStep = "", ...rest } = JSON.parse(json.text);
  expect(`${[summary, nextStep].join(" ").trim()}\n`).toBe(printed.text);
  expect([json.code, rest]).toEqual([code, code === 0 ? { entries: [] } : {}]);
  expect(readdirSync(folder)).toEqual(before);
});
