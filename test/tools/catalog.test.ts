// What the tools advertise, from their source. The snapshots are reviewed files that the built server is held against too.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ADVERTISED } from "../../src/mcp/advertised.ts";
import { toolsFor } from "../../src/tools/catalog.ts";

const ALL = toolsFor({ readOnly: false, noPublish: false });

test.each(ALL.map((tool) => [tool.name, tool] as const))(
  "the tool %s is as its snapshot says",
  async (name, tool) => {
    const snapshot: unknown = JSON.parse(
      await readFile(new URL(`../contract/tool-${name}.json`, import.meta.url), "utf8"),
    );
    const { title, description, annotations } = tool;

    expect(snapshot).toMatchObject({
      name,
      title,
      description,
      annotations,
      inputSchema: ADVERTISED[name]?.input,
      outputSchema: ADVERTISED[name]?.output,
    });
  },
);

test("the tools of a read-only server only read, and without publishing the video can still be made", () => {
  const names = (readOnly: boolean, noPublish: boolean) =>
    toolsFor({ readOnly, noPublish }).map(({ name, effect }) => [name, effect]);

  expect(names(true, false)).toEqual([
    ["get_video_status", "reads"],
    ["list_videos", "reads"],
    ["list_connected_platforms", "reads"],
  ]);
  expect(names(false, true)).toEqual([
    ["generate_video", "spends"],
    ["get_video_status", "reads"],
    ["list_videos", "reads"],
    ["list_connected_platforms", "reads"],
  ]);
  expect(names(false, false)).toContainEqual(["publish_video", "publishes"]);
});
