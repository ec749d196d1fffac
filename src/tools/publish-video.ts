// publish_video: posts a finished video to the person's connected accounts.

import * as z from "zod";
import { cleanServiceText } from "../text.ts";
import { jobIdArgument } from "./arguments.ts";
import { defineTool } from "./tool.ts";

export const publishVideo = defineTool({
  name: "publish_video",
  title: "Publish a video",
  description:
    "Posts a completed video publicly to the person's connected accounts, which can't be undone from here. Call it only when the person has asked for this video on these platforms. list_connected_platforms names the platforms. The result has one entry a platform: read each ok.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  effect: "publishes",
  input: z.strictObject({
    jobId: jobIdArgument,
    platforms: z
      .array(z.string().trim().toLowerCase().regex(/^\S+$/, "must be a platform's name"))
      .min(1, "must name at least one platform")
      // One post each, however often the name stands there.
      .transform((platforms) => [...new Set(platforms)])
      .describe("Lowercase ids of connected platforms"),
  }),
  output: z.looseObject({ results: z.array(z.looseObject({ platform: z.string(), ok: z.boolean() })) }),
  async run(request, { service, signal }) {
    const publication = await service.publish(request, { signal });
    return { sentence: describePublication(publication.results), result: publication };
  },
});

function describePublication(results: readonly { platform: string; ok: boolean }[]): string {
  const names = (ok: boolean) =>
    results.filter((result) => result.ok === ok).map(({ platform }) => cleanServiceText(platform, 60));
  const posted = names(true);
  const failed = names(false);
  if (results.length === 0) return "The service reported no platform, so look at the accounts themselves.";
  if (failed.length === 0) return `Published to ${posted.join(", ")}.`;
  if (posted.length === 0) return `Published nowhere: ${failed.join(", ")} failed.`;
  return `Published to ${posted.join(", ")}; ${failed.join(", ")} failed, so publish only to those again.`;
}
