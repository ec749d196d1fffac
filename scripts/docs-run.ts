// Runs the commands of this program that the documents give, each in an empty home folder: those that need no account,
// no port and no other program. Needs `npm run build`.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRAM = join(ROOT, "dist/bin.cjs");
/** The forms in which a document starts this program. */
const START =
  /(?:node (?:dist\/bin\.cjs|"\$HOME\/\.faceless-video-mcp\/app\/bin\.cjs")|cd ~; npx -y faceless-video-mcp|^faceless(?:-video-mcp)?|npm run(?= demo)) ([^`|;&>#\n]+)/gm;
/** `doctor` finds no entry in an empty home. */
const FINE: Readonly<Record<string, readonly number[]>> = { doctor: [1] };
const RUNS = /^(?:doctor|config|history|demo|call|help|version|--help|--version)\b/;
const EXAMPLES: Readonly<Record<string, string>> = {
  CLIENT: "cursor",
  TOOL: "list_videos",
};
const LIMIT_MS = 120_000;

/** The arguments of every command in these texts that can run here. */
export function runnableCommands(texts: readonly string[]): string[] {
  const found = texts.flatMap((text) => [...text.matchAll(START)].map(([, words = ""]) => words.trim()));
  const filled = found.map((words) => words.replace(/\b[A-Z]{4,}\b/g, (word) => EXAMPLES[word] ?? word));
  return [...new Set(filled)].filter((words) => RUNS.test(words) && !/--ARGUMENT|…/.test(words));
}

/** A sentence about each command that didn't end well. */
export function runCommands(commands: readonly string[]): string[] {
  if (!existsSync(PROGRAM)) return ["dist/bin.cjs is missing: npm run build"];
  return commands.flatMap((words) => {
    const home = mkdtempSync(join(tmpdir(), "faceless-docs-"));
    writeFileSync(join(home, "topic.txt"), "Every river is secretly salty. [a clear river]\n");
    writeFileSync(join(home, "videos.csv"), "topic,duration\nEvery river is secretly salty.,10\n");
    // `call` needs a service.
    const sandboxed = /^call \w/.test(words) ? `${words} --sandbox` : words;
    const { status, stdout, stderr } = spawnSync("sh", ["-c", `"$NODE" "$PROGRAM" ${sandboxed}`], {
      cwd: home,
      env: {
        PATH: dirname(process.execPath),
        HOME: home,
        NODE: process.execPath,
        PROGRAM,
        TMPDIR: home,
        FACELESS_SANDBOX_SECONDS: "1",
      },
      encoding: "utf8",
      timeout: LIMIT_MS,
    });
    rmSync(home, { recursive: true, force: true });
    const [command = ""] = words.split(" ", 1);
    const isFine = status === 0 || FINE[command]?.includes(status ?? -1) === true;
    return isFine && stdout !== "" ? [] : [`${words}: exit ${status}, ${stdout}${stderr}`];
  });
}
