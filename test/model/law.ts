// The law of the model, stated without the code that it judges: by what the service has carried out, by the
// journal's lines, and by what each process can know.

import type { Answer, CarriedOut, Line, ProcessState, Sent, State } from "./types.ts";

const UNDER_WAY_MS = 6 * 60_000;

/**
 * The service carries out a request as soon as it has it. Only this law sees what was carried
 * out, and it finds the same whichever of two requests comes first. The law: nothing is carried out twice
 * unless a code confirms it that was given when all of it was known, and no more videos are made than the
 * limit allows.
 */
export function carryOut(
  state: State,
  sent: Sent,
  maxGenerations = Infinity,
  isDenied = false,
): Partial<State> {
  const { entryId, keys, confirmed } = sent;
  const earlier = state.carriedOut.filter(
    (other) =>
      other.entryId === entryId ||
      (!other.isDenied &&
        !state.forgotten.includes(other.entryId) &&
        canKnow(state, sent, other) &&
        canKnow(state, other, sent)),
  );
  const again = earlier.filter(
    (other) =>
      isSame(sent, other) && !confirmed?.includes(other.entryId) && !other.confirmed?.includes(entryId),
  );
  const carriedOut = [...state.carriedOut, { entryId, keys, confirmed, isDenied }];
  const what = `${keys.join(" and ")} of ${callOf(sent)} carried out`;
  const how = confirmed === undefined ? "without a code" : "with a code that was given before that";
  if (again.length > 0)
    return {
      carriedOut,
      violation: `The service has ${what} after ${again.map(callOf).join(" and ")}, ${how}.`,
    };
  if (earlier.length >= maxGenerations)
    return { carriedOut, violation: `The service has ${what} beyond the limit of ${maxGenerations}.` };
  return { carriedOut };
}

/**
 * A call is answered. The law: no code is given for what is under way, which a request without an outcome is
 * while the wall clock shows a time that is less than six minutes away from it.
 */
export function answer(
  state: State,
  { read, unread }: ProcessState,
  { call, keys, code, decidedBy, failure }: Answer,
): State {
  if (failure !== undefined) return { ...state, violation: `${call} failed by itself: ${failure}` };
  if (code === undefined) return state;
  // A request counts once its line can be read: without its line it is not sent.
  const ended = unread.filter(({ outcome }) => outcome !== undefined);
  const entries = entriesOf([...read, ...state.files.lines, ...ended]);
  const same = entries.filter((entry) => keysOf(entry).some((key) => keys.includes(key)));
  if (keys.length > 0 && same.length === 0)
    return { ...state, violation: `${call} was held back, though nothing of the same request is known.` };
  const underWay = same.find(
    (entry) => !isKnown(entry) && Math.abs(state.wallMs - entry.atMs) < UNDER_WAY_MS,
  );
  const codes = { ...state.codes, [call]: { code, known: entries.map(({ id }) => id), madeOf: decidedBy } };
  if (underWay === undefined) return { ...state, codes };
  const violation = `${call} was given a code while the request of ${callOf({ entryId: underWay.id })} is under way.`;
  return { ...state, codes, violation };
}

/** A yes to a series lasts until an hour has passed without an order, by a clock that may be set. */
export function isSeriesOn(seriesMs: number | undefined, nowMs: number): boolean {
  return seriesMs !== undefined && Math.abs(nowMs - seriesMs) < 60 * 60_000;
}

/** The entries of these lines that guard against a repeat. */
export function entriesOf(lines: readonly Line[]): Line[] {
  const entries = new Map<string, Line>();
  for (const line of lines) {
    const known = entries.get(line.id) ?? line;
    entries.set(line.id, { ...(isKnown(known) ? known : line), ...(known.file && { file: known.file }) });
  }
  return [...entries.values()].filter(({ outcome }) => outcome !== "not_sent" && outcome !== "rejected");
}

/** True if the outcome of a request is known. */
function isKnown({ outcome = "" }: Line): boolean {
  return ["done", "rejected", "not_sent"].includes(outcome);
}

/** The topic or the platforms that an entry asked for, and the platforms that its results name. */
export function keysOf({
  arguments: { topic = "" } = {},
  id,
  platforms = [topic],
  results = [],
}: Line): string[] {
  const keys = [...platforms, ...results.map(({ platform }) => platform)];
  return processOf(id) === SANDBOX ? keys.map(inSandbox) : keys;
}

/** The name of the process that uses the sandbox. The others use the service. */
export const SANDBOX = "S";

/** A request in the sandbox is a different request. */
export function inSandbox(key: string): string {
  return `${key} in the sandbox`;
}

/** Where the service posts to: "all" stands for two platforms, and only its answer says which. */
export function postedOn(keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => (key === "all" ? ["a", "b"] : [key]));
}

/** True if a request asks for what another has carried out, as far as its process can tell. */
function isSame({ keys, seen }: Sent, other: CarriedOut): boolean {
  const names = seen.includes(`${other.entryId} done`) ? postedOn(other.keys) : [];
  return keys.some((key) => other.keys.includes(key) || names.includes(key));
}

/** Other processes know an entry of a removed folder only if they have read it. */
function canKnow(
  { lost }: State,
  { entryId, seen = [] }: Pick<Sent, "entryId"> & Partial<Sent>,
  other: CarriedOut | Sent,
): boolean {
  const isOwn = processOf(entryId) === processOf(other.entryId);
  return (
    isOwn || !lost.includes(other.entryId) || seen.some((entry) => entry.startsWith(`${other.entryId} `))
  );
}

/** The name of the process that makes a call, or has written an entry. */
export function processOf(name: string): string {
  return name.slice(0, 1);
}

function callOf({ entryId }: Pick<Sent, "entryId">): string {
  return entryId.replace(/-.*/, "");
}
