// A program in a terminal of its own, by `script` of util-linux. Keeps what it shows as text without colours.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import type { Start } from "./processes.ts";

export type Terminal = ReturnType<typeof startInTerminal>;

export const ENTER = "\r";

/** Wide enough that no line is broken. */
const COLUMNS = 400;
const ROWS = 60;
const AGAIN_MS = 3_000;

export function startInTerminal({ command, args, cwd, env }: Start) {
  const words = [command, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
  const line = `stty cols ${COLUMNS} rows ${ROWS}; exec ${words.join(" ")}`;
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
    cwd,
    env: { ...env, TERM: "xterm-256color", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  let text = "";
  let seen = 0;
  let hasEnded = false;
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => (text += chunk));
  const ended = once(child, "exit").then(() => void (hasEnded = true));
  /** Waits for a text after the last one waited for, and returns it. Rejects if the program ends first. */
  async function waitFor(wanted: RegExp): Promise<string> {
    for (;;) {
      const fresh = plain(text.slice(seen));
      const match = wanted.exec(fresh);
      if (match !== null) {
        seen = text.length;
        return match[0];
      }
      if (hasEnded) throw new Error(`It ended before it showed ${String(wanted)}: ${fresh.slice(-2_000)}`);
      // eslint-disable-next-line no-await-in-loop -- until it has shown more
      await Promise.race([once(child.stdout, "data"), ended]);
    }
  }
  const type = (keys: string) => void child.stdin.write(keys);
  return {
    waitFor,
    type,
    /** Types keys now and then until this is shown: a program may miss keys while it draws, or be slow to. */
    async typeUntil(keys: string, wanted: RegExp) {
      type(keys);
      const timer = setInterval(() => type(keys), AGAIN_MS);
      return waitFor(wanted).finally(() => clearInterval(timer));
    },
    ended,
    /** Ends it at once. */
    stop: () => void (hasEnded || process.kill(-Number(child.pid), "SIGKILL")),
  };
}

const CURSOR_RIGHT = new RegExp(String.raw`${String.fromCodePoint(27)}\[\d*[CG]`, "g");

/** Removes escape sequences. One that moves the cursor to the right becomes a gap. */
function plain(text: string): string {
  return stripVTControlCharacters(text.replaceAll(CURSOR_RIGHT, " "));
}
