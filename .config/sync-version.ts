// Run by `npm version` after package.json has the new version and before the commit: updates the versions in server.json and in the
// plugins' manifests, and leaves the rest of their texts.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import * as z from "zod";

const FILES = [
  "server.json",
  "docs/plugin/.claude-plugin/plugin.json",
  "docs/plugin/.codex-plugin/plugin.json",
  "docs/plugin/.cursor-plugin/plugin.json",
  "docs/plugin/gemini-extension.json",
];

// npm runs lifecycle scripts in the package's folder.
const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync("package.json", "utf8")));
for (const file of FILES.filter((name) => existsSync(name))) {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/("version": ")[^"]*(")/g, `$1${version}$2`));
  execFileSync("git", ["add", file]);
}
