// server.json as the MCP Registry accepts it: checked with the registry's schema if it is available, and with rules that the schema
// lacks (it allows version ranges and misspelt keys).

import { Ajv } from "ajv";
import { existsSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import manifest from "../package.json" with { type: "json" };
import server from "../server.json" with { type: "json" };
import { COMMANDS, parseCommandLine } from "../src/command-line.ts";
import { VARIABLES } from "../src/config.ts";
import { temporaryFolder } from "./fixtures/folder.ts";
import { run } from "./fixtures/run.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const SCHEMA = join(root, "../shared/server.schema.json");

const exactVersion = z.literal(manifest.version);
const variableSchema = z.strictObject({
  name: z.string().regex(/^FACELESS_[A-Z_]+$/),
  description: z.string().min(1),
  isSecret: z.literal(true).optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).nonempty().optional(),
});
const transport = z.strictObject({ type: z.literal("stdio") });
const rules = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z.literal(manifest.mcpName),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: exactVersion,
  websiteUrl: z.literal(manifest.homepage),
  repository: z.strictObject({
    url: z.literal(manifest.repository.url.replace(/^git\+|\.git$/g, "")),
    source: z.literal("github"),
  }),
  icons: z
    .array(
      z.strictObject({
        src: z.url({ protocol: /^https$/ }).max(255),
        mimeType: z.literal("image/png"),
        sizes: z.tuple([z.literal("512x512")]),
      }),
    )
    .optional(),
  packages: z.tuple([
    z.strictObject({
      registryType: z.literal("npm"),
      identifier: z.literal(manifest.name),
      version: exactVersion,
      runtimeHint: z.literal("npx"),
      transport,
      // Clients give each option a value, with the default at hand.
      packageArguments: z.array(
        z.strictObject({
          type: z.literal("named"),
          name: z.string(),
          description: z.string().min(1),
          format: z.literal("boolean"),
          default: z.literal("false"),
        }),
      ),
      environmentVariables: z
        .array(variableSchema)
        .refine(
          (variables) =>
            JSON.stringify(variables.filter(({ isSecret }) => isSecret === true).map(({ name }) => name)) ===
            JSON.stringify(["FACELESS_API_KEY"]),
          "the key, and it alone, is a secret",
        )
        .refine(
          (variables) =>
            ["FACELESS_API_KEY", "FACELESS_BASE_URL"].every((needed) =>
              variables.some(({ name }) => name === needed),
            ),
          "the key and the base URL are there",
        ),
    }),
  ]),
});

/** The registry's own schema, in which `uri` is the only format. */
async function registrySchema() {
  const ajv = new Ajv({ strict: false, formats: { uri: (text: string) => URL.canParse(text) } });
  return ajv.compile(JSON.parse(await readFile(SCHEMA, "utf8")));
}

test("server.json follows the rules", () => {
  expect(rules.safeParse(server).error?.issues).toBeUndefined();
});

test.skipIf(!existsSync(SCHEMA))("server.json is valid by the registry's schema", async () => {
  const validate = await registrySchema();
  validate(server);
  expect(validate.errors).toBeNull();
});

test("server.json lists the server's own options, and variables that it knows", () => {
  const [npm] = server.packages;
  const options = Object.keys(COMMANDS[0].options).map((option) => `--${option}`);
  expect(npm?.packageArguments.map(({ name }) => name)).toEqual(options);
  const known = VARIABLES.map(({ name }): string => name);
  expect(npm?.environmentVariables.filter(({ name }) => !known.includes(name))).toEqual([]);
});

test("what a client makes of the untouched defaults starts the server with every tool", () => {
  const [npm] = server.packages;
  // As VS Code does: the name, then the answer to its question.
  const argv = npm?.packageArguments.flatMap((argument) => [argument.name, argument.default]) ?? [];

  expect(parseCommandLine(argv)).toEqual({
    command: { name: "serve", flags: { sandbox: false, readOnly: false, noPublish: false } },
  });
});

