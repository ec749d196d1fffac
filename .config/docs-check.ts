// npm run docs -- check: finds what the documents say that is not so. Links, headings, settings, files,
// scripts, commands and options must exist, and command blocks marked `sh run` must succeed. Changes nothing.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };
import { COMMANDS, parseCommandLine } from "../src/command-line.ts";
import { SETTINGS } from "../src/config.ts";
import { PARTS, withPart } from "./docs-parts.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SKILL = "docs/plugin/skills/make-faceless-video/";
const FOLDERS = [
  "",
  ".github/",
  "docs/",
  "docs/plugin/",
  "docs/examples/backend/",
  SKILL,
  `${SKILL}references/`,
];
/** The names in it may be of the past. */
const CHANGELOG = "CHANGELOG.md";
/** Of mcp-proxy, supergateway and Claude Code. */
const OPTIONS_OF_OTHERS = ["--apiKey", "--host", "--stateful", "--sessionTimeout", "--print"];
const OPTIONS = new Set([
  ...OPTIONS_OF_OTHERS,
  ...["help", "version", ...COMMANDS.flatMap(({ options }) => Object.keys(options))].map(
    (name) => `--${name}`,
  ),
]);
const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name).filter((name) => name !== "");
const SETTING_NAMES: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
/** What stands for a value in a command. */
const EXAMPLES: Readonly<Record<string, string>> = {
  CLIENT: "cursor",
  N: "8080",
  URL: "http://127.0.0.1:8080",
};

const FENCE = /^( *)```(.*)\n([^]*?)^\1```$/gm;
const SPAN = /`([^`\n]+)`/g;
/** A path of ours: with an ending that clients' own files don't have, or below one of our folders. */
const PATH =
  /^(?:[\w.@-]+\/)*[\w.@-]+\.(?:ts|mjs|cjs|css|html|md|svg|png|yml)$|^(?:src|test|docs|\.config|\.github)\/[\w./-]*$|^(?:[\w-]+\/)+$/;
/** Made by a build, and by npm. */
const MADE = /^(?:dist|dist-bundle|node_modules)\//;

/** Without their folders. */
const FILE_NAMES = new Set(
  ["src", "test", "docs", ".config", ".github"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((path) => basename(String(path))),
  ),
);

/** The names of all documents, from the project's root. */
export const DOCUMENTS = [
  "llms.txt",
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}${name}`),
  ),
];

export function readDocument(name: string): string {
  return readFileSync(join(ROOT, name), "utf8");
}

/** What a document says that is not so, as sentences. `text` as it is on disk unless given. */
export function findFaults(name: string, text = readDocument(name)): string[] {
  const links = findBrokenLinks(name, text);
  if (name === CHANGELOG) return links;
  const fences = [...text.matchAll(FENCE)].map(([, , info = "", code = ""]) => ({ info, code }));
  const spans = [...text.replace(FENCE, "").matchAll(SPAN)].map(([, span = ""]) => span);
  const commands = [...fences.filter(({ info }) => /^sh\b/.test(info)).map(({ code }) => code), ...spans];
  return [
    ...links,
    ...findStaleParts(name, text),
    ...missing("setting", matches(text, /\bFACELESS_[A-Z_]*[A-Z]/g), (word) => SETTING_NAMES.includes(word)),
    ...missing("script", matches(commands.join("\n"), /(?<=npm run (?:--\S+ )?)[a-z][\w:-]*/g), (word) =>
      Object.hasOwn(manifest.scripts, word),
    ),
    ...missing("file", wordsOf(commands).filter(isPath), (path) => isThere(path, name)),
    ...missing("option", matches(spans.join("\n"), /^--[\w-]+/gm), (word) => OPTIONS.has(word)),
    ...commands.flatMap(findBadCommands),
    ...matches(text, /(?<=Node\.js )\d+\.\d+\.\d+(?= or newer)/g)
      .filter((version) => `>=${version}` !== manifest.engines.node)
      .map((version) => `Node.js ${version} is not what package.json needs`),
  ];
}

/** The command blocks of a document that are to be run. */
export function runnableBlocks(text: string): string[] {
  return [...text.matchAll(FENCE)].filter(([, , info]) => info === "sh run").map(([, , , code = ""]) => code);
}

