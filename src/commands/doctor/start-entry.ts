// Starts what an entry names, as its client does, and asks for its version and its tools. Knows nothing of files.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { errnoOf } from "../../errors.ts";
import { quote } from "../../text.ts";

export interface StartOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long it may take until the tools are listed. */
  readonly limitMs: number;
}

export interface Started {
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
  /** A line on stdout that is not MCP. */
  readonly strayLine?: string | undefined;
  /** True if it ended when its input did. */
  readonly endsByItself: boolean;
}

/** Bytes of stderr that are kept for the reason. */
const MAX_STDERR = 4_000;
const END_MS = 2_000;

const messageSchema = z.looseObject({
  jsonrpc: z.literal("2.0"),
  result: z
    .looseObject({
      serverInfo: z.looseObject({ name: z.string(), version: z.string() }).optional(),
      tools: z.array(z.looseObject({ name: z.string() })).optional(),
    })
    .optional(),
});

const request = (id: number, method: string, params = {}) => ({ jsonrpc: "2.0", id, method, params });
const INITIALIZE = request(1, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "faceless-video-mcp-doctor", version: "1" },
});

/** Its answer, or the reason for none as a clause. */
export async function startEntry(
  [command = "", ...args]: readonly string[],
  { cwd, env, limitMs }: StartOptions,
): Promise<Started | { readonly problem: string }> {
  const child = spawn(command, args, { cwd, env, stdio: "pipe", windowsHide: true });
  let stderr = "";
  child.stderr
    .setEncoding("utf8")
    .on("data", (text: string) => (stderr = (stderr + text).slice(-MAX_STDERR)));
  child.stdin.on("error", () => {});
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(errnoOf(error) ?? error.message));
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const talk = async (): Promise<Omit<Started, "endsByItself">> => {
    let [name, version, strayLine]: (string | undefined)[] = [];
    send(INITIALIZE);
    for await (const line of createInterface({ input: child.stdout })) {
      const message = parseMessage(line);
      if (message === undefined) strayLine ??= line;
      const { serverInfo, tools } = message?.result ?? {};
      if (serverInfo !== undefined) {
        ({ name, version } = serverInfo);
        send({ jsonrpc: "2.0", method: "notifications/initialized" });
        send(request(2, "tools/list"));
      }
      if (tools !== undefined && name !== undefined && version !== undefined)
        return { name, version, tools: tools.map((tool) => tool.name), strayLine };
    }
    return new Promise(() => {});
  };
  const limit = new AbortController();
  const outcome = await Promise.race([
    talk(),
    ended,
    sleep(limitMs, `no answer within ${limitMs / 1_000} s`, { signal: limit.signal }),
  ]);
  child.stdin.end();
  const endsByItself = await Promise.race([
    ended.then(() => true),
    sleep(END_MS, false, { signal: limit.signal }),
  ]);
  limit.abort();
  if (!endsByItself) child.kill("SIGKILL");
  if (typeof outcome !== "string") return { ...outcome, endsByItself };
  return { problem: explain(command, outcome, stderr) };
}

function parseMessage(line: string): z.infer<typeof messageSchema> | undefined {
  try {
    return messageSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** Why there was no answer. npm's own codes say more than its exit code. */
function explain(command: string, outcome: string, stderr: string): string {
  if (outcome === "ENOENT") return `there is no program ${quote(command)}`;
  const missing = /Cannot find module '([^']+)'/.exec(stderr)?.[1];
  if (missing !== undefined) return `there is no file ${quote(missing)}`;
  const npm = /npm (?:error|ERR!) code (\w+)/.exec(stderr)?.[1];
  if (npm === "E404" || npm === "ETARGET") return `npm has no such package or version (${npm})`;
  if (npm !== undefined && /^(?:E(?:NOT|AI|CONN|TIME|NET|HOST)|ERR_SOCKET)/.test(npm))
    return `npm can't reach its registry (${npm}): this computer may be offline or behind a proxy`;
  const last = stderr.trim().split("\n").at(-1) ?? "";
  return last === "" ? outcome : `${outcome}; it printed ${quote(last, 300)}`;
}
