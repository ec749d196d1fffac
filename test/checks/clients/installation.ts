// The applications and the Node they run on, from npm, in the versions of packages.json or their latest ones. Nothing goes into this package.

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import * as z from "zod";
import { run } from "../../fixtures/run.ts";
import pinned from "./packages.json" with { type: "json" };

export type PackageName = keyof typeof pinned;

export interface Installation {
  readonly version: string;
  /** The folder of its executables. */
  readonly bin: string;
}

/**
 * Some need npm's settings of the user, and their install scripts fetch or link the program itself. The npm that runs this script has left
 * the name of its own Node there.
 */
const userEnv = z
  .record(z.string(), z.string())
  .parse(
    Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== "npm_config_user_agent")),
  );

async function npm(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, stdout, stderr } = await run("npm", args, { env: { ...userEnv, ...env } });
  if (code !== 0) throw new Error(`npm ${args.join(" ")} failed: ${stderr.slice(-500)}`);
  return stdout.trim();
}

/** Installs a package below `folder`, unless that version is there already. */
export async function install(
  name: PackageName,
  packages: { readonly folder: string; readonly latest: boolean },
): Promise<Installation> {
  const { folder, latest } = packages;
  const version = latest && name !== "node" ? await npm(["view", name, "version"]) : pinned[name];
  const prefix = join(folder, `${name.replace("@", "").replace("/", "-")}-${version}`);
  const bin = join(prefix, "node_modules/.bin");
  if (!existsSync(bin)) {
    await mkdir(prefix, { recursive: true });
    const args = ["install", "--no-audit", "--no-fund", "--prefix", prefix, `${name}@${version}`];
    if (name === "code-server") {
      // It builds modules for the Node that npm runs on.
      const node = await install("node", packages);
      await npm(args, { PATH: [node.bin, userEnv["PATH"]].join(delimiter) });
    } else await npm(args);
  }
  return { version, bin };
}
