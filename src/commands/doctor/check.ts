// The result of one of doctor's checks, and the computer that they look at.

import type { Environment } from "../../config.ts";

export interface Check {
  readonly name: string;
  /** `fail`: no video can be made. `warn`: one can, but something is wrong. */
  readonly status: "ok" | "warn" | "fail";
  /** What was found, without a full stop. */
  readonly detail: string;
  /** What to do, without a full stop. */
  readonly fix?: string;
}

/** The computer, and the terminal that doctor was started in. */
export interface Machine {
  readonly env: Environment;
  /** What `~` stands for. */
  readonly homeDir: string;
  /** The folder of the project, if there is one. */
  readonly workingDir: string;
  readonly platform: NodeJS.Platform;
}

const finding =
  (status: Check["status"]) =>
  (name: string, detail: string, fix: string): Check => ({ name, status, detail, fix });

export const pass = (name: string, detail: string): Check => ({ name, status: "ok", detail });
export const warn = finding("warn");
export const fail = finding("fail");
