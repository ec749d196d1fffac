// Some packages contain others in their own files, where node_modules does not show them. Their bundler
// leaves a `//#region` comment for each: those that the build includes are added to the notices.

import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "rolldown";
import * as z from "zod";

const packageSchema = z.object({ license: z.string() });
const modules = new URL("../node_modules/", import.meta.url);

export function vendoredNotices(notices: URL): Plugin {
  const found = new Map<string, string>();
  return {
    name: "vendored-notices",
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type !== "chunk") continue;
        for (const [id, { renderedLength }] of Object.entries(output.modules)) {
          if (renderedLength === 0 || !/[\\/]node_modules[\\/]/.test(id)) continue;
          for (const [name, version] of vendoredIn(readFileSync(id, "utf8"))) found.set(name, version);
        }
      }
    },
    // The notices of the packages themselves are written by then.
    writeBundle() {
      for (const name of [...found.keys()].sort())
        appendFileSync(notices, notice(name, found.get(name) ?? ""));
    },
  };
}

function* vendoredIn(source: string): Iterable<[name: string, version: string]> {
  for (const [, version = "", name = ""] of source.matchAll(
    /\/\/#region \S*node_modules\/\.pnpm\/\S+?@(\d[^_/]*)\S*?\/node_modules\/((?:@[^/]+\/)?[^/]+)/g,
  ))
    yield [name, version];
}

/** The licence is read from the installed package, whose version may differ; only the text matters. */
function notice(name: string, version: string): string {
  const folder = new URL(`${name}/`, modules);
  const { license } = packageSchema.parse(JSON.parse(readFileSync(new URL("package.json", folder), "utf8")));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} is bundled, and its licence is not at hand.`);
  const text = readFileSync(new URL(file, folder), "utf8").trim();
  return `\n\n---\n\nName: ${name}\nVersion: ${version}\nLicense: ${license}\nLicense Text:\n===\n\n${text}\n`;
}
