// Keeps what the service says small enough to be shown to a model and kept in memory: the longest of its
// undocumented fields go first, then the ends of its lists. Pure. Imports nothing.

/** The largest result of a tool, in bytes of JSON. */
export const MAX_RESULT_BYTES = 50_000;
/** The largest job that is kept in memory, as `memoryOf` counts. The store keeps 2,000 of them. */
export const MAX_JOB_BYTES = 45_000;

/** Documented fields, and those that the bridge adds. An object among them can be left out all the same. */
const WANTED: ReadonlySet<string> = new Set(
  (
    "summary nextStep jobId status done resourceUri alreadyStarted followingEnded videoUrls audioUrl finalVideoUrl savedTo " +
    "unsafeLinksLeftOut partsLeftOut videos nextCursor topic createdAt ageSeconds publishedTo platform at url unknown " +
    "results ok alreadyPublished platforms"
  ).split(" "),
);

/** A field that may be left out. */
interface Part {
  readonly owner: object;
  readonly name: string;
  readonly bytes: number;
}

/** What was left out: how many fields, and how many items at the end of each list. */
export interface LeftOut {
  readonly fields: number;
  readonly items: ReadonlyMap<string, number>;
}

/**
 * The value itself if its JSON has at most `maxBytes`, else a copy that has. Wanted links, numbers and texts of
 * at most 500 characters stay: who reads links from the service limits their length.
 */
export function fitInto<Value extends Record<string, unknown>>(
  value: Value,
  maxBytes: number,
  sizeOf: (value: unknown) => number = bytesOf,
): { readonly value: Value; readonly leftOut?: LeftOut } {
  let excess = sizeOf(value) - maxBytes;
  if (excess <= 0) return { value };
  const copy = structuredClone(value);
  const lists = Object.entries<unknown>(copy).flatMap(([name, list]): [string, unknown[]][] =>
    WANTED.has(name) && Array.isArray(list) ? [[name, list]] : [],
  );
  const items = lists.flatMap(([, list]) => list.filter(isObject));
  const kept = lists.map(([name]) => name);
  const parts = [copy, ...items].flatMap((owner) => partsOf(owner, owner === copy ? kept : [], sizeOf));
  let fields = 0;
  for (const { owner, name, bytes } of parts.sort((a, b) => b.bytes - a.bytes)) {
    if (excess <= 0) break;
    Reflect.deleteProperty(owner, name);
    excess -= bytes;
    fields += 1;
  }
  // The last field of an object has taken no comma with it.
  excess = sizeOf(copy) - maxBytes;
  const ends = new Map<string, number>();
  for (const [name, list] of lists.sort(([, a], [, b]) => sizeOf(b) - sizeOf(a)))
    for (let count = 1; excess > 0 && list.length > 0; count += 1) {
      excess -= sizeOf(list.pop()) + 1;
      ends.set(name, count);
    }
  return { value: copy, leftOut: { fields, items: ends } };
}

/** The fields of an object that are not wanted, and all that are more than a text or a number, but `kept`. */
function partsOf(owner: object, kept: readonly string[], sizeOf: (value: unknown) => number): Part[] {
  return Object.entries<unknown>({ ...owner })
    .filter(
      ([name, value]) =>
        !kept.includes(name) && (!WANTED.has(name) || isObject(value) || isLongText(name, value)),
    )
    .map(([name, value]) => ({ owner, name, bytes: sizeOf({ [name]: value }) - 1 }));
}

/** No documented text but a link is as long. */
const isLongText = (name: string, value: unknown) =>
  typeof value === "string" && value.length > 500 && !/url$/i.test(name);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

/** About as many bytes as a value takes in memory: fields and items take more there than in JSON. */
export function memoryOf(value: unknown): number {
  const json = JSON.stringify(value) ?? "";
  return Buffer.byteLength(json) + 50 * json.replace(/[^,{[]+/g, "").length;
}
