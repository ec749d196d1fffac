// A home directory and a project for one run of an application. npx finds a copy of the built server in the
// project, so the entry is used as printed; the copy records its stdin and stdout.

import { chmod, copyFile, cp, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../../fixtures/run.ts";
import { readServerRuns, type ServerRun } from "./wire.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const tap = fileURLToPath(new URL("tap.cjs", import.meta.url));

export interface Place {
  readonly home: string;
  readonly project: string;
  /** What each server process has sent and received so far. */
  serverRuns(): Promise<ServerRun[]>;
}

/** An object is written as JSON. */
export async function write(folder: string, path: string, content: string | object): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
}

/** Installs the package as npm would into `folder`, and returns the project that has it. */
export async function installServer(folder: string): Promise<string> {
  const project = join(folder, "installed");
  await write(project, "package.json", {});
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", pack, { cwd: root });
  const { code, stderr } = await run(
    "npm",
    ["install", "--offline", "--no-audit", join(folder, stdout.trim())],
    { cwd: project },
  );
  if (code !== 0) throw new Error(`The package could not be installed: ${stderr}`);
  const dist = join(project, "node_modules/faceless-video-mcp/dist");
  await rename(join(dist, "bin.cjs"), join(dist, "untapped.cjs"));
  await copyFile(tap, join(dist, "bin.cjs"));
  await chmod(join(dist, "bin.cjs"), 0o755);
  return project;
}

/** `env` is what the server gets besides what the client passes on. */
export async function makePlace(
  home: string,
  installed: string,
  env: Readonly<Record<string, string>>,
): Promise<Place> {
  const project = join(home, "project");
  const records = join(home, "records");
  await mkdir(records, { recursive: true });
  await cp(installed, project, { recursive: true, verbatimSymlinks: true });
  const tapped = { records, env: { FACELESS_STATE_DIR: home, ...env } };
  await write(project, "node_modules/faceless-video-mcp/dist/tapped.json", tapped);
  return { home, project, serverRuns: () => readServerRuns(records) };
}
