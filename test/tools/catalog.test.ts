import { expect, test } from "vitest";
import { toolsFor } from "../../src/tools/catalog.ts";

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
