// A small model of the world around the guard: two processes with the real code of src/idempotency, and their
// disk, service and clocks. A state never changes: its actions lead to other states.

import { hash } from "node:crypto";
import { answer, carryOut, entriesOf, isSeriesOn, processOf, SANDBOX } from "./law.ts";
import { goOn, start } from "./process.ts";
import {
  type Ask,
  type Files,
  type Line,
  type Next,
  type Operation,
  REFUSALS,
  USERS_WORDS,
} from "./types.ts";
import type { ProcessState, Program, Run } from "./types.ts";
import type { Scenario, Sent, State, Word } from "./types.ts";

/** One thing that can happen next. */
export interface Action {
  /** The process and its action, for people. */
  readonly label: string;
  readonly apply: () => Promise<State>;
}

/** A broken law, and the steps at the end of the run that break it. */
export interface Violation {
  readonly law: string;
  readonly steps: readonly string[];
}

/** One way for an operation to continue: its name, its result, and what else it changes. */
type Choice = readonly [string, Word?, Partial<State>?];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How long a request counts as under way. */
const UNDER_WAY_MS = 6 * MINUTE_MS;

export class World {
  readonly #scenario: Scenario;
  readonly #files = new Map<string, Files>();
  /** These repeat the scenario's calls after all others: those of one process, or of the other. */
  readonly #later: readonly Program[];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const calls = Object.values(scenario.calls);
    this.#later = [calls, calls.toReversed()].map((order) => {
      const run: Run = async (client) => {
        for (const call of order.flat().slice(0, 2)) await call(client);
      };
      return this.#program("R", new Map([["R", run]]));
    });
  }

  /** The state in which all calls begin. A run may have this many crashes, lost answers and other faults. */
  async start(faults: number): Promise<State> {
    let state: State = {
      processes: {},
      files: this.#filesOf(new Map(), []),
      wallMs: Date.UTC(2026, 10, 21, 8),
      faultsLeft: faults,
      carriedOut: [],
      lost: [],
      forgotten: [],
      codes: {},
    };
    for (const [name, runs] of Object.entries(this.#scenario.calls)) {
      const program = this.#program(name, new Map(runs.map((run, index) => [`${name}${index + 1}`, run])));
      state = afterStep(state, name, await start(program, state));
    }
    return state;
  }

  /**
   * States with the same key continue in the same way: it has all that the journal, the processes and the law
   * still distinguish. For a time that is the age of what is under way, for a code the entries that it was made from.
   */
  keyOf(state: State): string {
    const text = partsOf(state)
      .map((part) => JSON.stringify(part))
      .join("\n");
    // A million keys themselves would not fit into memory.
    return hash("sha256", withNewIds(text), "base64");
  }

  /** The events that can happen next; none when all is over. */
  actions(state: State): readonly Action[] {
    const alive = aliveIn(state);
    // Once nothing fails any more, a process whose only call asks the service, or gets a late answer, does
    // what no other process can see or prevent. So it need not be tried after what others do as well.
    const unseen = alive.find(({ pending: [first, ...others], isEnding }) => {
      const isUnseen = first?.kind === "ask" || first?.kind === "late";
      return state.faultsLeft === 0 && isUnseen && others.length === 0 && !isEnding;
    });
    if (unseen !== undefined) return this.#steps(state, unseen);
    const steps = alive.flatMap((process) => this.#steps(state, process));
    const ends = alive
      // Nothing keeps a process alive that has only an outcome to write.
      .filter(({ isEnding, pending }) => isEnding || pending.every(({ kind }) => kind === "retry"))
      .map(({ program: { name } }) => ({
        label: `${name} ends`,
        apply: async () => this.#withoutProcess(state, name),
      }));
    const canFail = alive.length > 0 && state.faultsLeft > 0;
    return [...steps, ...ends, ...(canFail ? this.#faults(state) : [])];
  }

  /** Checks, once nothing more can happen, that all calls have ended and can be made again a while later. */
  async violationAtEnd(state: State): Promise<Violation | undefined> {
    if (aliveIn(state).length > 0) return { law: "A call never ends.", steps: [] };
    for (const program of this.#later)
      for (const minutes of [5, 7]) {
        const later = { ...state, wallMs: state.wallMs + minutes * MINUTE_MS, faultsLeft: 0 };
        let end = afterStep(later, "R", await start(program, later));
        const steps = [`${minutes} minutes pass, and R makes calls of the others anew`];
        for (let next = this.actions(end).at(-1); next !== undefined; next = this.actions(end).at(-1)) {
          end = await next.apply();
          steps.push(next.label);
          if (end.violation !== undefined) return { law: end.violation, steps };
        }
      }
    return undefined;
  }

  /** All ways for the operations of a process to continue. */
  #steps(state: State, { program: { name }, pending }: ProcessState): Action[] {
    return pending.flatMap((operation) =>
      this.#choices(state, operation)
        .filter(([, , { faultsLeft = 0 } = {}]) => faultsLeft >= 0)
        .map(([label, word = "", change = {}]) => ({
          label: `${operation.call} ${label}`,
          apply: async () => {
            const next = await this.#goOn({ ...state, ...change }, name, operation, word);
            // The end of a wait matters only for the read that follows, so both are one step.
            const look = operation.kind === "wait" ? lookOf(next, operation.call) : undefined;
            return look === undefined ? next : this.#goOn(next, name, look, "");
          },
        })),
    );
  }

  #choices(state: State, operation: Operation): readonly Choice[] {
    const fault = { faultsLeft: state.faultsLeft - 1 };
    switch (operation.kind) {
      case "look":
        return [["looks at the journal"]];
      case "wait":
        // A process reads the journal for one call at a time.
        if (lookOf(state, processOf(operation.call)) !== undefined) return [];
        if (operation.isLate) return [["looks again"]];
        return [["looks again"], ["looks again when its time is over", "time over"]];
      case "record": {
        const { file, text } = operation;
        const { texts, lines } = state.files;
        const files = this.#filesOf(new Map([...texts, [file, (texts.get(file) ?? "") + text]]), [
          ...lines,
          ...operation.lines.map((line) => ({ ...line, file })),
        ]);
        const what = operation.lines.map(({ outcome = "the request" }) => outcome).join(" and ");
        return [
          [`records ${what}`, "", { files }],
          [`fails to record ${what}`, "disk error", fault],
          [`records ${what}, though the disk reports an error`, "disk error", { files, ...fault }],
        ];
      }
      case "ask": {
        const sent = sentBy(state, operation);
        const { maxGenerations } = this.#scenario;
        const done = carryOut(state, sent, maxGenerations);
        const first = { ...sent, keys: sent.keys.slice(0, 1) };
        const part = carryOut(state, first, maxGenerations, sent.keys.length === 1);
        const isEnding = state.processes[processOf(operation.call)]?.isEnding === true;
        return [
          ["asks the service, which carries it out and answers", "carried out", done],
          ...REFUSALS.map((refusal): Choice => [
            `asks the service, which carries out a part and answers ${refusal}`,
            refusal,
            { ...part, ...fault },
          ]),
          ["asks the service, which carries it out and answers late", "late", { ...done, ...fault }],
          ["asks the service, which carries it out, and loses the answer", "unknown", { ...done, ...fault }],
          ["is too late to ask the service", "not_sent", fault],
          ...(isEnding ? [["asks nothing, as its process ends", "not_sent"] as const] : []),
        ];
      }
      case "answer": {
        const words = USERS_WORDS.filter((word) => word !== "series" || operation.offersSeries);
        return words.map((word) => [`hears "${word}" from its user`, word]);
      }
      case "retry":
        return [["tries again to write its outcome"]];
      case "late":
        return [
          ["gets the late answer", "carried out"],
          ["awaits its answer no longer", "unknown", fault],
        ];
    }
  }

  /** Faults of processes, clocks and the disk. */
  #faults(before: State): Action[] {
    const state = { ...before, faultsLeft: before.faultsLeft - 1 };
    const { wallMs, files, lost } = state;
    const ids = [...new Set([...lost, ...entriesOf(files.lines).map(({ id }) => id)])];
    const faults: [string, () => State | Promise<State>][] = [
      // As it does if the computer sleeps.
      ["The clock jumps six hours forward", () => ({ ...state, wallMs: wallMs + 6 * HOUR_MS })],
      ["The clock jumps a day back", () => ({ ...state, wallMs: wallMs - 24 * HOUR_MS })],
    ];
    const emptied = { ...state, files: this.#filesOf(new Map(), []), lost: ids };
    if (files.lines.length > 0) faults.push(["The state folder is removed", () => emptied]);
    const made = state.carriedOut.map(({ entryId }) => entryId);
    const forgotten = made.filter((entryId) => processOf(entryId) === SANDBOX);
    if (forgotten.length > state.forgotten.length)
      faults.push(["The sandbox is restarted", () => ({ ...state, forgotten })]);
    for (const { program, isEnding } of aliveIn(state)) {
      const { name } = program;
      faults.push([`${name} crashes`, () => this.#withoutProcess(state, name)]);
      if (!isEnding) faults.push([`${name} is told to end`, () => this.#goOn(state, name, undefined, "end")]);
    }
    return faults.map(([label, next]) => ({ label, apply: async () => next() }));
  }

  #program(name: string, calls: ReadonlyMap<string, Run>): Program {
    const { maxGenerations, patient = [], asking = [] } = this.#scenario;
    const isPatient = patient.includes(name);
    const isSandbox = name === SANDBOX;
    const asksFirst = asking.includes(name);
    return { name, calls, maxGenerations, isPatient, isSandbox, asksFirst, states: new Map() };
  }

  async #goOn(state: State, name: string, operation: Operation | undefined, word: Word): Promise<State> {
    const process = state.processes[name];
    if (process === undefined) throw new TypeError(`${name} is over.`);
    const index = operation === undefined ? -1 : process.pending.indexOf(operation);
    return afterStep(state, name, await goOn(process, index, word, state));
  }

  /** Ends a process. It may have sent its last request before. */
  #withoutProcess(before: State, name: string): State {
    let state = before;
    for (const operation of before.processes[name]?.pending ?? [])
      if (operation.kind === "ask")
        state = { ...state, ...carryOut(state, sentBy(state, operation), this.#scenario.maxGenerations) };
    return { ...state, processes: { ...state.processes, [name]: undefined } };
  }

  #filesOf(texts: ReadonlyMap<string, string>, lines: readonly Line[]): Files {
    const key = JSON.stringify([...texts]);
    const files = this.#files.get(key) ?? { id: this.#files.size, texts, lines: lines.toSorted(byFile) };
    this.#files.set(key, files);
    return files;
  }
}

/** Renumbers the entries: one that guards nothing any more only shows in the numbers of later ones. */
function withNewIds(text: string): string {
  const ids = new Map<string, string>();
  return text
    .split("\n")
    .sort()
    .join("\n")
    .replace(/\b([PQRS]\d?)-\d+/g, (id, call: string) => {
      const canonical = ids.get(id) ?? `${call}-${ids.size}`;
      ids.set(id, canonical);
      return canonical;
    });
}

/** The order of entries makes no difference. */
function partsOf({ processes, files, wallMs, codes, carriedOut, ...state }: State): unknown[] {
  // Then no clock jumps and no line is removed any more.
  const isLastFault = state.faultsLeft === 0;
  const age = (ms: number) => (Math.abs(ms) >= UNDER_WAY_MS ? (ms > 0 ? "past" : "future") : ms);
  // A post under another name is known from an outcome, a lost entry only from a read.
  const hasEffect = (seen: string) =>
    seen.endsWith(" done") || state.lost.some((id) => seen.startsWith(`${id} `));
  const outcome = (line: Line) => line.outcome ?? age(wallMs - line.atMs);
  const entries = (lines: readonly Line[]) =>
    entriesOf(lines).map((entry) => [entry.id, entry.file, entry.platforms, outcome(entry)]);
  const names = [...files.texts.keys()].toSorted();
  const today = `journal-${new Date(wallMs).toISOString().slice(0, 10)}.jsonl`;
  // A call reads before it decides, so it makes no difference whether its process has already read a line,
  // unless the line can be removed, or moved by the lines of another file.
  const looked = isLastFault && names.length < 2 ? files.lines : [];
  const alive = aliveIn({ processes });
  return [
    ["files", today, names, entries(files.lines), state],
    ...carriedOut,
    ...alive.map(({ program: { name }, isEnding, seriesMs, kept, read, unread }) => [
      name,
      isEnding,
      isSeriesOn(seriesMs, wallMs) && age(wallMs - (seriesMs ?? 0)),
      entries(kept),
      entries([...read, ...looked, ...unread]),
    ]),
    ...alive
      .flatMap(({ calls }) => calls)
      .map(({ name, code, decidedBy, ...call }) => [
        name,
        call,
        code === undefined ? "" : [codes[name]?.madeOf, codes[name]?.known],
        // Once it sends, only earlier posts matter, since its answer gives a code for them.
        decidedBy.some((entry) => entry.endsWith(" done")) ? decidedBy : "",
      ]),
    ...alive
      .flatMap(({ pending }) => pending)
      .map((operation) => {
        const { call, kind } = operation;
        if (kind === "ask") {
          const { keys, entryId, code, seen } = operation;
          const confirms = code === undefined ? "" : [codes[call]?.code === code, codes[call]?.known];
          return [call, kind, keys, entryId, confirms, seen.filter(hasEffect)];
        }
        return [
          call,
          kind,
          kind === "record" && [operation.file, ...operation.lines.map((line) => [line.id, outcome(line)])],
        ];
      }),
  ];
}

/** The request of a call, with what its code confirms. */
function sentBy({ codes }: State, { call, entryId, keys, seen, code }: Operation & Ask): Sent {
  const given = codes[call];
  const confirmed = given?.code === code ? given?.known : [];
  return { entryId, keys, seen, ...(code !== undefined && { confirmed }) };
}

function afterStep(state: State, name: string, { state: process, answers }: Next): State {
  const isOver = process.pending.length + process.calls.length === 0;
  const next = { ...state, processes: { ...state.processes, [name]: isOver ? undefined : process } };
  return answers.reduce((answered, one) => answer(answered, process, one), next);
}

function aliveIn({ processes }: Pick<State, "processes">): ProcessState[] {
  return Object.values(processes).filter((process) => process !== undefined);
}

/** The read that a call waits for, or one of a process's calls. */
function lookOf({ processes }: State, name: string): Operation | undefined {
  const pending = processes[processOf(name)]?.pending ?? [];
  return pending.find(({ call, kind }) => kind === "look" && call.startsWith(name));
}

/** Reads lines as the journal does. */
function byFile(a: Line, b: Line): number {
  return (a.file ?? "") < (b.file ?? "") ? -1 : Number(a.file !== b.file);
}
