// A tool is one declarative object in one file. The one way to run it: refuse bad input before anything is
// sent, run, check the result once. Knows neither the SDK nor how the service is reached.

import * as z from "zod";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { BridgeError, type Effect, notSent } from "../errors.ts";
import type { GenerateOnce } from "../idempotency/generate-once.ts";
import type { PublishOnce } from "../idempotency/publish-once.ts";
import type { JobBook } from "../jobs/job-book.ts";
import type { JobReader } from "../jobs/reader.ts";
import type { VideoSaver } from "../jobs/save-video.ts";
import { lazyValue } from "../lazy.ts";
import type { Consent, Question } from "./question.ts";
import type { Service } from "../service/client.ts";
import type { Job } from "../service/responses.ts";
import { MAX_RESULT_BYTES, type Truncation, truncateToFit } from "./result-size.ts";
import { inSentences, mapText, say, type Text, textFor, toolOrCommand } from "../sentences.ts";
import {
  capitalized,
  cleanServiceText,
  cutText,
  describeDamage,
  inFewWords,
  inWords,
  isNullWord,
  localTime,
  optionOf,
  quote,
} from "../text.ts";
import { mapFields, mapTexts, MAX_LEVELS } from "../value-at.ts";

/** All that a tool may use. Only `generateOnce` and `publishOnce` make paid and public requests. */
export interface ToolContext {
  readonly config: Pick<
    Config,
    | "sandbox"
    | "sandboxSeconds"
    | "readOnly"
    | "noPublish"
    | "confirmGenerate"
    | "confirmPublish"
    | "problems"
    | "saveDir"
  >;
  /** The operations that only read. `reader` reads jobs. */
  readonly service: Omit<Service, "generate" | "publish" | "getJob" | "close">;
  readonly jobs: Pick<JobBook, "get" | "readJournal" | "updateFromPage" | "adviseOnce">;
  readonly reader: Pick<JobReader, "read" | "readRecent" | "tryRead" | "explainNotFound">;
  readonly videoSaver: Pick<VideoSaver, "refresh">;
  readonly generateOnce: Pick<GenerateOnce, "run">;
  readonly publishOnce: Pick<PublishOnce, "run">;
  /** Returns why the journal lacks an outcome that only this process knows; undefined if it has them all. */
  readonly unrecorded: () => Unrecorded | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The name and version of the application that calls, as far as it gave them. */
  readonly client: string | undefined;
  /** How long a call may wait before this client gives up on it. */
  readonly maxWaitSeconds: number;
  /** Waits at most `forMs` for a job to end and returns its latest state. Reports progress to the caller. */
  waitForEnd(job: Job, forMs: number): Promise<Job>;
  /** Resolves to how the user agrees. Throws for any answer but yes, and to have the client ask. */
  askUser(question: () => Promise<Question>): Promise<Consent>;
}

/** A predicate whose subject is the journal, and the user's fix as a clause. */
interface Unrecorded {
  readonly problem: string;
  readonly fix: string;
}

/** Tells the caller in words what a result means. */
export interface Guidance {
  /** One or two sentences. */
  readonly summary: Text;
  /** Absent if nothing is left to do. */
  readonly nextStep?: Text | undefined;
}

/** What a call returns. */
export interface ToolResult<Fields = Record<string, unknown>> extends Guidance {
  readonly fields: Fields;
}

export interface ToolOutcome<Result> extends Guidance {
  readonly result: Result;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** The most important fact first: some clients cut it. */
  readonly description: Text;
  /** What a person reads of an argument, where the schema speaks to a model. */
  readonly help?: Readonly<Record<string, string>>;
  /** For clients in which this server asks the user before every order. */
  readonly descriptionIfAsked?: Text;
  /** Replaces the description on the sandbox, where nothing is paid, posted or slow. */
  readonly sandboxDescription?: string;
  readonly annotations: Record<`${"readOnly" | "destructive" | "idempotent" | "openWorld"}Hint`, boolean>;
  /** Says what a call that fails may have done. */
  readonly effect: Effect;
  /** True if it starts a job: clients that support it show a card and call the tool as a task. */
  readonly startsJob?: true;
  /** Strict if it has arguments. Made by the first call: tools/list is answered without it. */
  readonly input: () => Input;
  /** By argument: each converts other forms of a value to the schema's, and passes on what it can't read. */
  readonly coercions?: Readonly<Record<string, (value: unknown) => unknown>>;
  /** Arguments that take "null" and "none" as words. In the others these stand for no value. */
  readonly literalArguments?: readonly string[];
  /** Loose: the service's extra fields pass through. Begins with `guidanceFields()`. */
  readonly output: () => Output;
  // A method, so that tools of different inputs fit in one list.
  run(
    input: z.output<Input>,
    context: ToolContext,
  ): Promise<ToolOutcome<Omit<z.input<Output>, "summary" | "nextStep">>>;
}