/** What `node` runs in place of the package. */
const SOURCE = ["--import", "tsx", join(ROOT, "src/cli.ts")];

/** Runs a block with this project as the package, in a home of its own. Returns its output, or throws it. */
export async function runBlock(commands: string, program: readonly string[] = SOURCE): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "faceless-docs-"));
  try {
    const start = [process.execPath, ...program].map((word) => `'${word}'`).join(" ");
    await writeFile(
      join(folder, "npx"),
      `#!/bin/sh\n[ "$1 $2" = "-y faceless-video-mcp" ] || exit 127\nshift 2\nexec ${start} "$@"\n`,
      {
        mode: 0o700,
      },
    );
    return await runShell(commands, {
      PATH: `${folder}:${process.env["PATH"]}`,
      HOME: folder,
      // No render takes time.
      FACELESS_SANDBOX_SECONDS: "0",
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runShell(commands: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-eu", "-c", commands], { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => (output += String(chunk)));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`exit ${code}: ${commands}${output}`)),
    );
  });
}

function findStaleParts(name: string, text: string): string[] {
  const parts = Object.entries(Object.entries(PARTS).find(([file]) => file === name)?.[1] ?? {});
  return parts
    .filter(([mark, part]) => withPart(text, mark, part) !== text)
    .map(([mark]) => `its part ${mark} is out of date: npm run docs`);
}

function findBrokenLinks(name: string, text: string): string[] {
  const prose = text.replace(FENCE, "").replace(SPAN, "");
  const links = matches(prose, /(?<=\]\()[^()\s]+|(?<=\b(?:src|href|srcset)=")[^"]+|(?<=^\[[^\]]+\]: )\S+/gm);
  return missing("link", links, (link) => {
    if (/^[a-z]+:/.test(link)) return URL.canParse(link) && new URL(link).protocol === "https:";
    const [path = "", heading] = link.split("#", 2);
    const target = path === "" ? name : join(dirname(name), path);
    if (!existsSync(join(ROOT, target))) return false;
    return (
      heading === undefined || headingsOf(target === name ? text : readDocument(target)).includes(heading)
    );
  });
}

/** As GitHub names them in links. */
function headingsOf(text: string): string[] {
  const titles = matches(text.replace(FENCE, ""), /(?<=^#+ ).*$/gm);
  const slugs = titles.map((title) =>
    title
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return slugs.map((slug, index) => {
    const before = slugs.slice(0, index).filter((other) => other === slug).length;
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

/** Commands of this program that it would refuse. */
function findBadCommands(code: string): string[] {
  const written = matches(code, /(?<=^|-y |[;&|] )faceless-video-mcp(?= |$)[^#\\|&;"`\n]*/gm);
  const [first = ""] = code.split(" ", 1);
  // A code span may leave out the program's name.
  const shortened = code.includes(" ") && COMMAND_NAMES.includes(first) ? [`faceless-video-mcp ${code}`] : [];
  return [...written, ...shortened].flatMap((command) => {
    const words = command.trim().split(/\s+/).slice(1);
    const parsed = parseCommandLine(words.map((word) => EXAMPLES[word] ?? word));
    return "usageError" in parsed ? [`${command.trim()}: ${parsed.usageError}`] : [];
  });
}

function isPath(word: string): boolean {
  return PATH.test(word) && !MADE.test(word);
}

/** From the root, from src/ or from the document's folder; a name alone may be anywhere. */
function isThere(path: string, document: string): boolean {
  if (["", "src", dirname(document)].some((folder) => existsSync(join(ROOT, folder, path)))) return true;
  return !path.includes("/") && FILE_NAMES.has(path);
}

function wordsOf(commands: readonly string[]): string[] {
  return commands.flatMap((command) => command.split(/[\s"'=]+/));
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([whole]) => whole);
}

function missing(kind: string, named: readonly string[], isKnown: (word: string) => boolean): string[] {
  return [...new Set(named)]
    .filter((word) => !isKnown(word))
    .map((word) => `there is no such ${kind}: ${word}`);
}
