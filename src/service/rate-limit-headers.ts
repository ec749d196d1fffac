// What X-RateLimit-Reset and Retry-After mean, in milliseconds from now. The service leaves the unit of Reset open: it is
// inferred from the magnitude, the answer's own Date header and a second answer. Anything malformed is undefined.

/** Names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface AnswerTime {
  /** The answer's Date header; empty where it has none. */
  readonly date: string;
  /** Milliseconds since the epoch, for an answer without a date; may be minutes off. */
  readonly nowMs: number;
  /** When the answer came, to compare it with another. */
  readonly monotonicMs: number;
}

export interface ResetReading {
  readonly inMs: number;
  /** False while a bare number might be seconds or milliseconds. */
  readonly certain: boolean;
}

const MAX_MS = 24 * 3_600_000;
const MIN_EPOCH_MS = 1e11;
const MIN_EPOCH_SECONDS = 1e9;
/** As far as one answer can tell, no window is longer than this many seconds. */
const MAX_SECONDS = 7_200;
const NUMBER = /^\d{1,16}(?:\.\d{1,16})?$/;

/** Reads X-RateLimit-Reset. One for a process, as it compares answers to find the unit of a bare number. */
export class ResetReader {
  #unit: "seconds" | "milliseconds" | undefined;
  #sample: { readonly count: number; readonly atMs: number } | undefined;

  read(raw: string, at: AnswerTime): ResetReading | undefined {
    const text = raw.trim();
    if (text === "") return undefined;
    const serverNowMs = parseDate(at.date) ?? at.nowMs;
    if (!NUMBER.test(text)) {
      const untilMs = parseDate(text);
      const inMs = untilMs === undefined ? parseGoDuration(text) : untilMs - serverNowMs;
      return inMs === undefined ? undefined : { inMs: bounded(inMs), certain: true };
    }
    const count = Number(text);
    if (count >= MIN_EPOCH_MS) return { inMs: bounded(count - serverNowMs), certain: true };
    if (count >= MIN_EPOCH_SECONDS) return { inMs: bounded(1000 * count - serverNowMs), certain: true };
    this.#compare(count, at.monotonicMs);
    const isSeconds = this.#unit === undefined ? count <= MAX_SECONDS : this.#unit === "seconds";
    return { inMs: bounded(isSeconds ? 1000 * count : count), certain: this.#unit !== undefined };
  }

  #compare(count: number, atMs: number): void {
    const fell = this.#sample === undefined ? 0 : this.#sample.count - count;
    const elapsedMs = this.#sample === undefined ? 0 : atMs - this.#sample.atMs;
    // Answers may be out of step with the server's clock by more than a short time, so seconds need a longer one. Seconds
    // can't pass for milliseconds, but by a rare chance milliseconds can pass for seconds: they have the last word.
    if (elapsedMs >= 100 && Math.abs(fell - elapsedMs) <= 0.3 * elapsedMs) this.#unit = "milliseconds";
    else if (elapsedMs >= 1_000 && fell >= 1 && Math.abs(fell - elapsedMs / 1000) <= 1.5)
      this.#unit ??= "seconds";
    // A sample stays until it is old enough to judge by, or its window is over.
    if (this.#sample === undefined || fell < 0 || elapsedMs >= 1_000) this.#sample = { count, atMs };
  }
}

/** Retry-After: seconds or an HTTP date (RFC 9110), which is compared with the answer's own Date. `nowMs` is since the epoch. */
export function readRetryAfterMs(headers: AnswerHeaders, nowMs: number): number | undefined {
  const text = headerValue(headers["retry-after"]).trim();
  if (NUMBER.test(text)) return bounded(1000 * Number(text));
  const untilMs = parseDate(text);
  const serverNowMs = parseDate(headerValue(headers["date"])) ?? nowMs;
  return untilMs === undefined ? undefined : bounded(untilMs - serverNowMs);
}

/** The first value of a repeated header; empty where it is absent, as if it were malformed. */
export function headerValue(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

function bounded(ms: number): number {
  return Math.min(MAX_MS, Math.max(0, ms));
}

/** Also the obsolete form: `Friday, 20-Nov-26 09:00:10 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/;

// Date.parse alone takes "unit 7" for a day in July.
function parseDate(text: string): number | undefined {
  const iso = ISO_DATE.exec(text);
  if (iso === null && !HTTP_DATE.test(text)) return undefined;
  // A date without a zone would be read as local time; services mean UTC.
  const parsed = Date.parse(iso !== null && iso[1] === undefined ? `${text}Z` : text);
  return Number.isNaN(parsed) ? undefined : parsed;
}

const GO_UNITS = new Map([
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["ns", 1e-6],
]);

/** `6m0s`, `1h2m3.5s`, `850ms`. */
function parseGoDuration(text: string): number | undefined {
  if (!/^(?:\d{1,16}(?:\.\d{1,16})?(?:h|ms|m|s|us|µs|ns)){1,8}$/.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-zµ]+)/g))
    ms += Number(count) * (GO_UNITS.get(unit ?? "") ?? 0);
  return ms;
}
