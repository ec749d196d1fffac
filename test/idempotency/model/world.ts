// A small model of the world around the guard: two processes with the real code of src/idempotency, and their
// disk, service and clocks. A state never changes: its actions lead to other states.

import { entriesOf, goOn, start } from "./process.ts";
import type { Answer, Ask, Files, Line, Next, Operation, ProcessState, Run, Sent, Word } from "./types.ts";

/** The calls, each with the process that makes it. All calls of a process run at once. */
export interface Scenario {
  readonly name: string;
  readonly calls: readonly { readonly process: string; readonly run: Run }[];
}

export interface State {
  /** By name. Undefined once it has crashed or has nothing left to do. */
  readonly processes: Readonly<Record<string, ProcessState | undefined>>;
  readonly files: Files;
  readonly wallMs: number;
  readonly machineMs: number;
  readonly faultsLeft: number;
  /** What the service has carried out. */
  readonly carriedOut: readonly Sent[];
  /** Entries that were on the disk when it was emptied: other processes can't know them. */
  readonly lost: readonly string[];
  /** The last code that each call was given, and the entries that were carried out by then. */
  readonly codes: Readonly<Record<string, { readonly code: string; readonly known: readonly string[] }>>;
  /** Why the law is broken, in one sentence. */
  readonly violation?: string | undefined;
}

/** One thing that can happen next. */
export interface Action {
  /** For people: who does what. */
  readonly label: string;
  readonly apply: () => Promise<State>;
}

/** How an operation can go on: what that is called, what comes of it, and what else it changes. */
type Choice = readonly [string, Word?, Partial<State>?];

const UNDER_WAY_MS = 6 * 60_000;
const HOUR_MS = 3_600_000;

export class World {
  readonly #scenario: Scenario;
  readonly #files = new Map<string, Files>();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  /** The state in which all calls begin. A run may have so many crashes, lost answers and other faults. */
  async start(faults: number): Promise<State> {
    let state: State = {
      processes: {},
      files: this.#filesOf(new Map(), []),
      wallMs: Date.UTC(2026, 10, 21, 8),
      machineMs: 5_000_000,
      faultsLeft: faults,
      carriedOut: [],
      lost: [],
      codes: {},
    };
    const calls = this.#scenario.calls.map((call, index) => ({
      ...call,
      name: `${call.process}${index + 1}`,
    }));
    for (const name of new Set(calls.map(({ process }) => process))) {
      const own = calls.filter(({ process }) => process === name);
      state = await this.#startProcess(state, name, new Map(own.map((call) => [call.name, call.run])));
    }
    return state;
  }

  /** What can happen next; nothing when all is over. */
  actions(state: State): readonly Action[] {
    const pending = Object.values(state.processes).flatMap((process) => process?.pending ?? []);
    const actions = pending.flatMap((operation) =>
      this.#choices(state, operation)
        .filter(([, , { faultsLeft = 0 } = {}]) => faultsLeft >= 0)
        .map(([label, word = "", change = {}]) => ({
          label: `${operation.call} ${label}`,
          apply: async () => {
            const next = await this.#goOn({ ...state, ...change }, operation, word);
            // When a wait ends matters only for the look that follows, so both are one step.
            const look = operation.kind === "wait" ? lookOf(next, operation.call) : undefined;
            return look === undefined ? next : this.#goOn(next, look, "");
          },
        })),
    );
    return actions.length === 0 || state.faultsLeft === 0 ? actions : [...actions, ...this.#faults(state)];
  }

  /** What must hold when nothing more can happen: all calls have ended, and repeating them later is safe. */
  async violationAtEnd(state: State): Promise<string | undefined> {
    const stuck = Object.keys(state.processes).find((name) => state.processes[name] !== undefined);
    if (stuck !== undefined) return `A call of ${stuck} never ends.`;
    const run: Run = async (client) => {
      for (const call of this.#scenario.calls.slice(0, 2)) await call.run(client);
    };
    const later = { ...state, ...passed(state, 11 * 60_000), faultsLeft: 0 };
    let end = await this.#startProcess(later, "R", new Map([["R", run]]));
    for (let next = this.actions(end).at(-1); next !== undefined; next = this.actions(end).at(-1))
      end = await next.apply();
    return end.violation;
  }

  #choices(state: State, operation: Operation): readonly Choice[] {
    const fault = { faultsLeft: state.faultsLeft - 1 };
    switch (operation.kind) {
      case "look":
        return [["looks at the journal"]];
      case "wait":
        // A process looks at the journal for one call at a time.
        if (lookOf(state, processOf(operation.call)) !== undefined) return [];
        if (operation.endsAtMs <= state.machineMs) return [["looks again"]];
        return [["looks again"], ["looks again when its time is over", "time over"]];
      case "record": {
        const { file, text, line } = operation;
        const { texts, lines } = state.files;
        const files = this.#filesOf(new Map([...texts, [file, (texts.get(file) ?? "") + text]]), [
          ...lines,
          { ...line, file },
        ]);
        return [[`records ${line.outcome ?? "the request"}`, "", { files }]];
      }
      case "ask":
        return [
          carryOut(state, operation),
          ["asks the service, which refuses it", "rejected", fault],
          ["asks the service, and the request is lost on its way", "unknown", fault],
        ];
      case "answer":
        return [
          ["is answered in time", "in time"],
          ["loses the answer", "lost", fault],
          ["gets no answer in time", "late", fault],
        ];
      case "late":
        break;
    }
    return [["gets the late answer"]];
  }

  #faults(state: State): Action[] {
    const { processes, wallMs, files, lost } = state;
    const alive = Object.keys(processes).filter((name) => processes[name] !== undefined);
    const faults: (readonly [string, Partial<State>])[] = [
      ...alive.map(
        (name) => [`${name} crashes`, { processes: { ...processes, [name]: undefined } }] as const,
      ),
      ["The clock jumps six hours forward", { wallMs: wallMs + 6 * HOUR_MS }],
      ["The clock jumps a day back", { wallMs: wallMs - 24 * HOUR_MS }],
      ["Seven minutes pass", passed(state, 7 * 60_000)],
    ];
    const ids = [...new Set([...lost, ...entriesOf(files.lines).map(({ id }) => id)])];
    if (files.lines.length > 0)
      faults.push(["The state folder is removed", { files: this.#filesOf(new Map(), []), lost: ids }]);
    return faults.map(([label, change]) => ({
      label,
      apply: async () => ({ ...state, ...change, faultsLeft: state.faultsLeft - 1 }),
    }));
  }

  async #startProcess(state: State, name: string, calls: ReadonlyMap<string, Run>): Promise<State> {
    return afterStep(state, name, await start({ name, calls }, state));
  }

  async #goOn(state: State, operation: Operation, word: Word): Promise<State> {
    const name = processOf(operation.call);
    const process = state.processes[name];
    if (process === undefined) throw new TypeError(`${name} is over.`);
    const index = process.pending.indexOf(operation);
    return afterStep(state, name, await goOn(process, index, word, state));
  }

  #filesOf(texts: ReadonlyMap<string, string>, lines: readonly Line[]): Files {
    const key = JSON.stringify([...texts]);
    const files = this.#files.get(key) ?? { id: this.#files.size, texts, lines: lines.toSorted(byFile) };
    this.#files.set(key, files);
    return files;
  }
}

