// A small model of the world around the guard: two processes with the real code of src/idempotency, a simulated disk, service and clock, and a
// scheduler that decides after every await what happens next. A run is the list of its choices, and can be repeated.

import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { BridgeError, type Outcome } from "../../../src/errors.ts";
import { GenerateOnce } from "../../../src/idempotency/generate-once.ts";
import { Journal } from "../../../src/idempotency/journal.ts";
import type { Disk } from "../../../src/idempotency/journal-files.ts";
import { PublishOnce } from "../../../src/idempotency/publish-once.ts";
import { PaidCalls } from "../../../src/idempotency/record-and-send.ts";
import { fingerprintOf } from "../../../src/idempotency/same-request.ts";
import type { Generation, Job, Publication } from "../../../src/service/answers.ts";

/** How far a model is explored. */
export interface Bounds {
  /** How many crashes, lost answers, jumps of the clock and removed folders one run may have. */
  readonly faults: number;
  /** How often one run may leave a call that could go on for another one. */
  readonly preemptions: number;
}

/** One thing that can happen next. */
export interface Action {
  /** Whose; none for the clock and the folder. */
  readonly call?: Call;
  /** For people: who does what. */
  readonly label: string;
  /** Whether it counts against the faults that a run may have. */
  readonly isFault: boolean;
  apply(): void;
}

export interface Client {
  /** Starts a video; gives the code of the answer, if there is one. */
  generate(topic: string, code?: string): Promise<string | undefined>;
  publish(platforms: readonly string[], code?: string): Promise<string | undefined>;
}

/** What the calls of the processes do, by the process's name. Those of one process run at once. */
export interface Scenario {
  readonly name: string;
  readonly accounts?: Readonly<Record<string, string>>;
  readonly calls: readonly { readonly process: string; readonly run: (client: Client) => Promise<unknown> }[];
}

/** A request that the service has carried out. */
interface CarriedOut {
  readonly process: string;
  /** Equal for requests of which only one may be carried out. */
  readonly keys: readonly string[];
  /** What the code of its call confirms; none without a code. */
  readonly code: IssuedCode | undefined;
  /** Its entry in the journal. */
  readonly entryId: string;
}

interface IssuedCode {
  readonly code: string;
  /** The requests that were carried out when it was given. */
  readonly known: readonly CarriedOut[];
}

interface Call {
  readonly process: string;
  readonly index: number;
  /** What it has seen so far: the state of its code is a function of that. */
  readonly trace: string[];
  code: IssuedCode | undefined;
  /** The last entry that it has written. */
  entryId: string;
  isOver: boolean;
}

interface Pending {
  readonly call: Call;
  readonly actions: readonly Action[];
}

const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const ENTRY_ID = /"id":"([^"]+)"/;
const UNDER_WAY_MS = 60_000;
const HOUR_MS = 3_600_000;
const CALL_MS = 38_000;
const WAITS = "waits for the other one";
/** A POST is not begun with less of its deadline left. */
const MIN_POST_MS = 10_000;

/** One for all worlds: each further one slows every await down. */
const current = new AsyncLocalStorage<Call>();

export class World {
  /** Why the law is broken, in one sentence. */
  violation: string | undefined;
  readonly #calls: Call[] = [];
  readonly #crashed = new Set<string>();
  readonly #files = new Map<string, { text: string; version: number }>();
  readonly #pending = new Set<Pending>();
  readonly #carriedOut: CarriedOut[] = [];
  readonly #codes: IssuedCode[] = [];
  /** When the intent of each request that has no outcome yet was written, on the machine's clock. */
  readonly #begun = new Map<string, { keys: readonly string[]; atMs: number }>();
  readonly #used = new Set<string>();
  /** Entries that were on the disk when it was emptied: other processes can't know them. */
  readonly #lost = new Set<string>();
  #versions = 0;
  #wallMs = Date.UTC(2026, 10, 21, 12);
  #machineMs = 5_000_000;
  #faultsLeft: number;
  #preemptionsLeft: number;
  #lastCall: Call | undefined;

  constructor(scenario: Scenario, { faults, preemptions }: Bounds) {
    this.#faultsLeft = faults;
    this.#preemptionsLeft = preemptions;
    const clients = new Map<string, Client>();
    for (const { process, run } of scenario.calls) {
      const client =
        clients.get(process) ?? this.#startProcess(process, scenario.accounts?.[process] ?? "one");
      clients.set(process, client);
      this.#startCall(process, () => run(client));
    }
  }

