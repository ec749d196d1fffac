// A process of the model: the real code of src/idempotency, which waits for the scheduler before each
// operation. What it does then depends only on its steps so far, so each step is run once and remembered.

import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { BridgeError } from "../../../src/errors.ts";
import { GenerateOnce } from "../../../src/idempotency/generate-once.ts";
import { Journal } from "../../../src/idempotency/journal.ts";
import type { Disk } from "../../../src/idempotency/journal-files.ts";
import { type PublicationPlan, type Published, PublishOnce } from "../../../src/idempotency/publish-once.ts";
import { PaidCalls } from "../../../src/idempotency/record-and-send.ts";
import type { Generation, Job, Publication } from "../../../src/service/answers.ts";
import type { PostOptions } from "../../../src/service/request-sender.ts";
import type {
  Client,
  Program,
  Line,
  Surroundings,
  Operation,
  Wanted,
  Word,
  Answer,
  ProcessState,
  Call,
  Step,
  Next,
} from "./types.ts";

const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
/** A POST is not begun with less of its deadline left. */
const MIN_POST_MS = 10_000;

/** One for all processes: each further one slows every await down. */
const current = new AsyncLocalStorage<Call>();

/** Begins all calls of a process. */
export function start(program: Program, around: Surroundings): Promise<Next> {
  return run(program, { before: undefined, operation: -1, word: "", around });
}

/** Lets an operation of a process go on. */
export async function goOn(
  state: ProcessState,
  operation: number,
  word: Word,
  { files, wallMs, machineMs }: Surroundings,
): Promise<Next> {
  const seen = state.pending[operation]?.kind === "look" ? files.id : "";
  const key = `${operation} ${word} ${seen} ${wallMs} ${machineMs}`;
  const step = { before: state.step, operation, word, around: { files, wallMs, machineMs } };
  const next = state.next.get(key) ?? (await run(state.program, step));
  state.next.set(key, next);
  return next;
}

async function run(program: Program, last: Step): Promise<Next> {
  const steps: Step[] = [];
  for (let step: Step | undefined = last; step !== undefined; step = step.before) steps.unshift(step);
  const process = new Process(program);
  for (const step of steps) await process.go(step);
  const { answers } = process;
  return { state: { ...process.state(), program, step: last, next: new Map() }, answers };
}

class Process {
  /** Those of the last step. */
  answers: Answer[] = [];
  readonly #program: Program;
  readonly #calls: Call[] = [];
  #waiting: { readonly operation: Operation; readonly goOn: (word: Word) => void }[] = [];
  #around: Surroundings = { files: { id: 0, texts: new Map(), lines: [] }, wallMs: 0, machineMs: 0 };
  readonly #read = new Map<string, Line>();
  readonly #written = new Map<string, Line>();
  #newest: string | undefined;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Runs the real code until all of it waits for the scheduler, which is all that it ever waits for. */
  async go({ operation, word, around }: Step): Promise<void> {
    this.#around = around;
    this.answers = [];
    const next = this.#waiting[operation];
    this.#waiting = this.#waiting.filter((waiting) => waiting !== next);
    if (next === undefined) this.#start();
    else next.goOn(word);
    await nextTurn();
  }

