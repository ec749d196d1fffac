import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import type { BuildOptions } from "rolldown";
import { CARD_HTML } from "../src/mcp/card/html.ts";
import { OPERATION_SCHEMAS } from "../src/sandbox/operation-schemas.ts";
import { PROMPT_LIST } from "../src/prompts/prompt-list.ts";
import { DECLARATIONS, TOOL_SCHEMAS } from "../src/tools/tool-schemas.ts";
import { readLanguageTable, SCORE_STEP, TABLE_LANGUAGES } from "./language-table.ts";
import { lateSchemas } from "./late-schemas.ts";
import { notices } from "./notices.ts";
import { ownCopies } from "./own-copies.ts";
import { unusedSchemas } from "./unused-schemas.ts";

const source = (name: string) => fileURLToPath(new URL(`../src/${name}`, import.meta.url));
/** The languages' table, beside the chunk that reads it: compressed, it takes a fifth of the space. */
const LANGUAGE_TABLE = "languages.json.br";
/** Modules that the build replaces with their results. */
const WORKED_OUT = new Map([
  [
    source("tools/check-order/language-table.ts"),
    `import { readFileSync } from "node:fs";
    import { brotliDecompressSync } from "node:zlib";
    export const TABLE_LANGUAGES = ${JSON.stringify(TABLE_LANGUAGES)};
    export const SCORE_STEP = ${SCORE_STEP};
    export const readLanguageTable = () =>
      JSON.parse(brotliDecompressSync(readFileSync(new URL("${LANGUAGE_TABLE}", import.meta.url))).toString());`,
  ],
  [source("tools/tool-schemas.ts"), constants({ DECLARATIONS, TOOL_SCHEMAS })],
  [source("prompts/prompt-list.ts"), constants({ PROMPT_LIST })],
  [source("sandbox/operation-schemas.ts"), constants({ OPERATION_SCHEMAS })],
  [source("mcp/card/html.ts"), constants({ CARD_HTML })],
]);
/** Parts of undici and pg that are not used here, loaded as empty: undici's are a seventh of the package. */
const UNUSED =
  /undici.lib.(mock|interceptor|web.(cookies|eventsource|fetch|websocket)).|pg.lib.native.|node_modules.(pgpass|pg-cloudflare)./;
function constants(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join("");
}
const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const dist = new URL("../dist/", import.meta.url);

/** V8 keeps a text with a character beyond Latin-1 at two bytes for each, and parses it slower. */
function escaped(code: string): string {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error("String.raw can't hold an escape sequence.");
  // A name can't hold the halves of a surrogate pair.
  return code.replace(/[^\0-\x7f]/gu, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return hex.length === 4 ? `\\u${hex}` : `\\u{${hex}}`;
  });
}

export default {
  input: { cli: "src/cli.ts" },
  platform: "node",
  resolve: {
    alias: {
      "@modelcontextprotocol/server/_shims": beside("sdk-shims.ts"),
      "@modelcontextprotocol/client/_shims": beside("sdk-shims.ts"),
      "node:assert": beside("undici-assert.cjs"),
      // What it names for Node.js loads its own files by a variable, which no bundler follows.
      "jsonc-parser": beside("../node_modules/jsonc-parser/lib/esm/main.js"),
    },
  },
  transform: { target: "node20" },
  output: {
    dir: "dist",
    // Node loads CommonJS faster than modules: it saves a tenth of the time to the first answer.
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    minify: true,
    // One file for the first answer: each further file costs a millisecond.
    codeSplitting: {
      groups: [
        // Loaded when a client reads it.
        { name: "card", test: /src.mcp.card.html\.ts/, priority: 1 },
        // Loaded first by cli.ts, so that it handles signals before anything else is loaded, and Node keeps the compiled
        // code of all the rest.
        {
          name: "start",
          test: /src.(command-line|config|settings.(values|loopback)|version|clock|errors|disk)\.ts|package\.json/,
          priority: 1,
        },
        // Each has all that its file imports, and that no group above has: the first answer, then the rest.
        { name: "serve", test: /src.commands.serve\.ts/, priority: 1 },
        { name: "calls", test: /src.commands.serve-calls\.ts/ },
      ],
    },
  },
  plugins: [
    {
      name: "worked-out",
      load: (id) => WORKED_OUT.get(id),
    },
    ownCopies,
    unusedSchemas,
    lateSchemas,
    {
      name: "unused",
      load: (id) => (UNUSED.test(id) ? "module.exports = {};" : undefined),
    },
    {
      name: "ascii",
      generateBundle(_, bundle) {
        for (const chunk of Object.values(bundle))
          if (chunk.type === "chunk") chunk.code = escaped(chunk.code);
      },
    },
    {
      name: "dist",
      buildStart() {
        rmSync(dist, { recursive: true, force: true });
      },
      writeBundle() {
        // The sandbox finds its clips beside the chunk that serves them.
        const from = new URL("../src/sandbox/media/", import.meta.url);
        const to = new URL("chunks/media/", dist);
        mkdirSync(to, { recursive: true });
        for (const name of readdirSync(from)) {
          if (/\.(mp4|wav)$/.test(name)) cpSync(new URL(name, from), new URL(name, to));
        }
        const table = JSON.stringify(readLanguageTable());
        writeFileSync(new URL(`chunks/${LANGUAGE_TABLE}`, dist), brotliCompressSync(table));
        // Written in the syntax of an old Node: the bundler must not change it.
        cpSync(new URL("../src/bin.cjs", import.meta.url), new URL("bin.cjs", dist));
      },
    },
    notices(UNUSED),
  ],
} satisfies BuildOptions;
