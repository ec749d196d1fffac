// Bugs planted in a copy of the source, one at a time. The random history must find each of them.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const MODULES = ["node_modules", "test/external/node_modules"];

interface Bug {
  /** What the server then does, as a clause. */
  readonly does: string;
  /** Changes of the source: the text, which stands there once, and what replaces it. */
  readonly changes: readonly (readonly [file: string, from: string, to: string])[];
}

const READER = "src/jobs/reader.ts";
const ELICITATION = "src/mcp/elicitation.ts";

const BUGS: readonly Bug[] = [
  {
    does: "sends though another process has recorded the same request before",
    changes: [
      [
        "src/idempotency/guard.ts",
        "const earlier = entriesAhead(entries, entry);",
        "const earlier = entriesAhead(entries, entry).filter((one) => matching.includes(one));",
      ],
    ],
  },
  {
    does: "takes a request whose outcome is unknown for one that was not sent",
    changes: [
      [
        "src/idempotency/journal.ts",
        'sandbox === isSandbox && outcome !== "rejected" && outcome !== "not_sent",',
        'sandbox === isSandbox && outcome === "done",',
      ],
    ],
  },
  {
    does: "goes on with a series after a no",
    changes: [[ELICITATION, "      this.#series = undefined;\n", ""]],
  },
  {
    does: "lets a series count before the answer to the own question",
    changes: [
      [
        ELICITATION,
        "if (isAnswer) return this.#judge(",
        "if (isAnswer) return this.#agreedEarlier(question) ?? this.#judge(",
      ],
    ],
  },
  {
    does: "reads the job again at once when a read has failed",
    changes: [
      [READER, "const FAILURE_PAUSE_MS = 1_000;", "const FAILURE_PAUSE_MS = 0;"],
      ["src/tools/get-video-status.ts", "if (known.done && !signal.aborted) return;", ""],
    ],
  },
];

/** Runs the history with each bug, or with number BUG alone. `env` has its size and seed. */
export function planted(env: Readonly<Record<string, string>>) {
  const only = process.env["BUG"];
  const asked = BUGS.filter((_, index) => only === undefined || only === String(index + 1));
  return asked.map(({ does, changes }) => {
    const folder = makeFolder();
    try {
      copyInto(folder);
      for (const [file, from, to] of changes) change(join(folder, file), from, to);
      const run = (...args: readonly string[]) =>
        spawnSync("npx", ["tsx", ...args], {
          cwd: folder,
          encoding: "utf8",
          env: { ...process.env, STORE: "files", ...env },
        });
      const built = run("scripts/build.ts");
      if (built.status !== 0) throw new Error(`It can't be built: ${built.stderr}`);
      const history = run("test/external/stress/run.ts", "history");
      const [, violations = "no"] = /(\d+) violations/.exec(history.stdout) ?? [];
      return {
        test: `a bug: the server ${does}`,
        promised: "the history finds it",
        measured: `${violations} violations`,
        met: Number(violations) > 0,
      };
    } finally {
      removeFolder(folder);
    }
  });
}

function copyInto(folder: string): void {
  const listed = spawnSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" });
  for (const name of listed.stdout.split("\n").filter(Boolean)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(ROOT, name), join(folder, name));
  }
  for (const modules of MODULES) symlinkSync(join(ROOT, modules), join(folder, modules));
}

function change(path: string, from: string, to: string): void {
  const before = readFileSync(path, "utf8");
  if (before.split(from).length !== 2) throw new Error(`${path} doesn't have this once: ${from}`);
  writeFileSync(
    path,
    before.replace(from, () => to),
  );
}
