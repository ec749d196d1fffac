// A program in a terminal of its own, by tmux, which draws its screen as a user sees it.

import { setTimeout as pause } from "node:timers/promises";
import { run } from "../../fixtures/run.ts";
import type { Start } from "./processes.ts";

/** Wide enough that few lines are broken. */
const SIZE = ["-x", "180", "-y", "60"];
const LOOK_MS = 150;
const READ_MS = 1_500;
/** A program may miss keys while it draws. */
const AGAIN_MS = 4_000;

/** What a user does where the screen shows this. */
export interface Screen {
  readonly shows: RegExp;
  /** Names of tmux for keys, or a text to type. */
  readonly keys: readonly string[];
  /** The client asks before it calls a tool, which the screen names. */
  readonly isApproval?: true;
}

export class Terminal {
  readonly #env: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;
  /** Each screen that was seen, oldest first. */
  readonly seen: string[] = [];

  private constructor({ cwd, env }: Start, signal: AbortSignal) {
    this.#env = { ...env, TMUX_TMPDIR: cwd };
    this.#signal = signal;
  }

  static async start(start: Start, signal: AbortSignal): Promise<Terminal> {
    const { command, args, cwd } = start;
    const terminal = new Terminal(start, signal);
    // What is set here is part of every terminal program's environment.
    await terminal.#tmux("new-session", "-d", ...SIZE, "-c", cwd, "-s", "user", "--", command, ...args);
    return terminal;
  }

  /**
   * Does what each screen asks for until this is shown; of several, the lowest counts, as what was answered may
   * stay above. Returns the approvals that were met, as they were shown. Rejects if the program ends before.
   */
  async until(wanted: RegExp, screens: readonly Screen[] = []): Promise<readonly string[]> {
    const approvals: string[] = [];
    let last: { readonly screen: Screen; readonly atMs: number } | undefined;
    for (;;) {
      // eslint-disable-next-line no-await-in-loop -- one look after the other
      const shown = await this.look();
      if (shown === undefined)
        throw new Error(`It ended before it showed ${String(wanted)}.${this.#shown()}`);
      const found = screens
        .map((screen) => ({ screen, place: placeOf(screen.shows, shown) }))
        .toSorted((one, other) => other.place - one.place)[0];
      const screen = (found?.place ?? -1) > placeOf(wanted, shown) ? found?.screen : undefined;
      if (screen === undefined && wanted.test(shown)) return approvals;
      const isNew = screen !== undefined && screen !== last?.screen;
      if (isNew && screen.isApproval) approvals.push(shown);
      if (screen === undefined) last = undefined;
      else if (isNew || performance.now() - (last?.atMs ?? 0) > AGAIN_MS) {
        last = { screen, atMs: performance.now() };
        // A user reads first. Gemini CLI forgets a choice that is made as soon as it asks.
        // eslint-disable-next-line no-await-in-loop -- as above
        await pause(READ_MS);
        // eslint-disable-next-line no-await-in-loop -- as above
        await this.press(...screen.keys);
      }
      // eslint-disable-next-line no-await-in-loop -- as above
      await pause(LOOK_MS);
      if (this.#signal.aborted) throw new Error(`It never showed ${String(wanted)}.${this.#shown()}`);
    }
  }

  /** Types a message, and sends it once it is shown: Enter at once would be taken for part of a pasted text. */
  async say(message: string): Promise<void> {
    await this.press(message);
    await this.until(new RegExp(message.slice(-12).replaceAll(/\W/g, String.raw`\s*.`)));
    await this.press("Enter");
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const isName = /^(?:[A-Z][a-z]+|C-[a-z])$/.test(key);
      // eslint-disable-next-line no-await-in-loop -- in this order
      await this.#tmux("send-keys", ...(isName ? [key] : ["-l", "--", key]));
      // eslint-disable-next-line no-await-in-loop -- keys at once would be taken for a pasted text
      await pause(LOOK_MS);
    }
  }

  /** The screen as text; undefined once the program has ended. */
  async look(): Promise<string | undefined> {
    const { code, stdout } = await run("tmux", this.#args("capture-pane", "-p", "-J"), { env: this.#env });
    if (code !== 0) return undefined;
    const shown = stdout.replaceAll(/\s+$/gm, "").trim();
    if (this.seen.at(-1) !== shown) this.seen.push(shown);
    return shown;
  }

  async ended(): Promise<void> {
    // eslint-disable-next-line no-await-in-loop -- one look after the other
    while ((await this.look()) !== undefined) await pause(LOOK_MS);
  }

  /** Ends it at once. */
  async stop(): Promise<void> {
    await run("tmux", this.#args("kill-server"), { env: this.#env });
  }

  #shown(): string {
    return `\n${this.seen.slice(-3).join("\n---\n")}`;
  }

  async #tmux(...args: readonly string[]): Promise<void> {
    const { code, stderr } = await run("tmux", this.#args(...args), { env: this.#env });
    if (code !== 0) throw new Error(`tmux ${args[0]} failed: ${stderr}`);
  }

  #args(...args: readonly string[]): string[] {
    return ["-L", "t", "-f", "/dev/null", ...args];
  }
}

/** Where the last match ends; -1 without one. */
function placeOf(wanted: RegExp, shown: string): number {
  const last = [...shown.matchAll(new RegExp(wanted, "g"))].at(-1);
  return last === undefined ? -1 : last.index + last[0].length;
}