  /** What can happen next; nothing when all is over. */
  async actions(): Promise<readonly Action[]> {
    await this.#settle();
    const next = [...this.#pending].flatMap(({ actions }) => actions);
    if (next.length === 0) return [];
    const mustGoOn = this.#preemptionsLeft === 0 && this.#canGoOn();
    return [...next, ...this.#faults()].filter(
      ({ isFault, call }) =>
        (!isFault || this.#faultsLeft > 0) && (!mustGoOn || call === undefined || call === this.#lastCall),
    );
  }

  apply(action: Action): void {
    if (action.isFault) this.#faultsLeft -= 1;
    if (action.call !== undefined && action.call !== this.#lastCall) {
      if (this.#canGoOn()) this.#preemptionsLeft -= 1;
      this.#lastCall = action.call;
    }
    action.apply();
  }

  /** Whether the call that acted last could act again. One that waits for another one leaves of its own accord. */
  #canGoOn(): boolean {
    return [...this.#pending].some(
      ({ call, actions }) => call === this.#lastCall && actions[0]?.label.includes(WAITS) !== true,
    );
  }

  /** Two states with the same key go on in the same way. */
  key(): string {
    return JSON.stringify([
      [...this.#files].map(([name, { text }]) => [name, text]),
      this.#carriedOut.map(({ entryId, keys }) => [entryId, keys]),
      this.#calls.map(({ trace, isOver }) => [trace, isOver]),
      [...this.#pending].map(({ actions }) => actions[0]?.label ?? "").sort(),
      [...this.#crashed],
      this.#codes.map(({ code, known }) => [code, known.length]),
      [...this.#used],
      [...this.#lost],
      this.#wallMs,
      this.#machineMs,
      this.#faultsLeft,
      this.#preemptionsLeft === Infinity ? "" : [this.#preemptionsLeft, this.#lastCall?.index],
    ]);
  }

  /** What must hold when nothing can happen any more: all calls have ended, and a later call of a new process repeats nothing. */
  async checkEnd(scenario: Scenario): Promise<void> {
    const stuck = this.#calls.find(({ isOver, process }) => !isOver && !this.#crashed.has(process));
    if (stuck !== undefined) return this.#break(`A call of ${stuck.process} never ends.`);
    this.#faultsLeft = 0;
    this.#wallMs += 11 * 60_000;
    this.#machineMs += 11 * 60_000;
    const client = this.#startProcess("R", scenario.accounts?.["Q"] ?? "one");
    for (const { run } of scenario.calls.slice(0, 2)) {
      this.#startCall("R", () => run(client));
      for (let next = await this.actions(); next[0] !== undefined; next = await this.actions())
        this.apply(next[0]);
    }
  }

  #startProcess(name: string, account: string): Client {
    let ids = 0;
    const machineMs = () => this.#machineMs;
    const journal = new Journal({
      disk: this.#disk(),
      now: () => this.#wallMs,
      machineMs,
      randomId: () => `${name}${(ids += 1)}`,
      redact: (line) => line,
      onUnwritable: () => {},
    });
    const calls = new PaidCalls({
      journal,
      monotonicMs: machineMs,
      sleep: () =>
        this.#operation(WAITS, [
          ["for a moment", () => {}],
          ["until its time is over", () => this.#pass(CALL_MS)],
        ]),
    });
    const common = { calls, now: () => this.#wallMs };
    const generate = new GenerateOnce({
      ...common,
      service: {
        generate: ({ topic }, options) =>
          this.#request<Generation>(name, [`${account} ${topic}`], options, (jobId) => ({
            jobId,
            status: "processing",
          })),
        listVideos: async () => ({ videos: [] }),
      },
      maxGenerations: undefined,
      account: () => fingerprintOf(account),
      lookAtJob: async (jobId) => ({ jobId, status: "processing", done: false, videoUrls: [] }) satisfies Job,
      knownJobIds: () => new Set(),
      onListed: () => {},
      onStarted: () => {},
    });
    const publish = new PublishOnce({
      ...common,
      service: {
        publish: ({ platforms }, options) =>
          this.#request<Publication>(name, platforms, options, () => ({
            results: platforms.map((platform) => ({ platform, ok: true })),
          })),
      },
    });
    return {
      generate: (topic, code) =>
        this.#call(code, [`${account} ${topic}`], async () => {
          const started = await generate.run({ topic }, { confirmDuplicate: code });
          return started.alreadyStarted ? started : {};
        }),
      publish: (platforms, code) =>
        this.#call(code, platforms, () =>
          publish.run({ jobId: JOB, platforms }, async () => {}, { confirmDuplicate: code }),
        ),
    };
  }

  #startCall(process: string, run: () => Promise<unknown>): void {
    const call: Call = {
      process,
      index: this.#calls.length,
      trace: [],
      code: undefined,
      entryId: "",
      isOver: false,
    };
    this.#calls.push(call);
    void current.run(call, async () => {
      await run().catch((error: unknown) => this.#break(`A call failed by itself: ${String(error)}`));
      call.isOver = true;
    });
  }

  /** Makes a call and gives the code that its answer holds. */
  async #call(
    code: string | undefined,
    keys: readonly string[],
    run: () => Promise<{ readonly code?: string | undefined }>,
  ): Promise<string | undefined> {
    const call = this.#caller();
    call.code = this.#codes.findLast((issued) => issued.code === code);
    const given = await run().then(
      ({ code: issued }) => issued,
      (error: unknown) => {
        if (!(error instanceof BridgeError) || error.facts.code === "internal") throw error;
        return /confirmDuplicate: "(\w+)"/.exec(error.facts.nextStep)?.[1];
      },
    );
    call.trace.push(`answer ${String(given)}`);
    if (given === undefined) return undefined;
    const underWay = [...this.#begun].some(
      ([id, begun]) =>
        // What was recorded in a folder that is gone, no other process can know.
        (id.startsWith(call.process) || !this.#lost.has(id)) &&
        begun.keys.some((key) => keys.includes(key)) &&
        this.#machineMs - begun.atMs < UNDER_WAY_MS,
    );
    if (underWay) this.#break(`${call.process} was given a code while an equal request is under way.`);
    this.#codes.push({ code: given, known: [...this.#carriedOut] });
    return given;
  }

  /** A paid or public request on its way through the service. */
  async #request<Result>(
    process: string,
    keys: readonly string[],
    {
      deadlineMs = 0,
      onLate,
    }: { deadlineMs?: number | undefined; onLate?: ((answer: Promise<Result>) => void) | undefined } = {},
    resultOf: (id: string) => Result,
  ): Promise<Result> {
    const latestMs = this.#machineMs + deadlineMs - MIN_POST_MS;
    const { code, entryId } = this.#caller();
    let result: Result | undefined;
    const carryOut = () => {
      // As the request sender does.
      if (this.#machineMs > latestMs) return "not_sent";
      const id = `job-${this.#carriedOut.length + 1}`;
      this.#judge({ process, keys, code, entryId });
      result = resultOf(id);
      return "carried out";
    };
    const fate = await this.#operation<"carried out" | Outcome>("asks the service", [
      ["which carries it out", carryOut],
      ["which refuses it", () => "rejected", true],
      ["and the request is lost on its way", () => "unknown", true],
    ]);
    if (fate !== "carried out" || result === undefined)
      throw failure(fate === "carried out" ? "unknown" : fate);
    const answer = result;
    const arrival = await this.#operation<"in time" | "lost" | "late">("waits for the answer", [
      ["which comes", () => "in time"],
      ["which is lost", () => "lost", true],
      ["which does not come in time", () => (this.#pass(CALL_MS), "late"), true],
    ]);
    if (arrival === "in time") return answer;
    if (arrival === "late")
      onLate?.(this.#operation("waits on", [["and the late answer comes", () => answer]]));
    throw failure("unknown");
  }

  /** The law: nothing is carried out twice unless a code that was given with all of it known confirms that. */
  #judge(request: CarriedOut): void {
    const earlier = this.#carriedOut.filter(
      ({ entryId, process, keys }) =>
        keys.some((key) => request.keys.includes(key)) &&
        // What was recorded in a folder that is gone, no other process can know.
        (process === request.process || !(this.#lost.has(entryId) || this.#lost.has(request.entryId))),
    );
    const unconfirmed = earlier.filter((other) => request.code?.known.includes(other) !== true);
    this.#carriedOut.push(request);
    if (unconfirmed.length > 0)
      this.#break(
        `${request.process} had ${request.keys.join(" and ")} carried out again after ${unconfirmed.map(({ process }) => process).join(" and ")}, ${request.code === undefined ? "without a code" : "with a code that was given before that"}.`,
      );
  }

  #disk(): Disk {
    return {
      path: "state",
      list: () =>
        this.#operation("looks at the journal", [
          [
            "",
            () => {
              if (this.#files.size === 0) throw Object.assign(new Error("No folder"), { code: "ENOENT" });
              return [...this.#files].map(([name, { text, version }]) => ({
                name,
                version: `${text.length} ${version}`,
              }));
            },
          ],
        ]),
      read: async (name) => this.#files.get(name)?.text ?? "",
      append: (name, text) => {
        const call = this.#caller();
        const outcome = /"outcome":"(\w+)"/.exec(text)?.[1];
        // From now on its own process knows it, and the others can't see it as anything but under way.
        if (outcome !== undefined) this.#begun.delete(idOf(text));
        return this.#operation(outcome === undefined ? "records the request" : `records "${outcome}"`, [
          ["", () => this.#append(call, name, text, outcome)],
        ]);
      },
      remove: async (name) => void this.#files.delete(name),
    };
  }

  #append(call: Call, name: string, text: string, outcome: string | undefined): void {
    const before = this.#files.get(name)?.text ?? "";
    this.#files.set(name, { text: before + text, version: (this.#versions += 1) });
    call.entryId = idOf(text);
    if (outcome !== undefined) return;
    const topic = /"topic":"([^"]*)"/.exec(text)?.[1];
    const platforms: string[] = JSON.parse(/"platforms":(\[[^\]]*\])/.exec(text)?.[1] ?? "[]");
    const keys = topic === undefined ? platforms : [`one ${topic}`];
    const atMs = Number(/"machineMs":(\d+)/.exec(text)?.[1]);
    this.#begun.set(call.entryId, { keys, atMs });
  }

  #faults(): Action[] {
    const once = (label: string, apply: () => void): Action[] =>
      this.#used.has(label) ? [] : [{ label, isFault: true, apply: () => (this.#used.add(label), apply()) }];
    const alive = [...new Set(this.#calls.map(({ process }) => process))].filter(
      (process) => process !== "R" && !this.#crashed.has(process),
    );
    return [
      ...alive.flatMap((process) => once(`${process} crashes`, () => this.#crash(process))),
      ...once("The clock jumps six hours forward", () => (this.#wallMs += 6 * HOUR_MS)),
      ...once("The clock jumps a day back", () => (this.#wallMs -= 24 * HOUR_MS)),
      ...once("61 seconds pass", () => this.#pass(61_000)),
      ...(this.#files.size === 0 ? [] : once("The state folder is removed", () => this.#empty())),
    ];
  }

  #crash(process: string): void {
    this.#crashed.add(process);
    for (const pending of this.#pending) if (pending.call.process === process) this.#pending.delete(pending);
  }

  #empty(): void {
    for (const { text } of this.#files.values())
      for (const [, id = ""] of text.matchAll(new RegExp(ENTRY_ID, "g"))) this.#lost.add(id);
    this.#files.clear();
  }

  #pass(ms: number): void {
    this.#wallMs += ms;
    this.#machineMs += ms;
  }

  /** Waits until the scheduler takes one of the choices: what it is called, what it does, and whether it is a fault. */
  #operation<Result>(
    label: string,
    choices: readonly (readonly [string, () => Result, boolean?])[],
  ): Promise<Result> {
    const call = this.#caller();
    if (this.#crashed.has(call.process)) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      const actions = choices.map(([name, run, isFault = false]) => ({
        call,
        label: `${call.process}${call.index + 1} ${label}${name === "" ? "" : `, ${name}`}`,
        isFault,
        apply: () => {
          this.#pending.delete(pending);
          try {
            const result = run();
            this.#note(call, `${label} ${name} ${JSON.stringify(result) ?? ""}`);
            resolve(result);
          } catch (error) {
            this.#note(call, `${label} fails`);
            reject(error);
          }
        },
      }));
      const pending = { call, actions };
      this.#pending.add(pending);
    });
  }

  #note(call: Call, event: string): void {
    const { trace } = call;
    // A look that shows what the last one showed leaves a waiting call where it was.
    if (trace.at(-1)?.startsWith(WAITS) && trace.at(-2) === event) trace.pop();
    else trace.push(event);
  }

  #caller(): Call {
    const call = current.getStore();
    if (call === undefined) throw new TypeError("Outside of a call.");
    return call;
  }

  #break(message: string): void {
    this.violation ??= message;
  }

  /** Lets the real code run until all of it waits for the scheduler: nothing in it waits for anything else. */
  async #settle(): Promise<void> {
    await nextTurn();
  }
}

function idOf(line: string): string {
  return ENTRY_ID.exec(line)?.[1] ?? "";
}

function failure(outcome: Outcome): BridgeError {
  return new BridgeError({
    code: outcome === "rejected" ? "refused" : "network",
    message: "It failed.",
    nextStep: "Look.",
    outcome,
    retryable: false,
  });
}
