// Bundles the minimal server as ours is: CommonJS, minified, HTTP in a file of its own. Without what our build
// leaves out of the SDK, of zod and of undici.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const SOURCE = fileURLToPath(new URL("sdk-server.ts", import.meta.url));

/** Writes it into the folder, and returns its file. */
export async function bundleSdkServer(folder: string): Promise<string> {
  await build({
    input: { server: SOURCE },
    platform: "node",
    transform: { target: "node20" },
    output: { dir: folder, format: "cjs", entryFileNames: "[name].cjs", minify: true },
  });
  return join(folder, "server.cjs");
}
