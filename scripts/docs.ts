// npm run docs: writes the generated parts of the documents, server.json and the version that documents and
// plugins name. With `-- check`, it writes nothing, finds what the documents name that does not exist, and runs their
// commands.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import manifest from "../package.json" with { type: "json" };
import { DOCUMENTS, findFaults, readDocument } from "./docs-check.ts";
import { FOR_USERS, withLaunch } from "./docs-launch.ts";
import { PARTS, withPart } from "./docs-parts.ts";
import { PROGRAM, runCommands, runDaily, runnableCommands } from "./docs-run.ts";
import { serverJson } from "./settings-forms.ts";

/** The rest of these files is written by hand. */
const PLUGIN_FILES = [
  ".claude-plugin/plugin.json",
  ".codex-plugin/plugin.json",
  ".cursor-plugin/plugin.json",
  "codex-mcp.json",
  "gemini-extension.json",
  "start-server",
  "start-server.cmd",
].map((name) => `docs/plugin/${name}`);

if (process.argv[2] === "check") await check();
else write();

async function check(): Promise<void> {
  const faults = DOCUMENTS.flatMap((name) => findFaults(name).map((fault) => `${name}: ${fault}`));
  const commands = runnableCommands(DOCUMENTS.map((name) => readDocument(name)));
  const scripts = readDocument("docs/SCRIPTS.md");
  const [daily = ""] = /(?<=^```sh\n)#!\/bin\/sh\n[^]*?(?=^```)/m.exec(scripts) ?? [];
  const [csv = ""] = /(?<=^```csv\n)[^]*?(?=^```)/m.exec(scripts) ?? [];
  const failed = existsSync(PROGRAM)
    ? [...runCommands(commands, csv), ...(await runDaily(daily))]
    : ["dist/bin.cjs is missing: npm run build"];
  const all = [...faults, ...failed].map((fault) => `${fault}\n`);
  process.stdout.write(
    all.length > 0
      ? all.join("")
      : `${DOCUMENTS.length} documents, ${commands.length} commands and a script: no fault\n`,
  );
  process.exitCode = all.length === 0 ? 0 : 1;
}

function write(): void {
  for (const [name, parts] of Object.entries(PARTS))
    edit(name, (document) =>
      Object.entries(parts).reduce((text, [mark, part]) => withPart(text, mark, part), document),
    );
  for (const name of FOR_USERS) edit(name, (text) => withLaunch(text));
  edit("server.json", serverJson);
  // Files below .github name versions of a release as examples.
  const documents = DOCUMENTS.filter((name) => !name.startsWith(".github/"));
  for (const name of [...documents, ...PLUGIN_FILES])
    edit(name, (text) =>
      text.replace(/(?<=^ {2}"version": "|faceless-video-mcp@)\d[\w.-]*/gm, () => manifest.version),
    );
  process.exitCode =
    spawnSync("oxfmt", Object.keys(PARTS).concat("server.json"), { stdio: "inherit" }).status ?? 1;
}

function edit(name: string, change: (text: string) => string): void {
  const file = new URL(`../${name}`, import.meta.url);
  writeFileSync(file, change(readFileSync(file, "utf8")));
}
