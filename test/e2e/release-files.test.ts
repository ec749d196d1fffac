// What a release makes of server.json and CHANGELOG.md, with the script that its workflow runs.

import { Ajv } from "ajv";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import server from "../../server.json" with { type: "json" };
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/release-files.ts", import.meta.url));
/** A file with the schema that server.json names. The workflow that packs downloads it. */
const SCHEMA = process.env["SERVER_SCHEMA"] ?? "";

const CHANGELOG = (version: string) => `# Changelog

## [Unreleased]

## [${version}] - 2027-01-31

- New.

## [1.0.0] - 2026-12-31

- Old.

[Unreleased]: https://example.com
`;

test.each([
  ["1.2.3", "latest"],
  ["1.2.3-rc.1", "next"],
])("release %s names its bundle by hash, its own notes and npm's tag %s", async (version, tag) => {
  const cwd = temporaryFolder();
  await writeFile(join(cwd, "server.json"), JSON.stringify({ ...server, version }));
  await writeFile(join(cwd, "CHANGELOG.md"), CHANGELOG(version));
  await writeFile(join(cwd, "faceless-video-mcp.mcpb"), "a bundle");

  const ran = await run(process.execPath, ["--import", import.meta.resolve("tsx"), SCRIPT, cwd], { cwd });

  expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
  const entry: unknown = JSON.parse(await readFile(join(cwd, "server.json"), "utf8"));
  const release = `${server.repository.url}/releases/download/v${version}`;
  const bundle = {
    registryType: "mcpb",
    identifier: `${release}/faceless-video-mcp.mcpb`,
    version,
    fileSha256: "cd98c950d629c66548537b4ecd68dab3e8cf59974ba6e40df5a1a7354b39db5f",
    transport: { type: "stdio" },
  };
  expect(entry).toEqual({ ...server, version, packages: [...server.packages, bundle] });
  expect(await readFile(join(cwd, "notes.md"), "utf8")).toBe("- New.\n");
  expect(await readFile(join(cwd, "npm-tag"), "utf8")).toBe(`${tag}\n`);
  expect(await schemaErrors(entry)).toBeNull();
});

/** The errors by the registry's own schema, if it is at hand. `uri` is its only format. */
async function schemaErrors(entry: unknown) {
  if (SCHEMA === "") return null;
  const ajv = new Ajv({ strict: false, formats: { uri: (text: string) => URL.canParse(text) } });
  const validate = ajv.compile(JSON.parse(await readFile(SCHEMA, "utf8")));
  validate(entry);
  return validate.errors;
}
