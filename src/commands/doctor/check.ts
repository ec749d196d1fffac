// The result of one of doctor's checks.

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
