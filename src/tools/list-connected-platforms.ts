// list_connected_platforms: where publish_video can post.

import * as z from "zod";
import { platformTitle } from "../service/platforms.ts";
import { inWords } from "../text.ts";
import { defineTool, guidanceFields } from "./tool.ts";

export const listConnectedPlatforms = defineTool({
  name: "list_connected_platforms",
  title: "List connected platforms",
  description: "Lists the user's connected accounts, where videos can be published. Costs nothing.",
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  effect: "reads",
  // Loose: some hosts send a dummy argument to a tool that takes none.
  input: () => z.looseObject({}),
  output: () =>
    z.looseObject({ ...guidanceFields(), platforms: z.array(z.looseObject({ platform: z.string() })) }),
  async run(_input, { service, signal }) {
    const platforms = await service.listConnectedPlatforms({ signal });
    const names = [...new Set(platforms.map(({ platform }) => platformTitle(platform.trim().toLowerCase())))];
    return {
      ...(names.length === 0
        ? {
            summary: "No account is connected, so nothing can be published yet.",
            nextStep: "Tell the user to connect an account on the service's website.",
          }
        : { summary: `Connected: ${inWords(names)}.` }),
      result: { platforms: [...platforms] },
    };
  },
});
