// The actions, knowledge and waits of a process of the model.

export interface Client {
  /** Starts a video; gives the code of the answer, if there is one. */
  generate(topic: string, code?: string): Promise<string | undefined>;
  publish(platforms: readonly string[], code?: string): Promise<string | undefined>;
}

/** What the user can answer to a question before an order. `series` is a yes to further orders, too. */
export const USERS_WORDS = ["yes", "series", "no"] as const;
export type UsersWord = (typeof USERS_WORDS)[number];

export type Run = (client: Client) => Promise<unknown>;

export interface Program {
  readonly name: string;
  /** The program's calls by name. All run concurrently. */
  readonly calls: ReadonlyMap<string, Run>;
  readonly maxGenerations: number | undefined;
  /** True if its calls wait for as long as an answer may come, as those of `call` do. */
  readonly isPatient: boolean;
  /** True if it uses the sandbox. */
  readonly isSandbox: boolean;
  /** True if its user is asked before each order. */
  readonly asksFirst: boolean;
  /** All states that it was in, by their content. */
  readonly states: Map<string, ProcessState>;
}

/** A line of the journal: an entry as it then stood. */
export interface Line {
  readonly id: string;
  readonly arguments?: { readonly topic?: string };
  readonly platforms?: readonly string[];
  readonly results?: readonly { readonly platform: string }[];
  readonly outcome?: string;
  readonly atMs: number;
  /** Undefined unless it was read from the disk. */
  readonly file?: string;
}

/** The journal's files. Equal ones have the same id. */
export interface Files {
  readonly id: number;
  readonly texts: ReadonlyMap<string, string>;
  readonly lines: readonly Line[];
}

/** The files and the time that a process finds when it continues. */
export interface Surroundings {
  readonly files: Files;
  readonly wallMs: number;
  /** Entries of a sandbox that was restarted since: it doesn't know their jobs any more. */
  readonly forgotten: readonly string[];
}

/** A request that the service has. */
export interface Sent {
  readonly entryId: string;
  /** The topic or the platforms that it asks for. */
  readonly keys: readonly string[];
  /** The relevant entries and their outcomes, as its last read has shown them. */
  readonly seen: readonly string[];
  /** The entries that were known when its code was given. None without a code. */
  readonly confirmed?: readonly string[] | undefined;
}

/** A request that was carried out, or a part of it. */
export interface CarriedOut extends Omit<Sent, "seen"> {
  /** True if the service has said that the one requested thing was not done. */
  readonly isDenied: boolean;
}

/** A request that a call is about to send, or has sent a moment ago. */
export interface Ask extends Omit<Sent, "confirmed"> {
  readonly kind: "ask";
  /** The code that confirms the request. */
  readonly code: string | undefined;
}

/** An event that a call waits for. */
export type Wanted =
  | { readonly kind: "look" }
  /** Waits for another request, unless the call's time is over. */
  | { readonly kind: "wait"; readonly isLate: boolean }
  | { readonly kind: "record"; readonly file: string; readonly text: string; readonly lines: readonly Line[] }
  | Ask
  /** Some seconds pass before an outcome that the disk didn't take is written again. */
  | { readonly kind: "retry" }
  /** The answer that comes after the call's end. */
  | { readonly kind: "late"; readonly entryId: string }
  /** The user's answer. */
  | { readonly kind: "answer"; readonly offersSeries: boolean };
export type Operation = Wanted & { readonly call: string };

/** How an operation ends, if there are several ways. */
export type Word =
  | ""
  | UsersWord
  | "time over"
  | "disk error"
  | "carried out"
  | Refusal
  | "not_sent"
  | "unknown"
  | "late"
  | "end";

/** How the service refuses, without `results`. */
export const REFUSALS = [
  "400 account_not_connected",
  "401 youtube_token_expired",
  "402 out_of_credits",
  "403 platform_not_in_plan",
  "404 account_not_found",
  "429 rate_limited",
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** A code, and the entries that were known when it was given. */
export interface Code {
  readonly code: string;
  readonly known: readonly string[];
  /** The entries of the same request that it was made of, with their outcomes. */
  readonly madeOf: readonly string[];
}

/** The answer to a call. */
export interface Answer {
  readonly call: string;
  readonly code?: string | undefined;
  readonly decidedBy: readonly string[];
  /** The entries that the code confirms. */
  readonly keys: readonly string[];
  /** An error that the model did not cause. */
  readonly failure?: string;
}

/** A process between two steps: all that its next steps depend on. */
export interface ProcessState {
  readonly program: Program;
  readonly pending: readonly Operation[];
  /** The calls that have not ended. */
  readonly calls: readonly Call[];
  /** Lines in the order in which they were read, and those that it has written and not read. */
  readonly read: readonly Line[];
  readonly unread: readonly Line[];
  /** Outcomes that the disk didn't take, which are written with the next line. */
  readonly kept: readonly Line[];
  /** When the last order of a series was agreed to, by the wall clock; undefined after a no. */
  readonly seriesMs: number | undefined;
  /** True once it has begun to end. */
  readonly isEnding: boolean;
  /** The last step of one of the runs that lead to this state. */
  readonly step: Step;
  readonly next: Map<string, Next>;
}

/** All that local variables of the code hold between operations. New variables must be added here. */
export class Call {
  readonly name: string;
  /** How many calls it has made, one after the other. */
  made = 0;
  keys: readonly string[] = [];
  /** The code that confirms the request that it is about to send. */
  code: string | undefined;
  /** True if its time is over. */
  isLate = false;
  /** The entries of the same request that it last decided by, with their outcomes. */
  decidedBy: readonly string[] = [];
  /** The entries of the same request when the user agreed, with their outcomes. */
  agreedTo: readonly string[] | undefined;
  /** The outcomes of the entries at its read of the journal, as long as it needs them. */
  seen: readonly string[] = [];
  /** Its own entry that has no outcome yet. */
  entryId = "";
  /** What its user has said to the order that it is about to send, themselves or by a series. */
  consent: "none" | "given" | "refused" = "none";
  /** True if an error, and not an earlier request, prevents its own from being sent. */
  hasFailed = false;
  isOver = false;

  constructor(name: string) {
    this.name = name;
  }
}

export interface Step {
  readonly before: Step | undefined;
  /** The index of the pending operation that goes on; -1 at the start, and when it is told to end. */
  readonly operation: number;
  readonly word: Word;
  readonly around: Surroundings;
}

export interface Next {
  readonly state: ProcessState;
  readonly answers: readonly Answer[];
}

export interface Scenario {
  readonly name: string;
  /** The calls by the process that makes them. All calls of a process run concurrently. */
  readonly calls: Readonly<Record<string, readonly Run[]>>;
  readonly maxGenerations?: number;
  /** The processes whose calls wait for as long as an answer may come. */
  readonly patient?: readonly string[];
  /** The processes whose users are asked before each order. */
  readonly asking?: readonly string[];
}

export interface State extends Surroundings {
  /** The processes by name; undefined once one has crashed or has nothing left to do. */
  readonly processes: Readonly<Record<string, ProcessState | undefined>>;
  readonly faultsLeft: number;
  readonly carriedOut: readonly CarriedOut[];
  /** Entries that were on the disk when it was emptied: other processes can't know them. */
  readonly lost: readonly string[];
  /** The last code that each call was given. */
  readonly codes: Readonly<Record<string, Code>>;
  /** The reason why the law is broken, in one sentence. */
  readonly violation?: string | undefined;
}
