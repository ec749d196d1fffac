// `doctor --client` with the files of a client in a home directory of their own.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ClientName } from "../../../src/command-line.ts";
import { clientEntry } from "../../../src/commands/client-config.ts";
import type { DoctorOptions } from "../../../src/commands/doctor.ts";
import { CANARY } from "../../fixtures/canary.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { doctor as runDoctor, NO_VIDEOS, serviceWith } from "../run-doctor.ts";

export type Values = Readonly<Record<string, string>>;

/** A script that is there. */
export const SCRIPT = fileURLToPath(new URL("../../../src/bin.cjs", import.meta.url));
const SETTINGS = process.platform === "darwin" ? "Library/Application Support" : ".config";
export const CLAUDE_DESKTOP = `${SETTINGS}/Claude/claude_desktop_config.json`;
export const VSCODE = `${SETTINGS}/Code/User/mcp.json`;

export const service = (videos = {}) => serviceWith({ ...NO_VIDEOS, ...videos });

/** The home directory of a user with this file in it. */
export async function homeWith(name: string, content: string | object): Promise<string> {
  const home = temporaryFolder();
  await write(join(home, name), content);
  return home;
}

export async function write(file: string, content: string | object): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const isText = typeof content === "string" || Buffer.isBuffer(content);
  await writeFile(file, isText ? content : JSON.stringify(content, undefined, 2));
}

interface Asked {
  readonly client: ClientName;
  readonly home: string;
  readonly env?: Values | undefined;
  /** Within the home directory. */
  readonly folder?: string;
  readonly more?: Partial<DoctorOptions>;
}

/** The report, with ~ for the home directory. */
export async function doctor({ client, home, env = {}, folder = ".", more = {} }: Asked) {
  const { code, text } = await runDoctor({
    client,
    homeDir: home,
    workingDir: join(home, folder),
    ...more,
    env: { PATH: process.env["PATH"], ...env },
  });
  return { code, lines: text.replaceAll(home, "~").trimEnd().split("\n") };
}

/** What `config` prints for this client, with an entry that starts SCRIPT. */
export function printed(client: ClientName, url: string, sandbox = false): string {
  const installation = { command: process.execPath, args: [SCRIPT] };
  return clientEntry(client, { windows: false, sandbox, installation }, url === "" ? undefined : new URL(url))
    .text;
}

const NODE = { command: process.execPath, args: [SCRIPT] };
export const entry = (env: Values, more: object = {}) => ({ "faceless-video": { ...NODE, env, ...more } });
export const servers = (env: Values, more?: object) => ({ mcpServers: entry(env, more) });
/** The names of the checks that are not ok. */
export const problems = (lines: readonly string[]) =>
  lines.flatMap((line) => /^(?:fail|warn|skip) {2}(\S+)/.exec(line)?.[1] ?? []);
export const good = (url: string) => ({ FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: url });
