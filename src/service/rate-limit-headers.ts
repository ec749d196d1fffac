// What X-RateLimit-Reset and Retry-After mean, in milliseconds from now. The service leaves the unit of Reset open: it is read
// by magnitude, against the answer's own Date header, and by comparing two answers. Anything malformed is undefined.

/** Names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface AnswerTime {
  nowMs: number;
  /** The answer's Date header; the local clock stands in, but may be minutes off. */
  date: string;
}

export interface ResetReading {
  inMs: number;
  /** False while a bare count might be seconds or milliseconds. */
  certain: boolean;
}

export interface ResetReader {
  read(raw: string, at: AnswerTime): ResetReading | undefined;
}

const MAX_MS = 24 * 3_600_000;
const EPOCH_MS_FROM = 1e11;
const EPOCH_SECONDS_FROM = 1e9;
// No window of seconds is that long, as far as a single sample can tell.
const SECONDS_UP_TO = 7_200;
const COUNT = /^\d{1,16}(?:\.\d+)?$/;

/** Keeps the last count and the unit learnt: one reader for a process. */
export function createResetReader(): ResetReader {
  let unitIsSeconds: boolean | undefined;
  let sample: { count: number; atMs: number } | undefined;

  function compare(count: number, atMs: number): void {
    const fell = sample === undefined ? 0 : sample.count - count;
    const dtMs = sample === undefined ? 0 : atMs - sample.atMs;
    // Answers may arrive out of step with the server's clock by more than a short dt, so seconds need a longer one. Seconds
    // can't pass for milliseconds but the other way round they can, by a rare chance: milliseconds have the last word.
    if (dtMs >= 100 && Math.abs(fell - dtMs) <= 0.3 * dtMs) unitIsSeconds = false;
    else if (dtMs >= 1_000 && fell >= 1 && Math.abs(fell - dtMs / 1000) <= 1.5) unitIsSeconds ??= true;
    // A sample stays until it is old enough to judge by, or its window is over.
    if (sample === undefined || fell < 0 || dtMs >= 1_000) sample = { count, atMs };
  }

  return {
    read(raw, at) {
      const text = raw.trim();
      if (text === "") return undefined;
      const serverNowMs = parseDate(at.date) ?? at.nowMs;
      if (!COUNT.test(text)) {
        const untilMs = parseDate(text);
        const inMs = untilMs === undefined ? parseGoDuration(text) : untilMs - serverNowMs;
        return inMs === undefined ? undefined : { inMs: capped(inMs), certain: true };
      }
      const count = Number(text);
      if (count >= EPOCH_MS_FROM) return { inMs: capped(count - serverNowMs), certain: true };
      if (count >= EPOCH_SECONDS_FROM) return { inMs: capped(1000 * count - serverNowMs), certain: true };
      compare(count, at.nowMs);
      const inSeconds = unitIsSeconds ?? count <= SECONDS_UP_TO;
      return { inMs: capped(inSeconds ? 1000 * count : count), certain: unitIsSeconds !== undefined };
    },
  };
}

/** Retry-After: seconds or an HTTP date (RFC 9110), which is held against the answer's own Date. */
export function readRetryAfterMs(headers: AnswerHeaders, nowMs: number): number | undefined {
  const text = headerValue(headers["retry-after"]).trim();
  if (COUNT.test(text)) return capped(1000 * Number(text));
  const untilMs = parseDate(text);
  const serverNowMs = parseDate(headerValue(headers["date"])) ?? nowMs;
  return untilMs === undefined ? undefined : capped(untilMs - serverNowMs);
}

/** The first of a header that came several times; empty where none came, as if it were malformed. */
export function headerValue(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

function capped(ms: number): number {
  return Math.min(MAX_MS, Math.max(0, ms));
}

/** And its obsolete form: `Friday, 20-Nov-26 09:00:10 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/;

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
  if (!/^(?:\d{1,16}(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-zµ]+)/g))
    ms += Number(count) * (GO_UNITS.get(unit ?? "") ?? 0);
  return ms;
}
