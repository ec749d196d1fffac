// The tools as the source declares them; test/e2e/contract.test.ts holds the list of the built server.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TOOL_SCHEMAS } from "../../src/tools/tool-schemas.ts";
import { toolsFor } from "../../src/tools/catalog.ts";

const TOOLS = toolsFor({ readOnly: false, noPublish: false });

test.each(TOOLS.map((tool) => [tool.name, tool] as const))("%s declares what was reviewed", (name, tool) => {
  const { title, description, annotations, effect, startsJob } = tool;
  const file = new URL(`../contract/tool-${name}.json`, import.meta.url);
  const { _meta, ...reviewed } = JSON.parse(readFileSync(file, "utf8"));
  const { input, output } = TOOL_SCHEMAS[name] ?? {};

  const listed = { name, title, description, inputSchema: input, outputSchema: output };
  expect({ ...listed, annotations: { title, ...annotations } }).toEqual(reviewed);
  expect({ effect, startsJob }).toEqual({
    effect: { generate_video: "spends", publish_video: "publishes" }[name] ?? "reads",
    startsJob: _meta === undefined ? undefined : true,
  });
});