/**
 * States with the same key go on in the same way: it has all that the journal, the processes and the law can
 * still tell apart. Of times that is the age of what is under way, up to a minute.
 */
export function keyOf({ processes, files, wallMs, machineMs, codes, ...state }: State): string {
  // Then no clock jumps and no line is removed any more.
  const isLastFault = state.faultsLeft === 0;
  const age = (ms: number) => (ms >= 0 && ms < UNDER_WAY_MS ? ms : isLastFault || ms > 0 ? "past" : "future");
  const left = (ms: number) => Math.max(ms - machineMs, 0);
  const outcome = (line: Line) => line.outcome ?? age(wallMs - line.atMs);
  const entries = (lines: readonly Line[]) =>
    entriesOf(lines).map((entry) => [entry.id, entry.file, entry.platforms, outcome(entry)]);
  const names = [...files.texts.keys()].toSorted();
  const newest = (...some: readonly string[]) => some.toSorted().at(-1);
  const today = `journal-${new Date(wallMs).toISOString().slice(0, 10)}.jsonl`;
  const toWrite = isLastFault ? newest(today, ...names) : today;
  // A call looks before it decides. So whether its process has already read a line makes no difference,
  // unless the line can be removed, or moved by the lines of another file.
  const looked = isLastFault && names.length < 2 ? files.lines : [];
  const key = JSON.stringify([
    toWrite,
    names,
    entries(files.lines),
    Object.values(processes).map(
      (process) =>
        process && [
          isLastFault && newest(today, process.newest ?? "") === toWrite ? "" : process.newest,
          entries([...process.read, ...looked, ...process.unread]),
          process.calls.map(({ endsAtMs, isLate, ...call }) => [
            call,
            isLate ? 0 : left(endsAtMs),
            call.code === undefined ? "" : codes[call.name],
          ]),
          process.pending.map((operation) => {
            const { call, kind } = operation;
            if (kind === "ask") {
              const seenIds = operation.seenIds.filter((id) => state.lost.includes(id));
              return { ...operation, seenIds, latestMs: left(operation.latestMs + 1) };
            }
            return [
              call,
              kind,
              kind === "record" && [operation.file, operation.line.id, outcome(operation.line)],
            ];
          }),
        ],
    ),
    state,
  ]);
  // Renumbers the entries: one that guards nothing any more only shows in the numbers of later ones.
  const ids = new Map<string, string>();
  return key.replace(/\b([PQR]\d?)-\d+/g, (id, call: string) => {
    const canonical = ids.get(id) ?? `${call}-${ids.size}`;
    ids.set(id, canonical);
    return canonical;
  });
}

