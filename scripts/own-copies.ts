// A module is bundled once, with all that any chunk uses of it. Here the chunks that load late get a copy of their own
// of SDK modules, so that the first answer doesn't wait for the parts that only they use.

import { readFileSync } from "node:fs";
import type { Plugin } from "rolldown";

/** By importer: the modules of which it has its own. */
const COPIES: readonly (readonly [importer: RegExp, module: RegExp])[] = [
  [/@modelcontextprotocol.client|\?own$/, /@modelcontextprotocol.core/],
  [/src.sandbox.mcp-endpoint\.ts/, /@modelcontextprotocol.server.dist.index\.mjs/],
];
/** The end of a copy's id. */
const OWN = "?own";

/** The file of a module. */
export function fileOf(id: string): string {
  return id.replace(OWN, "");
}

export const ownCopies: Plugin = {
  name: "own-copies",
  async resolveId(source, importer = "") {
    const modules = COPIES.flatMap(([from, module]) => (from.test(importer) ? module : []));
    if (modules.length === 0) return null;
    const resolved = await this.resolve(source, fileOf(importer), { skipSelf: true });
    const { id = "" } = resolved ?? {};
    return modules.some((module) => module.test(id)) ? { ...resolved, id: `${id}${OWN}` } : resolved;
  },
  load: (id) => (id.endsWith(OWN) ? readFileSync(fileOf(id), "utf8") : undefined),
};
