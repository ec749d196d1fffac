// Runs the commands of this program that the documents give, each in an empty home folder: those that need no account
// and no other program than jq. Needs `npm run build`.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const PROGRAM = join(ROOT, "dist/bin.cjs");
/** The forms in which a document starts this program. */
const START =
  /(?:node (?:dist\/bin\.cjs|"\$HOME\/\.faceless-video-mcp\/app\/bin\.cjs")|cd ~; npx -y faceless-video-mcp|^faceless(?:-video-mcp)?|npm run(?= demo)) ([^`|;&>#\n]+)/gm;
/** The exit codes other than 0: SETTINGS.md says that `doctor` fails without a key, SCRIPTS.md what `call` does. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  "doctor --client cursor": 1,
  doctor: 1,
  "call list_videos": 1,
  "call no_such_tool": 2,
};
const RUNS = /^(?:doctor|config|history|demo|call|help|version|--help|--version)\b/;
const EXAMPLES: Readonly<Record<string, string>> = {
  CLIENT: "cursor",
  TOOL: "list_videos",
};
const TOPIC = "Every river is secretly salty. [a clear river]\n";
const LIMIT_MS = 120_000;

/** The arguments of every command in these texts that can run here. */
export function runnableCommands(texts: readonly string[]): string[] {
  const found = texts.flatMap((text) => [...text.matchAll(START)].map(([, words = ""]) => words.trim()));
  const filled = found.map((words) => words.replace(/\b[A-Z]{4,}\b/g, (word) => EXAMPLES[word] ?? word));
  const shown = filled.filter((words) => RUNS.test(words) && !/--ARGUMENT|…/.test(words));
  return [...new Set([...shown, ...Object.keys(EXIT_CODES)])];
}

/** A sentence about each command that didn't end well. */
export function runCommands(commands: readonly string[], csv: string): string[] {
  return commands.flatMap((words) => {
    const home = mkdtempSync(join(tmpdir(), "faceless-docs-"));
    writeFileSync(join(home, "topic.txt"), TOPIC);
    writeFileSync(join(home, "videos.csv"), csv);
    const expected = EXIT_CODES[words] ?? 0;
    // `call` needs a service.
    const sandboxed = expected === 0 && /^call \w/.test(words) ? `${words} --sandbox` : words;
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
    const isFine = status === expected && stdout + stderr !== "";
    return isFine ? [] : [`${words}: exit ${status}, not ${expected}: ${stdout}${stderr}`];
  });
}

/** What each run of the daily script does, in this order, by its document. */
const DAILY: readonly (readonly [words: string, status: number, shown: RegExp])[] = [
  ["mkae", 2, /^Usage: video\.sh make or video\.sh post\n$/],
  ["post", 1, /^There is no video for [-\d]+, so nothing was posted\.\n$/],
  ["make", 0, /Ready: /],
  ["make", 0, /^$/],
  ["post", 0, /TikTok: posted /],
  ["post", 0, /TikTok: posted before /],
];

/** A sentence about each run of the daily script, against a sandbox of its own, that didn't end as it should. */
export async function runDaily(script: string): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), "faceless-docs-"));
  const sandbox = spawn(process.execPath, [PROGRAM, "sandbox"], {
    env: { HOME: home, FACELESS_SANDBOX_SECONDS: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const greeting: readonly unknown[] = await once(sandbox.stdout, "data");
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(greeting[0])) ?? [];
    const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, HOME: home, TZ: "UTC" };
    const day = new Date().toISOString().slice(0, 10);
    mkdirSync(join(home, "topics"));
    writeFileSync(join(home, "topics", `${day}.txt`), TOPIC);
    writeFileSync(join(home, "settings"), `FACELESS_BASE_URL=${url}\nFACELESS_API_KEY=fl_sandbox\n`);
    writeFileSync(join(home, "video.sh"), script, { mode: 0o700 });
    spawnSync(process.execPath, [PROGRAM, "config", "other", "--installed"], { env });
    return DAILY.flatMap(([words, expected, shown]) => {
      const options = { env, encoding: "utf8", timeout: LIMIT_MS } as const;
      const { status, stdout, stderr } = spawnSync(join(home, "video.sh"), [words], options);
      const isFine = status === expected && shown.test(stdout + stderr);
      return isFine ? [] : [`video.sh ${words}: exit ${status}, ${stdout}${stderr}`];
    });
  } finally {
    sandbox.kill();
    rmSync(home, { recursive: true, force: true });
  }
}
