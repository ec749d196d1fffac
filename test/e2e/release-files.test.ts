// What a release makes of server.json and CHANGELOG.md, with the script that its workflow runs.

import { Ajv } from "ajv";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as z from "zod";
import manifest from "../../package.json" with { type: "json" };
import server from "../../server.json" with { type: "json" };
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** A file with the schema that server.json names. The workflow that packs downloads it. */
const SCHEMA = process.env["SERVER_SCHEMA"] ?? "";

/** The errors by the registry's own schema, in which `uri` is the only format. */
async function schemaErrors(entry: unknown) {
  const ajv = new Ajv({ strict: false, formats: { uri: (text: string) => URL.canParse(text) } });
  const validate = ajv.compile(JSON.parse(await readFile(SCHEMA, "utf8")));
  validate(entry);
  return validate.errors;
}

test.skipIf(SCHEMA === "")("server.json is valid by the registry's schema", async () => {
  expect(await schemaErrors(server)).toBeNull();
});

test("a release has a server.json with the bundle and its hash, and the changelog's notes of its version alone", async () => {
  const folder = temporaryFolder();
  const bundle = join(folder, "faceless-video-mcp.mcpb");
  await writeFile(bundle, "a bundle");
  const script = join(root, ".config/release-files.ts");
  const ran = await run(process.execPath, ["--import", "tsx", script, folder], { cwd: root });
  expect(ran.code, ran.stderr).toBe(0);
  const notes = await readFile(join(folder, "notes.md"), "utf8");
  const released = z
    .looseObject({ packages: z.array(z.unknown()) })
    .parse(JSON.parse(await readFile(join(folder, "server.json"), "utf8")));

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
  expect(await readFile(join(folder, "npm-tag"), "utf8")).toBe("latest");
  expect(notes).toMatch(/^The first version\.\n\n### Added\n/);
  expect(await readFile(join(root, "CHANGELOG.md"), "utf8")).toContain(notes.trim());
  expect(notes).not.toMatch(/^## |^\[/m);
  expect(SCHEMA === "" ? null : await schemaErrors(released)).toBeNull();
});
