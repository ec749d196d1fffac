// The process and its computer as the commands see them. cli.ts makes it; tests make their own.

import type { Readable, Writable } from "node:stream";
import type { Clock } from "../clock.ts";
import type { Environment } from "../config.ts";

type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly hasColors?: () => boolean;
};

export interface Host {
  readonly input: Readable & {
    readonly isTTY?: boolean;
    readonly setRawMode?: (isRaw: boolean) => unknown;
  };
  readonly output: Output;
  /** The stream for progress, questions and failures. */
  readonly errors: Output;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** The folder that `~` stands for. Empty if the user has none, but for commands that need one. */
  readonly homeDir: string;
  /** The folder of the project, if there is one. */
  readonly workingDir: string;
  /** The system's folder for temporary files, which it clears by itself. */
  readonly temporaryDir: string;
  /** The path of the Node.js that runs this, and its version. */
  readonly node: string;
  readonly nodeVersion: string;
  /** The folder of this server's files. */
  readonly files: string;
  /** True if npx can start this server. */
  readonly isOnNpm: boolean;
  readonly clock: Clock;
  /** Aborts when the user or the system ends the process. */
  readonly interrupted: AbortSignal;
  /** Aborts when they do so a second time. */
  readonly interruptedAgain: AbortSignal;
}