/** The law: nothing is carried out twice unless a code that was given with all of it known confirms that. */
function carryOut(state: State, { call, entryId, keys, seenIds, code, latestMs }: Operation & Ask): Choice {
  const label = "asks the service, which carries it out";
  // As the request sender does.
  if (state.machineMs > latestMs) return [label, "not_sent"];
  const given = state.codes[call];
  const known = given?.code === code ? (given?.known ?? []) : [];
  const unconfirmed = state.carriedOut.filter(
    (other) =>
      other.keys.some((key) => keys.includes(key)) &&
      canKnow(state, call, other.entryId, seenIds) &&
      canKnow(state, other.entryId, entryId) &&
      !known.includes(other.entryId) &&
      !other.confirmed.includes(entryId),
  );
  const others = unconfirmed.map((other) => other.entryId.split("-")[0]).join(" and ");
  const how = code === undefined ? "without a code" : "with a code that was given before that";
  const violation = `${call} had ${keys.join(" and ")} carried out again after ${others}, ${how}.`;
  const carriedOut = [...state.carriedOut, { entryId, keys, confirmed: known }].toSorted(byEntry);
  return [label, "carried out", { carriedOut, ...(unconfirmed.length > 0 && { violation }) }];
}

function afterStep(state: State, name: string, { state: process, answers }: Next): State {
  const { pending, calls, read, unread } = process;
  const known = entriesOf([...read, ...state.files.lines, ...unread]);
  const isOver = pending.length + calls.length === 0;
  const next = { ...state, processes: { ...state.processes, [name]: isOver ? undefined : process } };
  return answers.reduce((answered, answer) => afterAnswer(answered, known, answer), next);
}

/** The law: no code is given while an equal request is under way. */
function afterAnswer(state: State, entries: readonly Line[], { call, keys, code, failure }: Answer): State {
  if (failure !== undefined) return { ...state, violation: `${call} failed by itself: ${failure}` };
  if (code === undefined) return state;
  const isUnderWay = entries.some(
    ({ outcome, platforms = keys, atMs }) =>
      outcome === undefined &&
      platforms.some((platform) => keys.includes(platform)) &&
      state.wallMs - atMs < UNDER_WAY_MS,
  );
  const known = [...state.carriedOut.map(({ entryId }) => entryId), ...entries.map(({ id }) => id)];
  const violation = `${call} was given a code while an equal request is under way.`;
  return { ...state, codes: { ...state.codes, [call]: { code, known } }, ...(isUnderWay && { violation }) };
}

/** Other processes know an entry of a removed folder only if they have read it. */
function canKnow({ lost }: State, call: string, entryId: string, seenIds: readonly string[] = []): boolean {
  return processOf(call) === processOf(entryId) || !lost.includes(entryId) || seenIds.includes(entryId);
}

/** The look that a call waits for, or one of a process's calls. */
function lookOf({ processes }: State, name: string): Operation | undefined {
  const pending = processes[processOf(name)]?.pending ?? [];
  return pending.find(({ call, kind }) => kind === "look" && call.startsWith(name));
}

/** The name of the process that makes a call, or has written an entry. */
function processOf(name: string): string {
  return name.slice(0, 1);
}

function passed({ wallMs, machineMs }: State, ms: number): Partial<State> {
  return { wallMs: wallMs + ms, machineMs: machineMs + ms };
}

/** As the journal reads them. */
function byFile(a: Line, b: Line): number {
  return (a.file ?? "") < (b.file ?? "") ? -1 : Number(a.file !== b.file);
}

function byEntry(a: Sent, b: Sent): number {
  return a.entryId < b.entryId ? -1 : 1;
}
