// The files that a release makes from server.json, CHANGELOG.md and the plugins, with the script that its workflow runs.

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

The next
version.

### Added

- New, in a line
  that goes on
  for two more.
- Newer: it
  is-so.

## [1.0.0] - 2026-12-31

- Old.

[Unreleased]: https://example.com
`;

/** Makes the files of a release of this version, and returns their folder. */
async function pack(version: string): Promise<string> {
  const cwd = temporaryFolder();
  await writeFile(join(cwd, "server.json"), JSON.stringify({ ...server, version }));
  await writeFile(join(cwd, "CHANGELOG.md"), CHANGELOG(version));
  await writeFile(join(cwd, "faceless-video-mcp.mcpb"), "a bundle");
  const ran = await run(process.execPath, ["--import", import.meta.resolve("tsx"), SCRIPT, cwd], { cwd });
  expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
  return cwd;
}

test.each([
  ["1.2.3", "latest"],
  ["1.2.3-rc.1", "next"],
])("release %s names its bundle by hash, its own notes and npm's tag %s", async (version, tag) => {
  const cwd = await pack(version);

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
  // GitHub shows each line break of the notes.
  expect(await readFile(join(cwd, "notes.md"), "utf8")).toBe(
    "The next version.\n\n### Added\n\n- New, in a line that goes on for two more.\n- Newer: it is-so.\n",
  );
  expect(await readFile(join(cwd, "npm-tag"), "utf8")).toBe(`${tag}\n`);
  expect(await schemaErrors(entry)).toBeNull();
});

test("Gemini CLI finds the extension's archive by its platform, with the manifest at its top", async () => {
  const cwd = await pack("1.2.3");

  const names = ["linux", "darwin", "win32"].map((platform) => `${platform}.faceless-video.tar.gz`);
  const listed = await Promise.all(names.map((name) => run("tar", ["-tzf", join(cwd, name)])));
  for (const { stdout } of listed) {
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining(["gemini-extension.json", "skills/make-faceless-video/SKILL.md"]),
    );
  }
});

/** The errors by the registry's own schema, if it is at hand. `uri` is its only format. */
async function schemaErrors(entry: unknown) {
  if (SCHEMA === "") return null;
  const ajv = new Ajv({ strict: false, formats: { uri: (text: string) => URL.canParse(text) } });
  const validate = ajv.compile(JSON.parse(await readFile(SCHEMA, "utf8")));
  validate(entry);
  return validate.errors;
}
