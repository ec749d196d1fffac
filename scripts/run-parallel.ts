// tsx scripts/run-parallel.ts NAME...: runs scripts of package.json at the same time. Each is one command.
// `check:` names all scripts that begin with it. Prints the output of each script when it has ended, that of
// the last one as it comes. Fails if any of them fails.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import manifest from "../package.json" with { type: "json" };

const names = process.argv.slice(2);
const scripts = Object.entries(manifest.scripts).filter(([script]) =>
  names.some((name) => (name.endsWith(":") ? script.startsWith(name) : script === name)),
);

const codes = await Promise.all(
  scripts.map(async ([script, command]) => {
    const isShown = script === names.at(-1);
    const child = spawn(isShown ? command : `${command} 2>&1`, {
      shell: true,
      stdio: ["ignore", isShown ? "inherit" : "pipe", "inherit"],
      // The type checker is written in Go, where collecting garbage took a third of the processor's time.
      env: { ...process.env, GOGC: "off" },
    });
    const ended: Promise<unknown[]> = once(child, "close");
    if (child.stdout !== null) process.stdout.write(await text(child.stdout));
    const [code] = await ended;
    if (code !== 0) process.stderr.write(`npm run ${script} failed.\n`);
    return code;
  }),
);
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
