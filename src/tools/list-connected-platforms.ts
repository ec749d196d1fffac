// list_connected_platforms: where publish_video can post.

import * as z from "zod";
import { platformId } from "../idempotency/same-post.ts";
import { platformTitle, unusableState } from "../service/platforms.ts";
import { inSentences, say } from "../sentences.ts";
import { inWords } from "../text.ts";
import { accountsOn, describeUnusable } from "./platform-names.ts";
import { defineTool, guidanceFields } from "./tool.ts";

export const listConnectedPlatforms = defineTool({
  name: "list_connected_platforms",
  title: "List connected platforms",
  description: say`Lists [the user's|your] connected accounts, where videos can be published. Costs nothing.`,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  effect: "reads",
  // Loose: some hosts send a dummy argument to a tool that takes none.
  input: () => z.looseObject({}),
  output: () =>
    z.looseObject({ ...guidanceFields(), platforms: z.array(z.looseObject({ platform: z.string() })) }),
  async run(_input, { service, signal, config }) {
    const platforms = await service.listConnectedPlatforms({ signal });
    const ids = [...new Set(platforms.map(({ platform }) => platformId(platform)))];
    const counts = ids.map((id) => ({ title: platformTitle(id), count: accountsOn(id, platforms).length }));
    const usable = counts.filter(({ count }) => count > 0);
    const several = usable.filter(({ count }) => count > 1).map(({ title }) => title);
    const names = usable.map(({ title, count }) => (count === 1 ? title : `${title} (${count} accounts)`));
    const unusable = platforms.filter((account) => unusableState(account) !== undefined);
    return {
      summary: inSentences(
        usable.length === 0
          ? "No account is connected, so nothing can be published yet."
          : `Connected: ${inWords(names)}.`,
        ...unusable.map(describeUnusable),
      ),
      nextStep: inSentences(
        several.length > 0 &&
          !config.readOnly &&
          !config.noPublish &&
          say`The service takes a platform, not one of its accounts, and decides on which of the ${inWords(several)} accounts it posts: publish there only if [the user has said that |]any of them will do.`,
        unusable.length > 0 &&
          say`[Tell the user to connect|Connect] ${unusable.length === 1 ? "that account" : "those accounts"} again on the service's website.`,
        platforms.length === 0 &&
          say`[Tell the user to connect|Connect] an account on the service's website.`,
      ),
      result: { platforms: [...platforms] },
    };
  },
});
