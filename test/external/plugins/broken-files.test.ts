// A client's file with the faults that people make: doctor says of each what the client itself does. Where a new version of
// a client reads more or less, its `reads` in src/commands/client-formats.ts and the table in docs/CLIENTS.md change.

import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { ClientName } from "../../../src/command-line.ts";
import { filesOf, FORMATS } from "../../../src/commands/client-formats.ts";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { npmProgram, type VERSIONS } from "../../fixtures/npm-tools.ts";
import { run } from "../../fixtures/run.ts";

interface Program {
  readonly npmPackage: keyof typeof VERSIONS;
  /** The client's command that lists its servers. */
  readonly list: readonly [string, ...string[]];
}

const PROGRAMS: readonly (readonly [ClientName, Program])[] = [
  ["claude-code", { npmPackage: "@anthropic-ai/claude-code", list: ["claude", "mcp", "list"] }],
  ["codex", { npmPackage: "@openai/codex", list: ["codex", "mcp", "list"] }],
  ["gemini", { npmPackage: "@google/gemini-cli", list: ["gemini", "mcp", "list"] }],
  ["copilot", { npmPackage: "@github/copilot", list: ["copilot", "mcp", "list"] }],
  ["opencode", { npmPackage: "opencode-ai", list: ["opencode", "mcp", "list"] }],
  ["cline", { npmPackage: "cline", list: ["cline", "config", "mcp"] }],
];

type Fault = (text: string) => string | Buffer;

const ENCODINGS: Readonly<Record<string, Fault>> = {
  "no fault": (text) => text,
  "a byte order mark": (text) => `\uFEFF${text}`,
  UTF16: (text) => Buffer.from(`\uFEFF${text}`, "utf16le"),
  "a single backslash": (text) => text.replace('"NOTE"', String.raw`"C:\Users"`),
};
const IN_JSON: Readonly<Record<string, Fault>> = {
  ...ENCODINGS,
  "a comment": (text) => text.replace("{\n", "{\n  // mine\n"),
  "a comma before a closing bracket": (text) => text.replace(/\n\}$/, ",\n}"),
  "a missing comma": (text) => text.replace('",\n', '"\n'),
};
const IN_TOML: Readonly<Record<string, Fault>> = {
  ...ENCODINGS,
  "a comment": (text) => `# mine\n${text}`,
  "a missing quotation mark": (text) => text.replace('"NOTE"', '"NOTE'),
};

/** The client's file with this server's sandbox. */
function fileOf(client: ClientName): string {
  const { root = "mcpServers", envField = "env", fields } = FORMATS[client];
  const [command, args] = [process.execPath, [BUILT_FILE, "--sandbox"]];
  if (client === "codex")
    return `[mcp_servers.faceless-video]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\nenv = { NOTE = "NOTE" }\n`;
  const start = client === "opencode" ? { type: "local", command: [command, ...args] } : { command, args };
  const entry = { ...fields, ...start, [envField]: { NOTE: "NOTE" } };
  return JSON.stringify({ [root]: { "faceless-video": entry } }, undefined, 2);
}

const cases = PROGRAMS.flatMap(([client, program]) => {
  const faults = client === "codex" ? IN_TOML : IN_JSON;
  return Object.entries(faults).map(([fault, change]) => [fault, client, program, change] as const);
});

test.each(cases)("doctor says what %s in the file of %s causes", async (_, client, program, change) => {
  const home = temporaryFolder();
  const project = join(home, "project");
  await mkdir(project);
  const { npmPackage, list } = program;
  const [executable, ...words] = list;
  const path = [
    dirname(await npmProgram(npmPackage, executable)),
    // Some need a newer Node.js than the one that runs this.
    dirname(await npmProgram("node", "node")),
    process.env["PATH"],
  ].join(delimiter);
  const options = { cwd: project, env: { HOME: home, PATH: path, TERM: "dumb" } };
  const write = async (file: string, content: string | Buffer) => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  };
  // It asks the user whether a folder is trusted, and starts nothing before.
  if (client === "gemini")
    await write(join(home, ".gemini/trustedFolders.json"), JSON.stringify({ [project]: "TRUST_FOLDER" }));
  const file =
    filesOf(FORMATS[client], { env: {}, homeDir: home, platform: process.platform }).at(
      client === "cline" ? -1 : 0,
    ) ?? "";
  const content = change(fileOf(client));

  await write(file, content);
  const doctor = await run(process.execPath, [BUILT_FILE, "doctor", "--client", client], options);
  await write(file, content);
  const listed = await run(executable, words, options);

  const said = listed.stdout + listed.stderr;
  const isRead = listed.code === 0 && said.includes("faceless-video");
  expect(doctor.code, `${doctor.stdout}\n${said}`).toBe(isRead ? 0 : 1);
});