/** The first fields of every result: some clients show the model only the structure, others only the text. */
export const guidanceFields = () => ({ summary: z.string(), nextStep: z.string().optional() });

/** The maximum number of problems that an error about arguments names. */
const MAX_PROBLEMS = 5;
/** The maximum number of characters of a value or name that an error about arguments quotes. */
const MAX_QUOTED_CHARS = 60;
/** The maximum length of summary and nextStep, which quote at most a few hundred per platform. */
const MAX_GUIDANCE_CHARS = 5_000;
/** The bytes that are reserved for sentences that are added to a summary. */
const RESERVED_BYTES = 500;
const SANDBOX_NOTICE = "This is a sandbox: sample clips, nothing was rendered, charged or posted.";

/** A result in this computer's time, of a size that a model can read. Its fields have the guidance, too. */
export function toResult(guidance: Guidance, result: object, notice?: string): ToolResult {
  const [told, nextStep] = [cut(guidance.summary), cut(guidance.nextStep ?? "")];
  const make = (fields: object, truncated?: string): ToolResult => {
    const summary = inSentences(told, truncated, notice);
    return { summary, nextStep, fields: structureOf({ summary, nextStep, fields }) };
  };
  const whole = make(result);
  const json = JSON.stringify(whole.fields);
  const maxBytes = MAX_RESULT_BYTES - RESERVED_BYTES;
  if (!TIME_IN_JSON.test(json) && Buffer.byteLength(json) <= maxBytes) return whole;
  const { value, truncation } = truncateToFit(inLocalTime(whole.fields), maxBytes);
  return make(value, truncation && describeTruncation(truncation));
}

/** A result as a model reads it: its summary and next step first. No field of the service speaks in their place. */
export function structureOf({ summary, nextStep = "", fields }: ToolResult<object>): Record<string, unknown> {
  const [told, next] = [textFor("model", summary), textFor("model", nextStep)];
  const guidance = next === "" ? { summary: told } : { summary: told, nextStep: next };
  // Spreads take thirty times as long.
  return Object.assign({}, guidance, fields, guidance);
}

function cut(text: Text): Text {
  return mapText(text, (words) => cutText(words, MAX_GUIDANCE_CHARS));
}

/** Converts the service's times, in whatever field they are, to this computer's. */
function inLocalTime(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const convert = (text: string) => (TIME.test(text) ? localTime(Date.parse(text)) : text);
  return mapFields(result, (value, name) =>
    name === "nextCursor" ? value : mapTexts(value, convert, MAX_LEVELS - 1),
  );
}

/** Found wherever a text or name begins like a time, for a result that needs no conversion at all. */
const TIME_IN_JSON = /"\d{4}-\d\d-\d\dT/;
/** A whole time of ISO 8601, with an offset and a month, day, hour and minute that exist. */
const TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

function describeTruncation(truncation: Truncation): string {
  const ends = Array.from(truncation, ([list, count]) => `the last ${count} of ${list}`);
  const which = ends.length === 0 ? "" : `, such as ${inWords(ends)}`;
  const hint = truncation.has("videos") ? " A smaller limit shows them." : "";
  return `The service's answer was too long, so a part of it was left out${which}.${hint}`;
}

