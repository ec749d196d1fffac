// What a check of doctor says, and the deadline that each one has. Knows nothing of what is checked.

import { setTimeout as sleep } from "node:timers/promises";

export type CheckStatus = "ok" | "warn" | "fail" | "skipped";

export interface Check {
  readonly name: string;
  /** `fail`: no video can be made. `warn`: one can, but something is not as it should be. */
  readonly status: CheckStatus;
  /** What was found, without a full stop. */
  readonly detail: string;
  /** How to mend it, without a full stop. */
  readonly fix?: string;
}

export const pass = (name: string, detail: string): Check => ({ name, status: "ok", detail });

export const warn = (name: string, detail: string, fix: string): Check => ({
  name,
  status: "warn",
  detail,
  fix,
});

export const fail = (name: string, detail: string, fix: string): Check => ({
  name,
  status: "fail",
  detail,
  fix,
});

export const skip = (name: string, detail: string): Check => ({ name, status: "skipped", detail });

/** What `work` gives within the time, else `late`. The work itself is left to end as it may. */
export async function within<Result, Late>(
  ms: number,
  work: Promise<Result>,
  late: Late,
): Promise<Result | Late> {
  const end = new AbortController();
  try {
    return await Promise.race([work, sleep(ms, late, { signal: end.signal })]);
  } finally {
    end.abort();
  }
}

/** Such as ECONNREFUSED; undefined where the error carries none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
