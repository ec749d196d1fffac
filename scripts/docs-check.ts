// npm run docs -- check: finds false statements in the documents. Links, headings, settings, files,
// scripts and commands must exist. Changes nothing.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };
import external from "../test/external/package.json" with { type: "json" };
import pictures from "./pictures/package.json" with { type: "json" };
import { COMMANDS, parseCommandLine } from "../src/command-line.ts";
import { SETTINGS } from "../src/config.ts";
import { FOR_USERS, withLaunch } from "./docs-launch.ts";
import { PARTS, withPart } from "./docs-parts.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = [".github", "docs"];
const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS).filter((name) => name !== "");
const SETTING_NAMES: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);
/** Words that stand for a value in a command. */
const EXAMPLES: Readonly<Record<string, string>> = {
  CLIENT: "cursor",
  N: "8080",
  URL: "http://127.0.0.1:8080",
};

/** Also those of the packages beside the root's, whose folder the text names. */
const SCRIPTS = new Set([manifest, external, pictures].flatMap(({ scripts }) => Object.keys(scripts)));

const FENCE = /^( *)```(.*)\n([^]*?)^\1```$/gm;
const SPAN = /`([^`\n]+)`/g;
/** A path of ours: with an ending that clients' own files don't have, or below one of our folders. */
const PATH =
  /^(?:[\w.@-]+\/)*[\w.@-]+\.(?:ts|mjs|cjs|css|html|md|svg|png|yml)$|^(?:src|test|docs|scripts|\.github)\/[\w./-]*$|^(?:[\w-]+\/)+$/;
/** Made by a build, and by npm. */
const MADE = /^(?:CLONE\/)?(?:dist|dist-bundle|node_modules)\//;

const FILE_NAMES = new Set(
  ["src", "test", "scripts", ...FOLDERS].flatMap((folder) => filesIn(folder).map((path) => basename(path))),
);

/** The names of all documents, from the project's root. */
export const DOCUMENTS = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) => filesIn(folder).map((path) => `${folder}/${path}`)),
].filter((name) => name.endsWith(".md") || name === "llms.txt");

function filesIn(folder: string): string[] {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return paths.filter((path) => !/(^|[\\/])node_modules[\\/]/.test(path));
}

export function readDocument(name: string): string {
  return readFileSync(join(ROOT, name), "utf8");
}

/** A document's false statements, a sentence about each. `text` as it is on disk unless given. */
export function findFaults(name: string, text = readDocument(name)): string[] {
  const links = findBrokenLinks(name, text);
  // A change may name what is gone.
  if (name === "CHANGELOG.md") return links;
  const fences = [...text.matchAll(FENCE)].map(([, , info = "", code = ""]) => ({ info, code }));
  const spans = [...text.replace(FENCE, "").matchAll(SPAN)].map(([, span = ""]) => span);
  const commands = [...fences.filter(({ info }) => /^sh\b/.test(info)).map(({ code }) => code), ...spans];
  return [
    ...links,
    ...findStaleParts(name, text),
    ...(FOR_USERS.includes(name) && withLaunch(text) !== text
      ? ["its commands start the program in another way than isOnNpm says: npm run docs"]
      : []),
    ...missing("setting", matches(text, /\bFACELESS_[A-Z_]*[A-Z]/g), (word) => SETTING_NAMES.includes(word)),
    ...missing("script", matches(commands.join("\n"), /(?<=npm run (?:--\S+ )?)[a-z][\w:-]*/g), (word) =>
      SCRIPTS.has(word),
    ),
    ...missing("file", wordsOf(commands).filter(isPath), (path) => isThere(path, name)),
    ...commands.flatMap(findBadCommands),
    ...matches(text, /(?<=faceless-video-mcp@)\d[\w.-]*/g)
      .filter((version) => version !== manifest.version && !name.startsWith(".github/"))
      .map((version) => `it names version ${version}: npm run docs`),
    ...matches(text, /\d+\.\d+\.\d+(?= or newer)/g)
      .filter((version) => `>=${version}` !== manifest.engines.node)
      .map((version) => `Node.js ${version} is not what package.json needs`),
  ];
}

function findStaleParts(name: string, text: string): string[] {
  const parts = Object.entries(
    new Map<string, Record<string, string>>(Object.entries(PARTS)).get(name) ?? {},
  );
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

/** The names that GitHub gives headings in links. */
function headingsOf(text: string): string[] {
  const titles = matches(text.replace(FENCE, ""), /(?<=^#+ ).*$/gm);
  return titles.map((title) =>
    title
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Commands of this program that it would refuse. */
function findBadCommands(code: string): string[] {
  const written = matches(
    code,
    /(?:(?<=^|-y |[;&|] )faceless-video-mcp(?:@[\w.-]+)?|bin\.cjs"?)(?= |$)[^#\\|&;"`\n]*/gm,
  );
  const [first = ""] = code.split(" ", 1);
  // A code span may leave out the program's name.
  const shortened = code.includes(" ") && COMMAND_NAMES.includes(first) ? [`faceless-video-mcp ${code}`] : [];
  return [...written, ...shortened].flatMap((command) => {
    const words = command.trim().split(/\s+/).slice(1);
    try {
      parseCommandLine(words.map((word) => EXAMPLES[word] ?? word));
      return [];
    } catch (error) {
      return [`${command.trim()}: ${String(error)}`];
    }
  });
}

function isPath(word: string): boolean {
  return PATH.test(word) && !MADE.test(word);
}

/** Paths begin at the root, in src/ or in the document's folder; a name alone may be anywhere. */
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