/** Binds the types of the schemas to those of `run`. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  return { ...tool, input: lazyValue(tool.input), output: lazyValue(tool.output) };
}

/** Runs a tool on unchecked arguments. Throws a BridgeError for bad input, and whatever `run` throws. */
export async function runTool<Output extends z.ZodObject>(
  tool: Tool<z.ZodObject, Output>,
  args: unknown,
  context: ToolContext,
): Promise<ToolResult<z.output<Output>>> {
  const { input, ignored } = parseArguments(tool, readArguments(tool, args ?? {}));
  const were = ignored.length === 1 ? "was" : "were";
  const describeJournal = () => tool.effect !== "reads" && describeUnrecorded(context.unrecorded());
  try {
    const ran = await tool.run(input, context);
    const summary = inSentences(
      ran.summary,
      describeJournal(),
      ignored.length > 0 &&
        say`${nameArguments(ignored)} ${were} ignored: ${toolOrCommand(tool.name)} has no such [argument|option].`,
    );
    // Only once, since it would otherwise stand in every result of a chat.
    const notice = context.config.sandbox && context.jobs.adviseOnce("sandbox") ? SANDBOX_NOTICE : undefined;
    const returned = toResult({ summary, nextStep: ran.nextStep }, ran.result, notice);
    return Object.assign(returned, { fields: tool.output().parse(returned.fields) });
  } catch (error) {
    const unrecorded = describeJournal();
    // What wasn't sent has no outcome that the journal could lack.
    if (!unrecorded || !(error instanceof BridgeError) || error.facts.outcome === "not_sent") throw error;
    throw new BridgeError({ ...error.facts, journal: inSentences(error.facts.journal, unrecorded) }, error);
  }
}

/** Says that the journal, where other processes look, lacks the outcome of a call. */
export function describeUnrecorded(unrecorded: Unrecorded | undefined): Text | undefined {
  if (unrecorded === undefined) return undefined;
  const { problem, fix } = unrecorded;
  return inSentences(
    `The journal ${problem}, so it doesn't have this outcome yet. Keep this answer: a later call may not know it.`,
    say`[Tell the user: ${fix}|${capitalized(fix)}].`,
  );
}

/** Accepts what has one meaning: models write numbers as texts, lists of one, and null for no value. */
function readArguments({ coercions = {}, literalArguments = [], input }: Tool, args: unknown): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const { shape } = input();
  const given: [string, unknown][] = [];
  for (const [name, written] of Object.entries<unknown>({ ...args })) {
    const isKnown = Object.hasOwn(shape, name);
    if (!isKnown && ADDED_BY_CLIENTS.test(name)) continue;
    if (isKnown) refuseDamage(name, written);
    const isOne = Array.isArray(written) && written.length === 1 && !(shape[name] instanceof z.ZodArray);
    const value: unknown = isOne ? written[0] : written;
    if (isAbsent(value) || (isNullWord(value) && !literalArguments.includes(name))) continue;
    given.push([name, Object.hasOwn(coercions, name) ? coercions[name]?.(value) : value]);
  }
  return Object.fromEntries(given);
}

/** What clients such as Cline and n8n add to each call by themselves: the model can't leave it out. */
const ADDED_BY_CLIENTS = /^(?:_.*|task_progress|toolCallId|sessionId|action|chatInput|tool)$/s;

/** Checks the arguments. A tool that only reads ignores unknown ones, unless a known one is wrong, too. */
function parseArguments<Input extends z.ZodObject>(tool: Tool<Input>, given: unknown) {
  const schema = tool.input();
  const isKnown = (name: string) => Object.hasOwn(schema.shape, name);
  const fields: object = typeof given === "object" && given !== null ? given : {};
  const ignored = tool.effect === "reads" ? Object.keys(fields).filter((name) => !isKnown(name)) : [];
  const parse = (args: unknown) => schema.safeParse(args, { reportInput: true });
  const known = () => Object.fromEntries(Object.entries(fields).filter(([name]) => isKnown(name)));
  const parsed = parse(ignored.length > 0 ? known() : given);
  if (!parsed.success) throw inputError(tool, parse(given).error ?? parsed.error);
  return { input: parsed.data, ignored };
}

/** Refuses damaged text, which would speak other words than the user's, or post to another account. */
function refuseDamage(name: string, value: unknown): void {
  for (const text of Array.isArray(value) ? value : [value]) {
    const problem = typeof text === "string" ? describeDamage(text) : undefined;
    if (problem === undefined) continue;
    throw invalidInput(
      say`[The argument ${name}|${optionOf(name)}] ${problem}.`,
      "Call again with the whole text as it was meant, in UTF-8.",
    );
  }
}

