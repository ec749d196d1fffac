// A prompt is one declarative object in one file. The one way to write it: read the arguments, then make the
// text. Knows neither the SDK nor the service's HTTP.

import { describeDamage, quote } from "../text.ts";

/** Suggestions that complete `typed`. */
export type Suggest = (typed: string, recentVideos: () => readonly KnownVideo[]) => readonly string[];

export interface KnownVideo {
  readonly jobId: string;
  readonly topic?: string;
}

export interface Argument<Value = unknown> {
  /** Clients show it beside the field. */
  readonly description: string;
  readonly required?: true;
  /** The value of trimmed text that is not blank; undefined if it can't be used. */
  readonly read: (text: string) => Value | undefined;
  /** Completes "must be …". */
  readonly allowed: string;
  /** Words that count as leaving the argument out. */
  readonly absent?: string;
  readonly suggest?: Suggest;
}

type Arguments = Readonly<Record<string, Argument>>;
export type Values<Of extends Arguments> = {
  readonly [Name in keyof Of]: Of[Name] extends { readonly required: true }
    ? Exclude<ReturnType<Of[Name]["read"]>, undefined>
    : ReturnType<Of[Name]["read"]>;
};

/** What a prompt may say of the server and the client. */
export interface Surroundings {
  readonly noPublish: boolean;
  readonly sandbox: boolean;
  readonly sandboxSeconds: number;
  /** The server asks the user before every order, so that the model need not. */
  readonly asksUser: boolean;
  /** How long the client may wait in one call. */
  readonly maxWaitSeconds: number;
}

export interface Prompt<Of extends Arguments = Arguments> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Clients ask for them in this order. */
  readonly arguments: Of;
  /** `text` is that of one user message. A method, so that prompts of different arguments fit in one list. */
  write(values: Values<Of>, on: Surroundings): { readonly description: string; readonly text: string };
}

/** Binds the types of the arguments to those of `write`. */
export function definePrompt<const Of extends Arguments>(prompt: Prompt<Of>): Prompt<Of> {
  return prompt;
}

/** The arguments' values, and what is wrong with some of them. Clients send blanks for fields left empty. */
export function readArguments({ arguments: known }: Prompt, given: Readonly<Record<string, string>>) {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { required, read, allowed, absent }] of Object.entries(known)) {
    const text = (given[name] ?? "").trim();
    const damage = describeDamage(text);
    if (damage !== undefined) {
      problems.push(`${name} ${damage}`);
      continue;
    }
    const isAbsent = text === "" || text.toLowerCase() === absent;
    values[name] = isAbsent ? undefined : read(text);
    if (values[name] === undefined && (required || !isAbsent))
      problems.push(`${name}: must be ${allowed}; got ${isAbsent ? "nothing" : quote(text, 60)}`);
  }
  return { values, problems };
}
