// tsx .config/at-once.ts SCRIPT...: runs scripts of package.json at the same time. Prints the output of each
// when it has ended, that of the last one as it comes. Fails if any of them fails.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

const scripts = process.argv.slice(2);

const codes = await Promise.all(
  scripts.map(async (script) => {
    const isShown = script === scripts.at(-1);
    const child = spawn(`npm run --silent ${script} ${isShown ? "" : "2>&1"}`, {
      shell: true,
      stdio: ["ignore", isShown ? "inherit" : "pipe", "inherit"],
    });
    const ended = once(child, "close");
    if (child.stdout !== null) process.stdout.write(await text(child.stdout));
    const [code]: unknown[] = await ended;
    if (code !== 0) process.stderr.write(`npm run ${script} failed.\n`);
    return code;
  }),
);
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
