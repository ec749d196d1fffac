// How long the parts of a call may take, in milliseconds, and how they add up. Imports nothing.

const MINUTE_MS = 60_000;

/** A read, with all its attempts and the waits between them. */
export const READ_MS = 20_000;

/** The checks, before a paid or public request, whether it is needed and can succeed. */
export const CHECK_BEFORE_MS = 10_000;

/** A paid or public request, with the waits and checks before it. */
export const PAID_REQUEST_MS = 38_000;

/** The part of it that must be left to begin a POST: one that is cut short has an unknown outcome. */
export const MIN_POST_MS = 10_000;

/** The checks, after a paid or public request, what became of it or why it was refused. */
export const CHECK_AFTER_MS = 5_000;

/** Time that the timers of all these and the machine add. */
const MARGIN_MS = 2_000;

/** A whole call. Clients give up after a minute. */
export const CALL_MS = PAID_REQUEST_MS + CHECK_AFTER_MS + MARGIN_MS;

/** An answer that comes after the call's end is awaited for this long. */
export const LATE_ANSWER_MS = 5 * MINUTE_MS;

/** Whole minutes, since texts name them. After that, no process can still be waiting for the answer. */
export const UNDER_WAY_MS = Math.ceil((PAID_REQUEST_MS + LATE_ANSWER_MS) / MINUTE_MS) * MINUTE_MS;

/** A disk that takes longer counts as one that can't be read or written, so that the call ends in time. */
export const MAX_DISK_MS = 4_000;

/** A connection to the database of the journal, which may have to wake up first. */
export const MAX_CONNECT_MS = 8_000;
