// What a process of the model does, knows and waits for.

import type { Outcome } from "../../../src/errors.ts";

export interface Client {
  /** Starts a video; gives the code of the answer, if there is one. */
  generate(topic: string, code?: string): Promise<string | undefined>;
  publish(platforms: readonly string[], code?: string): Promise<string | undefined>;
}

export type Run = (client: Client) => Promise<unknown>;

export interface Program {
  readonly name: string;
  /** What its calls do, by their names. All run at once. */
  readonly calls: ReadonlyMap<string, Run>;
}

/** A line of the journal: an entry as it then stood. */
export interface Line {
  readonly id: string;
  readonly platforms?: readonly string[];
  readonly outcome?: string;
  readonly atMs: number;
  /** None where it was not read from the disk. */
  readonly file?: string;
}

/** The journal's files. Equal ones have the same id. */
export interface Files {
  readonly id: number;
  readonly texts: ReadonlyMap<string, string>;
  readonly lines: readonly Line[];
}

/** What a process finds around itself when it goes on. */
export interface Surroundings {
  readonly files: Files;
  readonly wallMs: number;
  readonly machineMs: number;
}

/** A request. Of those that have a key in common only one may be carried out. */
export interface Sent {
  readonly entryId: string;
  readonly keys: readonly string[];
  /** The entries that were known when its code was given. */
  readonly confirmed: readonly string[];
}

/** A request that a call is about to send. */
export interface Ask extends Omit<Sent, "confirmed"> {
  readonly kind: "ask";
  /** The ids of the entries that matter to it, as its last look has shown them. */
  readonly seenIds: readonly string[];
  /** Confirms it. */
  readonly code: string | undefined;
  /** When it is sent at the latest, on the machine's clock. */
  readonly latestMs: number;
}

/** What a call waits for. */
export type Operation = { readonly call: string } & (
  | { readonly kind: "look" }
  /** For another request; at most until then, on the machine's clock. */
  | { readonly kind: "wait"; readonly endsAtMs: number }
  | { readonly kind: "record"; readonly file: string; readonly text: string; readonly line: Line }
  | Ask
  | { readonly kind: "answer" | "late"; readonly entryId: string }
);
export type Wanted = Operation extends infer One
  ? One extends Operation
    ? Omit<One, "call">
    : never
  : never;

/** How an operation ends, if there are several ways. */
export type Word = "" | "time over" | "carried out" | Outcome | "in time" | "lost" | "late";

/** What a call was answered. */
export interface Answer {
  readonly call: string;
  readonly code?: string | undefined;
  /** What the code confirms. */
  readonly keys: readonly string[];
  /** An error that the model did not cause. */
  readonly failure?: string;
}

/** A process between two steps: all that its next steps depend on. */
export interface ProcessState {
  readonly program: Program;
  readonly pending: readonly Operation[];
  /** Those that have not ended. */
  readonly calls: readonly Call[];
  /** Lines in the order in which they were read, and those that it has written and not read. */
  readonly read: readonly Line[];
  readonly unread: readonly Line[];
  /** The newest file of the last look. */
  readonly newest: string | undefined;
  /** The last step of one of the runs that lead to this state. */
  readonly step: Step;
  readonly next: Map<string, Next>;
}

/** All that local variables of the code hold between operations. New variables must be added here. */
export interface Call {
  readonly name: string;
  /** How many calls it has made, one after the other. */
  made: number;
  keys: readonly string[];
  /** By which the request that it is about to send is confirmed. */
  code: string | undefined;
  /** When its time is over, on the machine's clock, if it is not over already. */
  endsAtMs: number;
  isLate: boolean;
  /** What it asks the user, and what they have agreed to. */
  question: string | undefined;
  plan: string | undefined;
  /** Which entries had which outcome when it looked at the journal, as long as it needs that. */
  seen: readonly string[];
  /** Its own entry that has no outcome yet. */
  entryId: string;
  isOver: boolean;
}

export interface Step {
  readonly before: Step | undefined;
  /** The index of the pending operation that goes on; -1 at the start. */
  readonly operation: number;
  readonly word: Word;
  readonly around: Surroundings;
}

export interface Next {
  readonly state: ProcessState;
  readonly answers: readonly Answer[];
}
