// A process of the model: the real code of src/idempotency, which waits for the scheduler before each
// operation. Its next step depends only on its steps so far, so each step is run once and remembered.

import type { ServerContext } from "@modelcontextprotocol/server";
import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { BridgeError, DeadlineError, type Outcome } from "../../src/errors.ts";
import { GenerateOnce, type OrderPlan } from "../../src/idempotency/generate-once.ts";
import { Journal } from "../../src/idempotency/journal.ts";
import { JournalFiles } from "../../src/idempotency/journal-files.ts";
import type { PrivateFolder } from "../../src/disk.ts";
import { type Published, PublishOnce } from "../../src/idempotency/publish-once.ts";
import { Guard } from "../../src/idempotency/guard.ts";
import { Elicitation } from "../../src/mcp/elicitation.ts";
import type { Progress } from "../../src/mcp/progress.ts";
import type { StartedJob, Job, Publication } from "../../src/service/responses.ts";
import { OPERATIONS } from "../../src/service/client.ts";
import { statusError } from "../../src/service/errors.ts";
import type { CallOptions } from "../../src/service/request-sender.ts";
import { MIN_ATTEMPT_MS, retryDelayMs } from "../../src/service/retry.ts";
import { entriesOf, inSandbox, isSeriesOn, keysOf, postedOn } from "./law.ts";
import { textFor } from "../../src/sentences.ts";
import { Call, type Client, type Program, type Line, type Surroundings, type Operation } from "./types.ts";
import { type Refusal, REFUSALS } from "./types.ts";
import type { Wanted, Word, Answer, ProcessState, Step, Next } from "./types.ts";

const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

/** One for all processes, since each further one slows down every await. */
const current = new AsyncLocalStorage<Call>();
/** Processes that have reached a state, so that its next steps needn't repeat the steps before. */
const running = new Map<ProcessState, Process>();
const MAX_RUNNING = 2_000;

/** Begins all calls of a process. */
export function start(program: Program, around: Surroundings): Promise<Next> {
  return run(program, undefined, { before: undefined, operation: -1, word: "", around });
}

/** Lets an operation of a process continue, or ends the process. */
export async function goOn(
  state: ProcessState,
  operation: number,
  word: Word,
  { files, wallMs, forgotten }: Surroundings,
): Promise<Next> {
  const seen = state.pending[operation]?.kind === "look" ? files.id : "";
  const key = `${operation} ${word} ${seen} ${wallMs} ${forgotten.length}`;
  const step = { before: state.step, operation, word, around: { files, wallMs, forgotten } };
  const next = state.next.get(key) ?? (await run(state.program, state, step));
  state.next.set(key, next);
  return next;
}

async function run(program: Program, before: ProcessState | undefined, last: Step): Promise<Next> {
  const process = (before && running.get(before)) ?? new Process(program);
  if (before === undefined || !running.delete(before))
    for (const step of stepsTo(last.before)) await process.go(step);
  await process.go(last);
  const { answers } = process;
  const held = process.state();
  const key = hash("sha256", JSON.stringify(held), "base64");
  const state = program.states.get(key) ?? { ...held, program, step: last, next: new Map() };
  program.states.set(key, state);
  running.set(state, process);
  const [oldest] = running.keys();
  if (oldest !== undefined && running.size > MAX_RUNNING) running.delete(oldest);
  return { state, answers };
}

function stepsTo(last: Step | undefined): Step[] {
  const steps: Step[] = [];
  for (let step = last; step !== undefined; step = step.before) steps.unshift(step);
  return steps;
}

interface Waiting {
  readonly operation: Operation;
  readonly goOn: (word: Word) => void;
}