function nameArguments(names: readonly string[]): string {
  return inFewWords(names.map((name) => quote(name, MAX_QUOTED_CHARS)));
}

function isAbsent(value: unknown): boolean {
  return value === null || (typeof value === "string" && value.trim() === "");
}

const ARGUMENTS = say`[arguments|options]`;

function inputError(tool: Pick<Tool, "name" | "input" | "effect">, error: z.ZodError): BridgeError {
  const known = Object.keys(tool.input().shape);
  const unknown = error.issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? issue.keys : []));
  const are = unknown.length === 1 ? say`is not an [argument|option]` : say`are not [arguments|options]`;
  const all = say`[${known.join(", ")}|${known.map(optionOf).join(", ")}]`;
  const problems = error.issues.slice(0, MAX_PROBLEMS).map((issue) => {
    if (issue.code === "unrecognized_keys")
      return say`${nameArguments(unknown)} ${are} of ${toolOrCommand(tool.name)} (its ${ARGUMENTS}: ${all})`;
    // An element of a list is shown by its value.
    const name = issue.path[0] === undefined ? undefined : String(issue.path[0]);
    const where = name === undefined ? ARGUMENTS : say`[${name}|${optionOf(name)}]`;
    return issue.input === undefined ? say`${where} is missing` : say`${where}: ${describeIssue(issue)}`;
  });
  const more = error.issues.length > MAX_PROBLEMS ? [`and ${error.issues.length - MAX_PROBLEMS} more`] : [];
  const listed = [...problems, ...more].reduce((one, other) => say`${one}; ${other}`);
  return invalidInput(
    say`The ${ARGUMENTS} of ${toolOrCommand(tool.name)} can't be used: ${listed}.`,
    adviceFor(error.issues, tool.effect),
  );
}

/** The error of arguments with which the same call would fail again. */
export function invalidInput(message: Text, nextStep: Text): BridgeError {
  return notSent("invalid_input", message, nextStep, { failsAgain: true });
}

/** The user is asked only about a wish: the next call must not pay for or post what they did not mean. */
function adviceFor(issues: readonly z.core.$ZodIssue[], effect: Effect): Text {
  if (effect !== "reads" && issues.some(({ code }) => code === "unrecognized_keys"))
    return say`If one of the listed ${ARGUMENTS} means the same, use that. Anything else is not possible here: [tell the user, and |]call without it only if [they|you] still want the rest.`;
  if (effect !== "reads" && issues.some(isWish))
    return say`[Tell the user what is allowed and let them choose;|Choose what is allowed, and] call again with that.`;
  const isOne =
    issues.length === 1 &&
    issues.every((issue) => issue.code !== "unrecognized_keys" || issue.keys.length === 1);
  return `Correct ${isOne ? "it" : "them"}, then call again.`;
}

/** True if the value has the right form, but isn't one of the possible ones. */
function isWish({ code, input }: z.core.$ZodIssue): boolean {
  const isNumber = typeof input === "number" && (code === "too_small" || code === "too_big");
  return isNumber || (typeof input === "string" && (code === "invalid_value" || code === "custom"));
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  array: "a list",
  object: "an object",
};

/** Describes a problem in our own words, with the beginning of the value. */
function describeIssue(issue: z.core.$ZodIssue): string {
  const value = issue.input;
  const isText = typeof value === "string";
  // JSON of any depth could not be written.
  const short = () => JSON.stringify(mapTexts(value, (text) => cutText(text, MAX_QUOTED_CHARS), 3));
  const shown = `${isText ? quote(value, MAX_QUOTED_CHARS) : cleanServiceText(short(), MAX_QUOTED_CHARS)} `;
  const isOwnMessage = !issue.message.startsWith("Invalid input");
  if (issue.code === "invalid_type" && !isOwnMessage)
    return `${shown}must be ${TYPES[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value") return `${shown}must be one of ${issue.values.map(String).join(", ")}`;
  return `${shown}${issue.message}`;
}
