// The law for what a service has carried out, and for the codes that callers were given. Pure. Times are
// milliseconds of performance.now().

import type { Charge } from "./paying-service.ts";

/** How far ahead the servers' clocks are from a moment on. No request is under way at that moment. */
export interface ClockSetting {
  readonly atMs: number;
  /** The time that has passed on all their clocks. */
  readonly passedMs: number;
  /** How far the wall clock alone was set. */
  readonly setMs: number;
}

/** An answer that gave a code. */
export interface Offer {
  readonly code: string;
  /** The charges that the call asked for. */
  readonly asked: readonly string[];
  /** The charges that the code allows again. */
  readonly whats: readonly string[];
  readonly calledAtMs: number;
  readonly answeredAtMs: number;
}

export interface Happened {
  readonly charges: readonly Charge[];
  readonly offers: readonly Offer[];
  /** Calls with a code. */
  readonly uses: readonly { readonly offer: Offer; readonly calledAtMs: number }[];
  /** The oldest first. */
  readonly clocks: readonly ClockSetting[];
}

/** How long an order guards against the same one. */
const GUARD_MS = 20 * 3_600_000;
const UNDER_WAY_MS = 6 * 60_000;
/** The difference allowed between the clock readings of the service and a server. */
const SLACK_MS = 2_000;

export function violations(happened: Happened): string[] {
  const { charges, offers } = happened;
  const twice = charges.filter((charge, index) => {
    const guards = charges.slice(0, index).filter((earlier) => forbids(earlier, charge, happened));
    return guards.length > 0 && !isConfirmed(charge, guards, happened);
  });
  return [
    ...twice.map(({ what, receivedAtMs }) => `${what} was carried out again at ${Math.round(receivedAtMs)}`),
    ...offers
      .filter((offer) => isEarly(offer, happened))
      .map(({ code }) => `the code ${code} was given while a request was under way`),
  ];
}

/** True if a charge forbids a later one, unless the caller confirms it. */
function forbids(earlier: Charge, later: Charge, { clocks }: Happened): boolean {
  if (earlier.what !== later.what || earlier.status === "failed") return false;
  const ageMs = wallMs(later.receivedAtMs, clocks) - wallMs(earlier.receivedAtMs, clocks);
  return earlier.status === "posted" || ageMs + SLACK_MS < GUARD_MS;
}

/** True if a call had a code that was given when all of the guards were known. */
function isConfirmed(charge: Charge, guards: readonly Charge[], { uses }: Happened): boolean {
  return uses.some(
    ({ offer, calledAtMs }) =>
      calledAtMs <= charge.receivedAtMs &&
      offer.whats.includes(charge.what) &&
      guards.every(({ receivedAtMs }) => receivedAtMs <= offer.answeredAtMs),
  );
}

/** True if a code was given for what has had no outcome for less than six minutes. */
function isEarly({ asked, calledAtMs, answeredAtMs }: Offer, { charges, clocks }: Happened): boolean {
  return charges.some(
    ({ what, receivedAtMs, endedAtMs }) =>
      asked.includes(what) &&
      receivedAtMs < calledAtMs &&
      endedAtMs > answeredAtMs &&
      Math.abs(wallMs(answeredAtMs, clocks) - wallMs(receivedAtMs, clocks)) + SLACK_MS < UNDER_WAY_MS,
  );
}

function wallMs(ms: number, clocks: readonly ClockSetting[]): number {
  const { passedMs = 0, setMs = 0 } = clocks.findLast(({ atMs }) => atMs <= ms) ?? {};
  return ms + passedMs + setMs;
}
