// The job in a terminal, as a user does it: answers what the client asks with yes, waits, leaves, and starts it
// once more with another key.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Given } from "./applications.ts";
import { ENDS, PROMPT } from "./job.ts";
import type { Seen } from "./outcome.ts";
import type { Start } from "./processes.ts";
import type { Screens } from "./screens.ts";
import { Terminal } from "./terminal.ts";
import { hasListed } from "./wire.ts";

/** The sandbox's own, and one that no service takes. */
export const FIRST_KEY = "fl_sandbox";
const SECOND_KEY = "fl_rotated";

export async function useInTerminal(
  { ready, leave, screens }: Screens,
  start: Start,
  given: Given,
  signal: AbortSignal,
): Promise<Seen> {
  const session = async (key: string, work: (terminal: Terminal) => Promise<void>) => {
    const before = (await given.serverRuns()).length;
    const terminal = await Terminal.start({ ...start, env: { ...start.env, FACELESS_API_KEY: key } }, signal);
    try {
      await terminal.until(ready, screens);
      // On a busy machine a prompt may be open before the tools are there.
      // eslint-disable-next-line no-await-in-loop -- one look after the other
      while (!(await given.serverRuns()).slice(before).some(hasListed)) {
        signal.throwIfAborted();
        // eslint-disable-next-line no-await-in-loop
        await Promise.all([pause(500), terminal.look()]);
      }
      await pause(1_000);
      await work(terminal);
      await terminal.until(ready, screens);
      await terminal.press(...leave);
      await terminal.ended();
    } catch (error) {
      throw new Error(`${String(error)}\n${terminal.seen.slice(-2).join("\n---\n")}`, { cause: error });
    } finally {
      await terminal.stop();
    }
  };

  let seen: Pick<Seen, "approved" | "progress"> = { approved: [], progress: undefined };
  await session(FIRST_KEY, async (terminal) => {
    await terminal.say(PROMPT);
    const approvals = await terminal.until(ENDS, screens);
    seen = {
      approved: approvals.map((shown) => toolIn(shown)),
      progress: terminal.seen.map((shown) => PROGRESS.exec(shown)?.[0].trim()).findLast(Boolean),
    };
  });
  const [first] = await given.keys();
  await writeKey(given.home);
  const before = (await given.keys()).length;
  await session(SECOND_KEY, () => Promise.resolve());
  const second = (await given.keys())[before];
  return { ...seen, keys: [first === FIRST_KEY, second === SECOND_KEY] };
}

/** A line of the screen that counts clips, as this server does. */
const PROGRESS = /[^\n│┃⎿]*\d of \d clips[^\n│┃]*/;

/** The tool that a screen names last, by its name or its title. */
function toolIn(shown: string): string {
  const named = Object.entries(TITLES).map(([tool, title]) => ({
    tool,
    place: Math.max(shown.lastIndexOf(tool), shown.lastIndexOf(title)),
  }));
  return named.toSorted((one, other) => other.place - one.place)[0]?.tool ?? "";
}

const TITLES: Readonly<Record<string, string>> = {
  generate_video: "Generate a video",
  get_video_status: "Get a video's status",
  publish_video: "Publish a video",
  list_connected_platforms: "List connected platforms",
};

/** Replaces the key where the user has written it into a file of the client. */
async function writeKey(home: string): Promise<void> {
  for (const name of await readdir(home, { recursive: true })) {
    if (!/^\.(?:codex|claude|gemini|copilot|config)/.test(name) || !/\.(?:json|toml)$/.test(name)) continue;
    const file = join(home, name);
    // eslint-disable-next-line no-await-in-loop -- a few small files
    const text = await readFile(file, "utf8").catch(() => "");
    // eslint-disable-next-line no-await-in-loop -- as above
    if (text.includes(FIRST_KEY)) await writeFile(file, text.replaceAll(FIRST_KEY, SECOND_KEY));
  }
}
