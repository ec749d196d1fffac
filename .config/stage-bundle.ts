// Fills the folder that becomes the .mcpb bundle: `tsx .config/stage-bundle.ts FOLDER`. The manifest's values
// are read from package.json and the built server, so that they always agree.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { settingsPage } from "./settings-forms.ts";

const packageSchema = z.object({
  version: z.string(),
  description: z.string(),
  keywords: z.array(z.string()),
  homepage: z.string(),
  license: z.string(),
  engines: z.object({ node: z.string() }),
});
const manifestSchema = z.looseObject({
  compatibility: z.looseObject({}),
  server: z.looseObject({ mcp_config: z.looseObject({}) }),
});

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, ".config/mcpb");

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Name the folder to fill.");
await stage(resolve(folder));

async function stage(target: string): Promise<void> {
  const { version, description, keywords, homepage, license, engines } = packageSchema.parse(
    await readJson(join(root, "package.json")),
  );
  const { compatibility, server, ...manifest } = manifestSchema.parse(
    await readJson(join(source, "manifest.json")),
  );
  const { env, user_config } = settingsPage();

  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await cp(join(root, "dist"), join(target, "dist"), { recursive: true });
  await cp(join(root, "LICENSE"), join(target, "LICENSE"));
  await cp(join(source, "server"), join(target, "server"), { recursive: true });
  await cp(join(source, "icon.png"), join(target, "icon.png"));
  await cp(join(source, "screenshots"), join(target, "screenshots"), { recursive: true });
  await writeJson(join(target, "manifest.json"), {
    ...manifest,
    version,
    description,
    keywords,
    homepage,
    license,
    server: { ...server, mcp_config: { ...server.mcp_config, env } },
    user_config,
    compatibility: { ...compatibility, runtimes: { node: engines.node } },
    tools: await listTools(join(target, "server/index.cjs")),
  });
}

/** Names and descriptions as the staged server lists them. */
async function listTools(entry: string): Promise<{ name: string; description: string }[]> {
  const client = new Client({ name: "stage-bundle", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [entry],
      env: { FACELESS_BUNDLE_SANDBOX: "true", FACELESS_STATE_DIR: "off" },
    }),
  );
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name, description = "" }) => ({ name, description }));
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, "utf8"));
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}
