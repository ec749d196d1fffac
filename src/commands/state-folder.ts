// Where the journal is kept.

import { platform } from "node:os";
import envPaths from "env-paths";
import type { Config } from "../config.ts";

/** The platform's folder for state, unless the user named one or none. A sandbox's jobs are gone with it. */
export function stateFolder({ stateDir, sandbox }: Config): string | undefined {
  if (stateDir === false) return undefined;
  if (stateDir !== undefined || sandbox) return stateDir;
  const { data, log } = envPaths("faceless-video-mcp", { suffix: "" });
  // On Linux, env-paths' folder for logs is the state folder of the XDG specification.
  return platform() === "linux" ? log : data;
}
