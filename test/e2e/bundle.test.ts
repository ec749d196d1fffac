// The .mcpb bundle: staged from the built files, validated, packed, unpacked, started as in Claude Desktop.

import { getMcpConfigForManifest, packExtension, unpackExtension, v0_3 } from "@anthropic-ai/mcpb";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connectLegacy, type TestClient, textOf } from "../fixtures/clients.ts";
import { KEY, ON_TIKTOK, PUBLISH, STATUS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { TOOLS } from "../fixtures/tools.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = temporaryFolder(afterAll);
const unpacked = join(folder, "unpacked");

beforeAll(async () => {
  const [staged, mcpbPath] = [join(folder, "staged"), join(folder, "x.mcpb")];
  const ran = await run(join(root, "node_modules/.bin/tsx"), ["scripts/stage-bundle.ts", staged], {
    cwd: root,
  });
  if (ran.code !== 0) throw new Error(ran.stderr);
  // Validates the manifest first, and prints the result.
  const printing = vi.spyOn(console, "log").mockImplementation(() => {});
  const isPacked = await packExtension({ extensionPath: staged, outputPath: mcpbPath, silent: true });
  if (!isPacked) throw new Error("The bundle can't be packed.");
  await unpackExtension({ mcpbPath, outputDir: unpacked, silent: true });
  printing.mockRestore();
});

async function readManifest() {
  return v0_3.McpbManifestSchema.parse(JSON.parse(await readFile(join(unpacked, "manifest.json"), "utf8")));
}

type Values = Parameters<typeof getMcpConfigForManifest>[0]["userConfig"];

/** Starts the unpacked entry with the values of the settings page, below the host's own script if there is one. */
async function install(userConfig: Values, host: readonly string[] = [], asksUser = false) {
  const config = await getMcpConfigForManifest({
    manifest: await readManifest(),
    extensionPath: unpacked,
    systemDirs: {},
    userConfig,
    pathSeparator: "/",
  });
  expect(config?.command).toBe("node");
  const [file = "", ...args] = [...host, ...(config?.args ?? [])];
  return connectLegacy({
    file,
    args,
    env: { ...config?.env, FACELESS_STATE_DIR: "off", FACELESS_LOG_LEVEL: "silent" },
    cwd: "/",
    ...(asksUser && { user: async () => ({ action: "decline" }) }),
  });
}

const generate = ({ call }: TestClient) => call("generate_video", { topic: "Why the sea is salty" });

test("every setting of the bundle is passed to its entry, and only the key is a secret", async () => {
  const { server, user_config: settings = {} } = await readManifest();
  const used = JSON.stringify(server.mcp_config).match(/(?<=\$\{user_config\.)\w+/g) ?? [];
  expect(new Set(used)).toEqual(new Set(Object.keys(settings)));
  const sensitive = Object.entries(settings).filter(([, { sensitive = false }]) => sensitive);
  expect(sensitive.map(([name]) => name)).toEqual(["api_key"]);
  // The sandbox must run before there is an account.
  expect(Object.values(settings).filter(({ required = false }) => required)).toEqual([]);
});

test.each([
  ["untouched", {}],
  ["empty", { api_key: "", base_url: "", save_dir: "", max_generations: "" }],
  ["switched off", { sandbox: false, no_publish: false, read_only: false }],
])("with settings that are %s, the bundle starts the sandbox and says so", async (_how, values) => {
  const client = await install(values);

  expect((await client.raw.listTools()).tools).toHaveLength(TOOLS.length);
  const { structuredContent, isError } = await generate(client);
  expect([isError, structuredContent?.["summary"]]).toEqual([
    undefined,
    expect.stringContaining("This is a sandbox"),
  ]);
});

test.each([
  [
    "only a key",
    { api_key: KEY },
    "This server is not set up: “Service address” is not set. This call started no video and spent no credits. The same call would fail again. Tell the user: “Service address”: Set it to the service's address, such as https://videos.example.com. Put that into this extension's settings. Then switch this extension off and on again. To try it without an account, turn on “Sandbox” in this extension's settings.",
  ],
  ["only an address", { base_url: "https://videos.test" }, "“Your key” is not set"],
  [
    "another word for the question",
    { sandbox: true, confirm_publish: "yes" },
    "“Ask before posting” is not one of on, off, always",
  ],
])("with %s, the bundle says what is missing in the words of its form", async (_, values, told) => {
  const result = await generate(await install(values));

  expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining(told)]);
  expect(textOf(result)).not.toMatch(/FACELESS_|--sandbox/);
});

test("the bundle's switches and numbers apply to the server", async () => {
  const client = await install({ sandbox: true, no_publish: true, max_generations: 1 });
  const { tools } = await client.raw.listTools();
  expect(tools.map(({ name }) => name)).not.toContain("publish_video");
  expect((await generate(client)).isError).not.toBe(true);
  expect((await client.call("generate_video", { topic: "Another one" })).isError).toBe(true);
  const reader = await install({ sandbox: true, read_only: true });
  const names = (await reader.raw.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(TOOLS.filter((name) => !["generate_video", "publish_video"].includes(name)));
});

test("the bundle's form begins with what everybody needs, and names no variable", async () => {
  const { user_config: settings = {} } = await readManifest();

  expect(Object.values(settings).map(({ title }) => title)).toEqual([
    "Sandbox",
    "Your key",
    "Service address",
    "Folder for finished videos",
    "Ask before ordering",
    "Ask before posting",
    "Most videos in 24 hours",
    "Never post",
    "Only look",
    "Folder for the record of orders and posts",
  ]);
  expect(JSON.stringify(settings)).not.toMatch(/FACELESS_|--[a-z]|journal|client|process/);
  expect(settings["base_url"]?.description).toContain("https://videos.example.com");
});

test("the bundle's key is sent, and the user isn't asked with “Ask before posting” off", async () => {
  const service = await scriptedService({
    [STATUS]: { json: { status: "completed", videoUrls: [] } },
    [PUBLISH]: { json: { results: [{ platform: "tiktok", ok: true }] } },
  });
  const publish = async (confirm_publish: string) => {
    const client = await install({ api_key: KEY, base_url: service.url, confirm_publish }, [], true);
    return client.call("publish_video", ON_TIKTOK);
  };

  expect(await publish("always")).toMatchObject({ isError: true });
  expect(await publish("off")).toMatchObject({
    structuredContent: { results: [{ platform: "tiktok", ok: true }] },
  });
  const keys = service.requests.map(({ headers }) => headers.authorization);
  expect(new Set(keys)).toEqual(new Set([`Bearer ${KEY}`]));
});

test("a host can start the bundle's entry from its own script", async () => {
  const host = join(folder, "host.cjs");
  await writeFile(host, "require(process.argv[2]);");
  const client = await install({ sandbox: true }, [host]);
  expect((await generate(client)).structuredContent).toMatchObject({ status: "processing" });
});