describe("the files of a release", () => {
  const release = async () => {
    const folder = temporaryFolder();
    const bundle = join(folder, "faceless-video-mcp.mcpb");
    await writeFile(bundle, "a bundle");
    const tsx = join(root, "node_modules/.bin/tsx");
    const ran = await run(tsx, [join(root, ".config/release-files.ts"), folder, bundle]);
    expect(ran.code, ran.stderr).toBe(0);
    return (name: string) => readFile(join(folder, name), "utf8");
  };

  test("are a server.json with the bundle and its hash", async () => {
    const released = z
      .looseObject({ packages: z.array(z.unknown()) })
      .parse(JSON.parse(await (await release())("server.json")));

    expect(released).toEqual({
      ...server,
      packages: [
        ...server.packages,
        {
          registryType: "mcpb",
          identifier: `https://github.com/faceless-video/faceless-video-mcp/releases/download/v${manifest.version}/faceless-video-mcp.mcpb`,
          version: manifest.version,
          fileSha256: createHash("sha256").update("a bundle").digest("hex"),
          transport: { type: "stdio" },
        },
      ],
    });
    if (!existsSync(SCHEMA)) return;
    const validate = await registrySchema();
    validate(released);
    expect(validate.errors).toBeNull();
  });

  test("are notes with what the changelog says of this version alone", async () => {
    const notes = await (await release())("notes.md");
    const changelog = await readFile(join(root, "CHANGELOG.md"), "utf8");

    expect(notes).toMatch(/^The first version\.\n\n### Added\n/);
    expect(changelog).toContain(notes.trim());
    expect(notes).not.toMatch(/^## |^\[/m);
  });
});

const [entry] = server.packages;
const [key, baseUrl] = entry?.environmentVariables ?? [];
test.each([
  ["a range", { ...server, version: `^${manifest.version}` }],
  ["another version of the package", { ...server, packages: [{ ...entry, version: "9.9.9" }] }],
  ["no version of the package", { ...server, packages: [{ ...entry, version: undefined }] }],
  ["another name", { ...server, name: "io.github.someone/else" }],
  ["a long description", { ...server, description: "x".repeat(101) }],
  ["a misspelt key", { ...server, websiteURL: server.websiteUrl }],
  ["a key of an older schema", { ...server, packages: [{ ...entry, registry_type: "npm" }] }],
  ["no schema", { ...server, $schema: undefined }],
  ["another transport", { ...server, packages: [{ ...entry, transport: { type: "sse" } }] }],
  [
    "an API key in the open",
    {
      ...server,
      packages: [{ ...entry, environmentVariables: [{ ...key, isSecret: undefined }, baseUrl] }],
    },
  ],
  ["no base URL", { ...server, packages: [{ ...entry, environmentVariables: [key] }] }],
])("the rules refuse %s", (_what, wrong) => {
  expect(rules.safeParse(wrong).success).toBe(false);
});

test("`npm version` updates the versions in server.json in the same commit, and nothing else", async () => {
  const folder = temporaryFolder();
  await cp(join(root, "server.json"), join(folder, "server.json"));
  const tsx = join(root, "node_modules/.bin/tsx");
  const script = join(root, ".config/sync-version.ts");
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "x", version: "0.0.1", scripts: { version: `"${tsx}" "${script}"` } }),
  );
  const inFolder = async (command: string, ...args: string[]) => {
    const { code, stdout, stderr } = await run(command, args, { cwd: folder });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  await inFolder("git", "init", "--quiet");
  await inFolder("git", "config", "user.name", "Test");
  await inFolder("git", "config", "user.email", "test@example.com");
  await inFolder("git", "config", "core.hooksPath", "none");
  await inFolder("git", "add", ".");
  await inFolder("git", "commit", "--quiet", "--message", "Before");

  await inFolder("npm", "version", "7.8.9-rc.1");
  const committed = await inFolder("git", "show", "HEAD:server.json");
  const before = await readFile(join(root, "server.json"), "utf8");
  expect(committed).toBe(before.replaceAll(`"version": "${server.version}"`, '"version": "7.8.9-rc.1"'));
  expect(JSON.parse(committed)).toEqual({
    ...server,
    version: "7.8.9-rc.1",
    packages: server.packages.map((one) => ({ ...one, version: "7.8.9-rc.1" })),
  });
  expect(await inFolder("git", "status", "--porcelain")).toBe("");
});

test("package.json runs it on `npm version`", () => {
  expect(manifest.scripts).toMatchObject({ version: "tsx .config/sync-version.ts" });
});