  state() {
    return {
      pending: this.#waiting.map(({ operation }) => operation),
      calls: this.#calls.filter(({ isOver }) => !isOver),
      read: [...this.#read.values()],
      unread: [...this.#written].filter(([key]) => !this.#read.has(key)).map(([, line]) => line),
      newest: this.#newest,
    };
  }

  #start(): void {
    const client = this.#client();
    for (const [name, run] of this.#program.calls) {
      const call: Call = {
        name,
        made: 0,
        keys: [],
        code: undefined,
        endsAtMs: 0,
        isLate: false,
        question: undefined,
        plan: undefined,
        seen: [],
        entryId: "",
        isOver: false,
      };
      this.#calls.push(call);
      void current.run(call, async () => {
        await run(client).catch((error: unknown) =>
          this.answers.push({ call: name, keys: [], failure: String(error) }),
        );
        call.isOver = true;
      });
    }
  }

  #client(): Client {
    const now = () => this.#around.wallMs;
    const machineMs = () => this.#around.machineMs;
    let ids = 0;
    const journal = new Journal({
      disk: this.#disk(),
      now,
      randomId: () => {
        const call = this.#caller();
        call.entryId = `${call.name}-${(ids += 1)}`;
        return call.entryId;
      },
      redact: (line) => line,
      onUnwritable: () => {},
    });
    const calls = new PaidCalls({
      journal,
      now,
      monotonicMs: () => (this.#caller().isLate ? Infinity : machineMs()),
      sleep: async () => {
        const call = this.#caller();
        call.seen = [];
        const word = await this.#until({ kind: "wait", endsAtMs: call.isLate ? 0 : call.endsAtMs });
        if (word === "time over") call.isLate = true;
      },
    });
    const begin = calls.begin.bind(calls);
    calls.begin = (signal) => {
      const call = this.#caller();
      Object.assign(call, { isLate: false, plan: call.question, question: undefined, seen: [] });
      const paidCall = begin(signal);
      call.endsAtMs = paidCall.endsAtMs;
      return paidCall;
    };
    const generate = new GenerateOnce({
      calls,
      service: {
        generate: ({ topic }, options) =>
          this.#request<Generation>([topic], options, (entryId) => ({
            jobId: `job of ${entryId}`,
            status: "processing",
          })),
        listVideos: async () => ({ videos: [] }),
      },
      maxGenerations: undefined,
      lookAtJob: async (jobId) => ({ jobId, status: "processing", done: false, videoUrls: [] }) satisfies Job,
      knownJobIds: () => new Set(),
      onListed: () => {},
      onStarted: () => {},
    });
    const publish = new PublishOnce({
      calls,
      service: {
        publish: ({ platforms }, options) =>
          this.#request<Publication>(platforms, options, () => ({
            results: platforms.map((platform) => ({ platform, ok: true })),
          })),
      },
    });
    const agree = async (plan: PublicationPlan) => {
      this.#caller().question = JSON.stringify({ ...plan, repeated: plan.repeated.length });
    };
    return {
      generate: (topic, code) =>
        this.#call(code, [topic], async () => {
          const started = await generate.run({ topic }, { confirmDuplicate: code });
          return started.alreadyStarted ? started : {};
        }),
      publish: (platforms, code) =>
        this.#call(code, platforms, () =>
          publish.run({ jobId: JOB, platforms }, agree, { confirmDuplicate: code }),
        ),
    };
  }

  /** Makes a call and gives the code that its answer holds. */
  async #call(
    code: string | undefined,
    keys: readonly string[],
    run: () => Promise<Partial<Pick<Published, "code" | "results">>>,
  ): Promise<string | undefined> {
    const call = this.#caller();
    Object.assign(call, { code, keys, made: call.made + 1 });
    const answer = await run().then(
      ({ code: issued, results = [] }) => ({
        code: issued,
        // Having sent a part, it gives the code of its earlier look: invalid if anything has come since.
        keys: results.every(({ alreadyPublished }) => alreadyPublished) ? keys : [],
      }),
      (error: unknown) => {
        if (!(error instanceof BridgeError) || error.facts.code === "internal") throw error;
        return { code: /confirmDuplicate: "(\w+)"/.exec(error.facts.nextStep)?.[1], keys };
      },
    );
    this.answers.push({ call: call.name, ...answer });
    return answer.code;
  }

  /** A paid or public request on its way through the service. */
  async #request<Result>(
    keys: readonly string[],
    { deadlineMs = 0, onLate }: PostOptions<Result> = {},
    resultOf: (entryId: string) => Result,
  ): Promise<Result> {
    const call = this.#caller();
    const { code, entryId } = call;
    const seenIds = call.seen.map((line) => line.replace(/ .*/, ""));
    // These have decided that it is sent, and matter no more.
    Object.assign(call, { code: undefined, seen: [], endsAtMs: Infinity, isLate: false });
    const latestMs = this.#around.machineMs + deadlineMs - MIN_POST_MS;
    const fate = await this.#until({ kind: "ask", keys, entryId, seenIds, code, latestMs });
    if (fate !== "carried out") throw failure(fate);
    const arrival = await this.#until({ kind: "answer", entryId });
    if (arrival === "in time") return resultOf(entryId);
    if (arrival === "late") onLate?.(this.#until({ kind: "late", entryId }).then(() => resultOf(entryId)));
    throw failure("unknown");
  }

  #disk(): Disk {
    return {
      path: "state",
      list: async () => {
        await this.#until({ kind: "look" });
        const { texts, lines } = this.#around.files;
        this.#newest = [...texts.keys()].toSorted().at(-1);
        for (const line of lines) this.#read.set(keyOf(line), line);
        const { read, unread } = this.state();
        const call = this.#caller();
        call.seen = entriesOf([...read, ...unread])
          .filter(({ platforms }) => platforms?.some((platform) => call.keys.includes(platform)) ?? true)
          .map(keyOf);
        if (texts.size === 0) throw Object.assign(new Error("No folder"), { code: "ENOENT" });
        // The text serves as the version: it changes with the file.
        return [...texts].map(([name, text]) => ({ name, version: text }));
      },
      read: async (name, start) => Buffer.from(this.#around.files.texts.get(name) ?? "").subarray(start),
      append: async (file, text) => {
        const line: Line = JSON.parse(text);
        this.#written.set(keyOf(line), line);
        const call = this.#caller();
        if (line.outcome !== undefined) Object.assign(call, { seen: [], entryId: "" });
        await this.#until({ kind: "record", file, text, line });
      },
      remove: async () => {},
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

/** The entries of these lines that guard against a repeat. */
export function entriesOf(lines: readonly Line[]): Line[] {
  const entries = new Map<string, Line>();
  for (const line of lines) {
    const { file, outcome = line.outcome } = entries.get(line.id) ?? line;
    entries.set(line.id, { ...line, ...(file && { file }), ...(outcome && { outcome }) });
  }
  return [...entries.values()].filter(({ outcome }) => outcome !== "not_sent" && outcome !== "rejected");
}

function keyOf({ id, outcome }: Line): string {
  return `${id} ${outcome}`;
}

function failure(word: Word): BridgeError {
  return new BridgeError({
    code: word === "rejected" ? "refused" : "network",
    message: "It failed.",
    nextStep: "Look.",
    outcome: word === "rejected" || word === "not_sent" ? word : "unknown",
    retryable: false,
  });
}
