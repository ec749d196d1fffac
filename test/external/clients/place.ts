// A home directory and a project for one run of an application. The printed entry's npx gets a copy of the built
// server, which records its stdin and stdout, from a registry on loopback. The project's own .npmrc would keep
// npx from starting anything.

import { copyFile, cp, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../../package.json" with { type: "json" };
import { launch } from "../../../src/commands/server-entry.ts";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { npmRegistry, pack } from "../../fixtures/npm-registry.ts";
import { run } from "../../fixtures/run.ts";
import { readServerRuns, type ServerRun } from "./wire.ts";

const tap = fileURLToPath(new URL("tap.cjs", import.meta.url));

export interface Place {
  readonly home: string;
  readonly project: string;
  /** The messages of each server process so far. */
  serverRuns(): Promise<ServerRun[]>;
  /** The keys that the server processes got, oldest first; "undefined" for none. */
  keys(): Promise<readonly string[]>;
}

/** An object is written as JSON. */
export async function write(folder: string, path: string, content: string | object): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
}

/** The registry that has the recording server, and its package in a cache, as npx finds it from the second start on. */
export interface ServedPackage {
  readonly npmrc: string;
  close(): void;
}

export async function serveServer(folder: string): Promise<ServedPackage> {
  const { name, version, bin } = manifest;
  const files = join(folder, "package");
  await cp(dirname(BUILT_FILE), join(files, "dist"), { recursive: true });
  await rename(join(files, "dist/bin.cjs"), join(files, "dist/untapped.cjs"));
  await copyFile(tap, join(files, "dist/bin.cjs"));
  await write(files, "package.json", { name, version, bin });
  const { url, close } = await npmRegistry({ name, version, bin }, await pack(files, folder));
  const npmrc = `registry=${url}\ncache=${join(folder, "npm")}\nupdate-notifier=false\n`;
  const home = join(folder, "first");
  await write(home, ".npmrc", npmrc);
  await write(home, "tapped.json", { records: home, env: {} });
  const { command, args } = launch({ windows: false, sandbox: false });
  const { code, stderr } = await run(command, [...args, "--version"], { env: { HOME: home } });
  if (code !== 0) throw new Error(`The package could not be cached: ${stderr}`);
  return { npmrc, close };
}

/** `env`: variables for the server, in addition to those that the client passes on. */
export async function makePlace(
  home: string,
  { npmrc }: ServedPackage,
  env: Readonly<Record<string, string>>,
): Promise<Place> {
  const project = join(home, "project");
  const records = join(home, "records");
  await mkdir(records, { recursive: true });
  await write(home, ".npmrc", npmrc);
  await write(home, "tapped.json", { records, env: { FACELESS_STATE_DIR: join(home, "state"), ...env } });
  await mkdir(join(home, "state"));
  await write(project, ".npmrc", "script-shell=/nowhere\n");
  const readKeys = () => readFile(join(records, "keys"), "utf8").catch(() => "");
  return {
    home,
    project,
    serverRuns: () => readServerRuns(records),
    keys: async () => (await readKeys()).split("\n").filter(Boolean),
  };
}
