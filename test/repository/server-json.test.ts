// server.json, which the MCP Registry publishes.

import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import server from "../../server.json" with { type: "json" };
import { serverJson } from "../../scripts/settings-forms.ts";
import { parseCommandLine } from "../../src/command-line.ts";

test("server.json describes exactly the options and settings of the server", () => {
  expect(JSON.parse(serverJson())).toEqual(server);
});

test("server.json names this package and its exact version, asks for three things, and only the key is a secret", () => {
  const [npm] = server.packages;
  expect(server).toMatchObject({ name: manifest.mcpName, websiteUrl: manifest.homepage });
  expect(npm).toMatchObject({ identifier: manifest.name, version: server.version });
  expect(server.version).toBe(manifest.version);
  // The registry refuses longer ones.
  expect(server.description.length).toBeLessThanOrEqual(100);
  // Its clients ask for each, one after the other.
  expect(npm?.environmentVariables.map(({ name }) => name)).toEqual([
    "FACELESS_API_KEY",
    "FACELESS_BASE_URL",
    "FACELESS_SAVE_DIR",
  ]);
  const secrets = npm?.environmentVariables.filter((variable) => "isSecret" in variable);
  expect(secrets?.map(({ name }) => name)).toEqual(["FACELESS_API_KEY"]);
});

test("an entry that a client makes of it starts every tool, and the sandbox while nothing is filled in", () => {
  const [npm] = server.packages;
  const argv = npm?.packageArguments.map(({ value }) => value) ?? [];

  expect(parseCommandLine(argv)).toEqual({
    name: "serve",
    flags: { sandbox: "auto", readOnly: false, noPublish: false },
  });
});
