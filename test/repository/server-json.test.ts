// server.json, which the MCP Registry publishes.

import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import server from "../../server.json" with { type: "json" };
import { serverJson } from "../../scripts/settings-forms.ts";
import { parseCommandLine } from "../../src/command-line.ts";

test("server.json describes exactly the options and settings of the server", () => {
  expect(JSON.parse(serverJson())).toEqual(server);
});

test("server.json names this package and its exact version, and only the key and the journal's database are secrets", () => {
  const [npm] = server.packages;
  expect(server).toMatchObject({ name: manifest.mcpName, websiteUrl: manifest.homepage });
  expect(npm).toMatchObject({ identifier: manifest.name, version: server.version });
  expect(server.version).toBe(manifest.version);
  // The registry refuses longer ones.
  expect(server.description.length).toBeLessThanOrEqual(100);
  const secrets = npm?.environmentVariables.filter((variable) => "isSecret" in variable);
  expect(secrets?.map(({ name }) => name)).toEqual(["FACELESS_API_KEY", "FACELESS_JOURNAL_URL"]);
});

test("an entry that a client makes of the untouched defaults starts the server with every tool", () => {
  const [npm] = server.packages;
  // VS Code passes the name, then the answer to its question.
  const argv = npm?.packageArguments.flatMap((argument) => [argument.name, argument.default]) ?? [];

  expect(parseCommandLine(argv)).toEqual({
    name: "serve",
    flags: { sandbox: false, readOnly: false, noPublish: false },
  });
});