class Process {
  /** Those of the last step. */
  answers: Answer[] = [];
  readonly #program: Program;
  readonly #calls: Call[] = [];
  #waiting: Waiting[] = [];
  #around: Surroundings = {
    files: { id: 0, texts: new Map(), lines: [] },
    wallMs: 0,
    forgotten: [],
  };
  readonly #read = new Map<string, Line>();
  readonly #written = new Map<string, Line>();
  /** Outcomes that the disk didn't take. */
  #kept: readonly Line[] = [];
  #finish = async () => {};
  #seriesMs: number | undefined;
  #elicitation: Elicitation | undefined;
  #isEnding = false;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Runs the real code until all of it waits for the scheduler, which is all that it ever waits for. */
  async go({ operation, word, around }: Step): Promise<void> {
    this.#around = around;
    this.answers = [];
    const next = this.#waiting[operation];
    this.#waiting = this.#waiting.filter((waiting) => waiting !== next);
    this.#isEnding ||= word === "end";
    if (next !== undefined) next.goOn(word);
    else if (this.#isEnding) void current.run(new Call(`${this.#program.name}0`), this.#finish);
    else this.#start();
    await nextTurn();
  }

  state() {
    return {
      pending: this.#waiting.map(({ operation }) => operation),
      calls: this.#calls
        .filter(({ isOver }) => !isOver)
        .map((call) => Object.assign(new Call(call.name), call)),
      read: [...this.#read.values()],
      unread: [...this.#written].filter(([key]) => !this.#read.has(key)).map(([, line]) => line),
      kept: this.#kept,
      seriesMs: this.#seriesMs,
      isEnding: this.#isEnding,
    };
  }

  #start(): void {
    const client = this.#client();
    for (const [name, run] of this.#program.calls) {
      const call = new Call(name);
      this.#calls.push(call);
      void current.run(call, async () => {
        await run(client).catch((error: unknown) =>
          this.answers.push({ call: name, keys: [], decidedBy: [], failure: String(error) }),
        );
        call.isOver = true;
      });
    }
  }

  #client(): Client {
    const now = () => this.#around.wallMs;
    let ids = 0;
    const { isPatient, isSandbox, asksFirst } = this.#program;
    const journal = new Journal({
      isSandbox,
      // The disk takes as long as the scheduler wants.
      store: new JournalFiles(this.#disk(), { now, after: () => () => {} }),
      randomId: () => {
        const call = this.#caller();
        call.entryId = `${call.name}-${(ids += 1)}`;
        return call.entryId;
      },
      redact: (line) => line,
      onUnwritable: () => {},
      clock: {
        after: (_, action) => {
          // Apart from the call, which goes on meanwhile.
          const retry = new Call(`${this.#program.name}9`);
          void current.run(retry, () => this.#until({ kind: "retry" }).then(action));
          return () => {};
        },
      },
    });
    const guard = new Guard({
      journal,
      ...(isPatient && { onWait() {} }),
      clock: {
        now,
        monotonicMs: () => (this.#caller().isLate ? Infinity : 0),
        after: (_, action) => {
          const call = this.#caller();
          call.seen = [];
          void this.#until({ kind: "wait", isLate: call.isLate }).then((word) => {
            if (word === "time over") call.isLate = true;
            action();
          });
          return () => {
            const isOwn = ({ operation }: Waiting) =>
              operation.call === call.name && operation.kind === "wait";
            this.#waiting = this.#waiting.filter((waiting) => !isOwn(waiting));
          };
        },
      },
    });
    this.#finish = () => guard.close();
    const waitUntilIdle = guard.waitUntilIdle.bind(guard);
    guard.waitUntilIdle = async (guarded) => {
      const snapshot = await waitUntilIdle(guarded);
      this.#caller().decidedBy = snapshot.matching.map(versionOf);
      return snapshot;
    };
    const finish = guard.finish.bind(guard);
    guard.finish = (own, result, outcomeOf) => {
      const call = this.#caller();
      // After an answer, the policy no longer depends on this.
      void result.catch(() => (call.hasFailed = true));
      return finish(own, result, outcomeOf);
    };
    const generate = new GenerateOnce({
      guard,
      journal,
      service: {
        generate: ({ topic }, options) =>
          this.#request<StartedJob>([topic], options, undefined, (entryId) => ({
            jobId: jobOf(entryId),
            status: "processing",
          })),
        listVideos: async () => ({ videos: [] }),
      },
      maxGenerations: this.#program.maxGenerations,
      tryReadJob: async (jobId) => {
        if (this.#around.forgotten.some((entryId) => jobId === jobOf(entryId))) return "not found";
        return { jobId, status: "processing", done: false, videoUrls: [] } satisfies Job;
      },
      isSandbox,
      jobs: {
        hasFailed: () => false,
        updateFromPage() {},
        addStarted() {},
        possibleJobs: async () => [],
      },
    });
    const publish = new PublishOnce({
      guard,
      journal,
      service: {
        publish: ({ platforms }, options) =>
          this.#request<Publication>(platforms, options, platforms.length, () => ({
            results: postedOn(platforms).map((platform) => ({ platform, ok: true })),
          })),
      },
    });
    // The user takes none of the call's time.
    const agree = async () => {
      const call = this.#caller();
      Object.assign(call, { agreedTo: call.decidedBy, seen: [] });
      return { userMs: 0 };
    };
    return {
      generate: (topic, code) =>
        this.#call(code, [topic], async () => {
          const ask = asksFirst ? this.#askUser(now) : agree;
          const started = await generate.run({ topic }, { confirm: code, asksFirst, ask });
          return started.alreadyStarted ? started : {};
        }),
      publish: (platforms, code) =>
        this.#call(code, platforms, () => publish.run({ jobId: JOB, platforms }, agree, { confirm: code })),
    };
  }

  /** Asks by the real code, in the legacy protocol. The law: an order without its own yes is covered by a series. */
  #askUser(now: () => number): (plan: OrderPlan) => Promise<{ userMs: number }> {
    this.#elicitation ??= new Elicitation({
      log: { debug() {}, info() {}, warn() {}, error() {} },
      // The user answers before anything times out.
      clock: { now, monotonicMs: () => 0, after: () => () => {} },
      client: { canAsk: () => true, conversation: () => "1" },
    });
    const elicitation = this.#elicitation;
    return async ({ key, repeat }) => {
      const call = this.#caller();
      let own: Word | undefined;
      const offersSeries = repeat === undefined;
      const question = {
        key,
        message: key,
        verb: "pay",
        no: "no",
        yes: "yes",
        done: "started" as const,
        tooLate: "",
      };
      const send = async () => {
        own = await this.#until({ kind: "answer", offersSeries });
        if (own !== "yes") this.#seriesMs = own === "series" ? now() : undefined;
        return { action: "accept", content: { decision: own } };
      };
      // eslint-disable-next-line typescript/no-unsafe-type-assertion -- all that Elicitation uses of them
      const [request, progress] = [
        { signal: new AbortController().signal, send },
        { notify() {} },
      ] as unknown as [ServerContext["mcpReq"], Progress];
      call.consent = "refused";
      await elicitation.confirm(request, progress, async () => ({
        ...question,
        ...(offersSeries && { yesToAll: "series" }),
      }));
      const hasSeries = own === undefined && isSeriesOn(this.#seriesMs, now());
      if (hasSeries) this.#seriesMs = now();
      if (hasSeries || own === "yes" || own === "series") call.consent = "given";
      Object.assign(call, { agreedTo: call.decidedBy, seen: [] });
      return { userMs: 0 };
    };
  }

  /** Makes a call and gives the code that its answer holds. */
  async #call(
    code: string | undefined,
    asked: readonly string[],
    run: () => Promise<Partial<Pick<Published, "code" | "results">>>,
  ): Promise<string | undefined> {
    const call = this.#caller();
    const made = call.made + 1;
    const keys = this.#program.isSandbox ? asked.map(inSandbox) : asked;
    const fresh = { isLate: false, agreedTo: undefined, seen: [], consent: "none" };
    Object.assign(call, { code, keys, made, ...fresh });
    const answer = await run().then(
      ({ code: issued, results = [] }) => ({
        code: issued,
        // Having sent a part, it gives the code of its earlier read, which is invalid if anything is newer.
        keys: results.every(({ alreadyPublished }) => alreadyPublished) ? keys : [],
      }),
      (error: unknown) => {
        if (!(error instanceof BridgeError) || error.facts.code === "internal") throw error;
        return { code: /confirm: "(\w+)"/.exec(textFor("model", error.facts.nextStep))?.[1], keys };
      },
    );
    this.answers.push({ call: call.name, decidedBy: call.decidedBy, ...answer });
    return answer.code;
  }

  /** A paid or public request on its way through the service, sent as often as the real policy allows. */
  async #request<Result>(
    asked: readonly string[],
    { deadlineMs = 0, signal }: CallOptions = {},
    platforms: number | undefined,
    resultOf: (entryId: string) => Result,
  ): Promise<Result> {
    const call = this.#caller();
    const keys = this.#program.isSandbox ? asked.map(inSandbox) : asked;
    const { code, entryId, seen } = call;
    if (this.#program.asksFirst && call.consent !== "given")
      throw new Error(`It sends an order, though the consent to it is ${call.consent}.`);
    // These led to the decision to send, and no longer matter.
    Object.assign(call, { code: undefined, seen: [], isLate: false });
    for (let attempt = 1; ; attempt += 1) {
      // As the request sender does.
      const isTooLate = signal?.aborted === true || deadlineMs < MIN_ATTEMPT_MS.POST;
      const word = isTooLate ? "not_sent" : await this.#until({ kind: "ask", keys, entryId, seen, code });
      if (word === "carried out") return resultOf(entryId);
      call.hasFailed = word === "not_sent";
      if (word === "not_sent") throw failure("not_sent");
      if (word === "late") {
        const late = this.#until({ kind: "late", entryId });
        const result = late.then((end) =>
          end === "unknown" ? Promise.reject(failure(end)) : resultOf(entryId),
        );
        throw new DeadlineError(failure("unknown"), result);
      }
      const failed = isRefusal(word) ? refusal(word, platforms) : failure("unknown");
      const attempted = { method: "POST", attempt, failure: failed.facts, remainingMs: deadlineMs } as const;
      if (retryDelayMs(attempted, () => 0) === undefined) throw failed;
    }
  }

  #disk(): PrivateFolder {
    return {
      path: "state",
      list: async () => {
        await this.#until({ kind: "look" });
        const { texts, lines } = this.#around.files;
        for (const line of lines) this.#read.set(versionOf(line), line);
        const { read, unread } = this.state();
        const call = this.#caller();
        call.hasFailed = false;
        call.seen = entriesOf([...read, ...unread])
          .filter((entry) => !entry.platforms || keysOf(entry).some((key) => call.keys.includes(key)))
          .map(versionOf);
        // The text serves as the version: it changes with the file.
        return texts;
      },
      read: async (name, start) => Buffer.from(this.#around.files.texts.get(name) ?? "").subarray(start),
      append: async (file, text) => {
        const lines = text.split("\n").flatMap((line): Line[] => (line === "" ? [] : [JSON.parse(line)]));
        for (const line of lines) this.#written.set(versionOf(line), line);
        const call = this.#caller();
        const isOver = lines.some(({ id, outcome }) => outcome !== undefined && id === call.entryId);
        if (isOver) Object.assign(call, { seen: [], entryId: "" });
        const word = await this.#until({ kind: "record", file, text, lines });
        // Another line may have been on its way when the disk failed, so it does not bring these along.
        const others = this.#kept.filter(
          (kept) => !lines.some((line) => versionOf(line) === versionOf(kept)),
        );
        const failed = word === "disk error" ? lines.filter(({ outcome }) => outcome !== undefined) : [];
        this.#kept = [...others, ...failed];
        call.hasFailed ||= word === "disk error";
        if (word === "disk error") throw Object.assign(new Error("The disk failed"), { code: "EIO" });
      },
      remove: async () => {},
      isUnmade: async () => false,
      rehearse: async () => {},
    };
  }

  /** Waits until the scheduler lets the call go on. */
  #until(wanted: Wanted): Promise<Word> {
    const call = this.#caller().name;
    return new Promise((resolve) => {
      const waiting = [...this.#waiting, { operation: { call, ...wanted }, goOn: resolve }];
      this.#waiting = waiting.toSorted((a, b) => (a.operation.call < b.operation.call ? -1 : 1));
    });
  }

  #caller(): Call {
    const call = current.getStore();
    if (call === undefined) throw new TypeError("Outside of a call.");
    return call;
  }
}

function versionOf({ id, outcome }: { readonly id: string; readonly outcome?: string | undefined }): string {
  return `${id} ${outcome}`;
}

function jobOf(entryId: string): string {
  return `job of ${entryId}`;
}

function isRefusal(word: Word): word is Refusal {
  return REFUSALS.some((refusal) => refusal === word);
}

/** A refusal that names no platform, as the client explains it. */
function refusal(answer: Refusal, platforms: number | undefined): BridgeError {
  const operation = platforms === undefined ? OPERATIONS.generate : OPERATIONS.publish;
  const [status, code] = answer.split(" ");
  const headers = { "x-ratelimit-remaining": "0" };
  const json = { error: { code, message: "No." } };
  return statusError({ ...operation, platforms }, { status: Number(status), headers, text: "", json });
}

function failure(outcome: Outcome): BridgeError {
  const texts = { message: "It failed.", nextStep: "Look." };
  return new BridgeError({ code: "network", ...texts, outcome, retryable: false });
}
