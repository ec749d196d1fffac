// Every text of a call that this server itself refuses, for models and for people, in one file for review:
// test/contract/held-back.txt. docs/ERRORS.md is made from it.

import { expect, test } from "vitest";
import { type BridgeError, describeFailure, type Effect, toBridgeError } from "../../src/errors.ts";
import {
  checkOrderError,
  duplicateOrderError,
  duplicatePublicationError,
  JournalError,
  limitError,
  orderInProgressError,
  publicationInProgressError,
} from "../../src/idempotency/errors.ts";
import { textFor } from "../../src/sentences.ts";
import { notConfiguredError } from "../../src/service/client.ts";
import type { Job } from "../../src/service/responses.ts";
import { askForConsent } from "../../src/tools/arguments.ts";
import { generateVideo } from "../../src/tools/generate-video.ts";
import { getVideoStatus } from "../../src/tools/get-video-status.ts";
import { checkBeforePost } from "../../src/tools/publish-video.ts";
import { publishVideo } from "../../src/tools/publish-video.ts";
import { declinedError, type Question } from "../../src/tools/question.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { callingComputer, ORDER } from "../fixtures/call.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { createHarness } from "../fixtures/tool-harness.ts";

const NOW_MS = new Date(2026, 10, 23, 14, 30, 10).getTime();
const TOPIC = "The tide comes in twice a day.";
const REPEAT = { ageMs: 7_200_000, code: "1a2b3c", isStale: false };
const JOURNAL = "/home/rosa/.faceless-video-mcp/journal-2026-11-23.jsonl";
const QUESTION: Question = {
  key: "order",
  message: "Pay for a video?",
  verb: "start the video",
  done: "started",
  yes: "Pay for this video",
  no: "Don't start it",
  tooLate: "",
};

function refusal(call: Promise<unknown>): Promise<BridgeError> {
  return call.then(
    () => expect.unreachable("It succeeded."),
    (error: unknown) => toBridgeError(error, "not_sent"),
  );
}

const refused = (tool: Tool, args: unknown) => refusal(createHarness(tool).call(args));

function obstacle(status: string, account: object, platform = "tiktok"): Promise<BridgeError> {
  const connected = [{ platform: "tiktok", account: "@rosa", ...account }];
  const { context } = createHarness(publishVideo, {
    service: { listConnectedPlatforms: async () => connected },
  });
  const job: Job = { jobId: JOB_ID, status, videoUrls: [], done: status !== "processing" };
  const reader = { ...context.reader, tryRead: async () => job };
  return refusal(checkBeforePost({ jobId: JOB_ID, platforms: [platform] }, { ...context, reader }));
}

type Texts = Readonly<Record<string, () => BridgeError | Promise<BridgeError>>>;

const ANY: Texts = {
  "nothing is set": () =>
    notConfiguredError([
      { variable: "FACELESS_API_KEY", problem: "is not set", fix: "Create a key", isUnset: true },
    ]),
  "a journal that can't be read": () => new JournalError("read", JOURNAL, "EACCES"),
  "a journal of a newer version": () => new JournalError("understood", JOURNAL, "version 9"),
  "a journal that can't be written": () => new JournalError("written", JOURNAL, "ENOSPC"),
  "a fault of this server": async () => toBridgeError(new Error("a fault"), "not_sent"),
};

const TEXTS: Readonly<Record<Effect, Texts>> = {
  reads: {
    "an id that is none": () => refused(getVideoStatus, { jobId: "the newest" }),
  },
  spends: {
    ...ANY,
    "a value out of bounds": () => refused(generateVideo, { topic: TOPIC, duration: 400 }),
    "a text that is damaged": () => refused(generateVideo, { topic: "The tide\uFFFD comes in." }),
    "no voice": () => refused(generateVideo, { topic: TOPIC, voice: "none" }),
    "a mistake": () => checkOrderError([{ finding: "The topic is short.", advice: "Say more." }], REPEAT),
    "a mistake, with another code": () =>
      checkOrderError([{ finding: "The topic is short.", advice: "Say more." }], {
        ...REPEAT,
        isStale: true,
      }),
    "the same order is under way": () => orderInProgressError(40_000),
    "the same order has no answer": () => duplicateOrderError(REPEAT, 1),
    "the limit": () => limitError(5, 5, 0),
    "a no": () => declinedError(QUESTION, "accept", true),
    "a no of the client": () => declinedError(QUESTION, "cancel", false),
    "a client that can't ask": () =>
      refusal(
        askForConsent(
          () => QUESTION,
          { mustAsk: true, done: "ordered" },
          createHarness(generateVideo, { askUser: async () => "not asked" }).context,
        ),
      ),
  },
  publishes: {
    "the same post is under way": () => publicationInProgressError(40_000, ["tiktok"]),
    "the same post has no answer": () =>
      duplicatePublicationError(REPEAT, { unknown: ["tiktok"], free: [], unposted: ["tiktok"] }),
    "a video that renders": () => obstacle("processing", {}),
    "a video whose render failed": () => obstacle("failed", {}),
    "a video of another status": () => obstacle("queued_twice", {}),
    "no account of the platform": () => obstacle("completed", {}, "youtube"),
    "an account that is expired": () => obstacle("completed", { status: "expired" }),
    "a name of an account": () => refused(publishVideo, { jobId: JOB_ID, platforms: ["@rosa"] }),
  },
};

async function rendered(name: string, error: BridgeError, effect: Effect): Promise<string> {
  const text = describeFailure(error, effect, NOW_MS);
  return `${name} [${error.facts.code}]\n  To a model: ${textFor("model", text)}\n  To a person: ${textFor("person", text)}\n`;
}

/** Orders by `call` without a terminal, with the setting that stops each. */
const CALLS: readonly (readonly [name: string, args: readonly string[], env: Record<string, string>])[] = [
  ["without --yes [declined]", ORDER, { FACELESS_CONFIRM_GENERATE: "on" }],
  ["with --yes, always [declined]", [...ORDER, "--yes"], { FACELESS_CONFIRM_GENERATE: "always" }],
  ["without an address [not_configured]", [...ORDER, "--yes"], { FACELESS_BASE_URL: "" }],
];

async function called(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { call } = await callingComputer({}, env);
  return `  To a person: ${(await call(args)).stderr}`;
}

test("every call that is held back says why, that nothing was done, and what to do", async () => {
  const chapters = await Promise.all(
    Object.entries(TEXTS).map(async ([effect, texts]) => {
      const entries = Object.entries(texts);
      const all = await Promise.all(
        // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are effects
        entries.map(async ([name, make]) => rendered(name, await make(), effect as Effect)),
      );
      return `# A call that ${effect}\n\n${all.join("\n")}`;
    }),
  );

  const calls = await Promise.all(
    CALLS.map(async ([name, args, env]) => `${name}\n${await called(args, env)}`),
  );
  await expect([...chapters, "# `call` without a terminal\n", ...calls].join("\n")).toMatchFileSnapshot(
    "../contract/held-back.txt",
  );
});
