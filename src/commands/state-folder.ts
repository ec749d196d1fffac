// Where the journal is kept unless FACELESS_STATE_DIR says otherwise.

import { platform } from "node:os";
import envPaths from "env-paths";

/** The platform's folder for state. */
export function stateFolder(): string {
  const { data, log } = envPaths("faceless-video-mcp", { suffix: "" });
  // On Linux, env-paths' folder for logs is the state folder of the XDG specification.
  return platform() === "linux" ? log : data;
}
