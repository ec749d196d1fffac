// The applications and the Node they run on, from npm, in the versions of packages.json or their latest ones. Nothing goes into this package.

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { run } from "../fixtures/run.ts";
import packages from "./packages.json" with { type: "json" };

export type PackageName = keyof typeof packages;

export interface Installation {
  readonly version: string;
  /** The folder of its executables. */
  readonly bin: string;
}

/** Some need npm's settings of the user, and their install scripts fetch or link the program itself. */
const userEnv = z.record(z.string(), z.string()).parse({ ...process.env });

async function npm(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run("npm", args, { env: userEnv });
  if (code !== 0) throw new Error(`npm ${args.join(" ")} failed: ${stderr.slice(-500)}`);
  return stdout.trim();
}

/** Installs a package below `folder`, unless that version is there already. */
export async function install(
  name: PackageName,
  { folder, latest }: { readonly folder: string; readonly latest: boolean },
): Promise<Installation> {
  const version = latest && name !== "node" ? await npm("view", name, "version") : packages[name];
  const prefix = join(folder, `${name.replace("@", "").replace("/", "-")}-${version}`);
  const bin = join(prefix, "node_modules/.bin");
  if (!existsSync(bin)) {
    await mkdir(prefix, { recursive: true });
    await npm("install", "--no-audit", "--no-fund", "--prefix", prefix, `${name}@${version}`);
  }
  return { version, bin };
}
