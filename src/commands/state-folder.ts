// Where the journal lives unless the person says otherwise.

import { platform } from "node:os";
import envPaths from "env-paths";

/** The platform's folder for state. */
export function stateFolder(): string {
  const { data, log } = envPaths("faceless-video-mcp", { suffix: "" });
  // On Linux what env-paths names for logs is the state folder of the XDG specification.
  return platform() === "linux" ? log : data;
}
