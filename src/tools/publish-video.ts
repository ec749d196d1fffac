// publish_video: posts a finished video to the person's connected accounts.

import * as z from "zod";
import type { Latest } from "../jobs/paid-requests.ts";
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
  input: () =>
    z.strictObject({
      jobId: jobIdArgument(),
      platforms: z
        .array(z.string().trim().toLowerCase().regex(/^\S+$/, "must be a platform's name"))
        .min(1, "must name at least one platform")
        // One post each, however often the name stands there.
        .transform((platforms) => [...new Set(platforms)])
        .describe("Lowercase ids of connected platforms"),
    }),
  output: () => z.looseObject({ results: z.array(z.looseObject({ platform: z.string(), ok: z.boolean() })) }),
  async run(request, { service, jobs, paid, confirm, signal }) {
    const { jobId, platforms } = request;
    const args = { jobId: jobId.toLowerCase(), platforms: platforms.toSorted() };
    const { topic, finalVideoUrl } = jobs.get(jobId) ?? {};
    const latest = paid.publish.latest(args);
    const answer = confirm({
      // A yes is one to what the person was told: whoever has published it since is news.
      key: JSON.stringify([args, latest?.id, latest?.isDone]),
      message: question({ jobId, topic, finalVideoUrl, platforms, latest }),
    });
    const outcome = await paid.publish.once({
      args,
      label: `${topic ?? jobId} on ${platforms.join(", ")}`,
      // The question tells of an earlier attempt, so that a yes is one to another.
      confirmed: answer === "yes",
      send: () => service.publish(request, { signal }),
    });
    if (outcome.kind === "earlier") throw new TypeError("A publication has no job of its own.");
    return { sentence: describePublication(outcome.result.results), result: outcome.result };
  },
});

interface Publishing {
  readonly jobId: string;
  readonly topic: string | undefined;
  readonly finalVideoUrl: string | undefined;
  readonly platforms: readonly string[];
  readonly latest: Latest | undefined;
}

function question({ jobId, topic, finalVideoUrl, platforms, latest }: Publishing): string {
  const name = topic === undefined ? `job ${jobId}` : `"${cleanServiceText(topic, 120)}" (job ${jobId})`;
  const link = finalVideoUrl === undefined ? "" : ` Watch it: ${cleanServiceText(finalVideoUrl)}`;
  const before = latest === undefined ? "" : describeLatest(latest);
  return `Publish the video ${name} on ${platforms.join(", ")}? It becomes public.${before}${link}`;
}

function describeLatest({ ageMs, isDone }: Latest): string {
  const minutes = Math.max(1, Math.round(ageMs / 60_000));
  return isDone
    ? ` The same was published about ${minutes} min ago already.`
    : ` An attempt about ${minutes} min ago may have posted it already: look at the accounts first.`;
}

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
