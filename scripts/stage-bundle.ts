// Fills the folder that becomes the .mcpb bundle: `tsx scripts/stage-bundle.ts FOLDER`. The manifest agrees
// with package.json and the code, because it takes everything from there.

import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };
import { textFor } from "../src/sentences.ts";
import { TOOLS } from "../src/tools/catalog.ts";
import page from "./mcpb/manifest.json" with { type: "json" };
import { settingsPage } from "./settings-forms.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Name the folder to fill.");

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const FILES = {
  dist: "dist",
  LICENSE: "LICENSE",
  server: "scripts/mcpb/server",
  "icon.png": "scripts/mcpb/icon.png",
  "screenshots/card.png": "docs/card-light.png",
};
for (const [to, from] of Object.entries(FILES))
  cpSync(join(root, from), join(folder, to), { recursive: true });
const { version, description, keywords, homepage, license, engines } = manifest;
const { env, user_config } = settingsPage();
const { compatibility, server, ...texts } = page;
const staged = {
  ...texts,
  version,
  description,
  keywords,
  homepage,
  license,
  server: { ...server, mcp_config: { ...server.mcp_config, env } },
  user_config,
  compatibility: { ...compatibility, runtimes: { node: engines.node } },
  tools: TOOLS.map((tool) => ({ name: tool.name, description: textFor("model", tool.description) })),
};
writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(staged, null, 2)}\n`);
