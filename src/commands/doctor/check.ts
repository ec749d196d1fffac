// The result of one of doctor's checks, and errors of the system in words.

export interface Check {
  readonly name: string;
  /** `fail`: no video can be made. `warn`: one can, but something is wrong. */
  readonly status: "ok" | "warn" | "fail";
  /** What was found, without a full stop. */
  readonly detail: string;
  /** What to do, without a full stop. */
  readonly fix?: string;
}

const finding =
  (status: Check["status"]) =>
  (name: string, detail: string, fix: string): Check => ({ name, status, detail, fix });

export const pass = (name: string, detail: string): Check => ({ name, status: "ok", detail });
export const warn = finding("warn");
export const fail = finding("fail");

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOTDIR: "a part of its path is a file",
  EISDIR: "it is a folder",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
};

/** In words, with the system's code. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
  return REASONS[code] === undefined ? code : `${REASONS[code]} (${code})`;
}
