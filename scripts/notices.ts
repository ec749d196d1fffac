// Writes the licences of the bundled packages to dist/THIRD_PARTY_NOTICES. Packages that share a licence share its text.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "rolldown";
import { fileOf } from "./own-copies.ts";
import * as z from "zod";

const packageSchema = z.object({ name: z.string(), version: z.string(), license: z.string() });
const modules = fileURLToPath(new URL("../node_modules", import.meta.url));

/** Compiled into undici's WebAssembly, which node_modules doesn't show. */
const LLHTTP = {
  name: "Name: llhttp\nVersion: as in undici\nLicense: MIT",
  in: /undici.lib.llhttp.llhttp\S*-wasm\.js$/,
  licence: new URL("llhttp-licence.txt", import.meta.url),
};

/** `unused`: the modules that the build replaces by nothing. */
export const notices = (unused: RegExp): Plugin => ({
  name: "notices",
  generateBundle(_options, bundle) {
    // The languages' scores are in a file of ours.
    const licences = new Map([licence(join(modules, "eld"))]);
    for (const output of Object.values(bundle)) {
      if (output.type !== "chunk") continue;
      for (const [id, { renderedLength }] of Object.entries(output.modules)) {
        const folder = /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0];
        if (renderedLength === 0 || folder === undefined || unused.test(id)) continue;
        licences.set(...licence(folder));
        if (LLHTTP.in.test(id)) licences.set(LLHTTP.name, readFileSync(LLHTTP.licence, "utf8").trim());
        for (const [name, version] of vendoredIn(readFileSync(fileOf(id), "utf8")))
          // The licence is read from the installed package, whose version may differ; only the text matters.
          licences.set(...licence(join(modules, name), version));
      }
    }
    const notices = new Map<string, [name: string, text: string][]>();
    for (const one of [...licences].sort(([a], [b]) => a.localeCompare(b))) {
      const same = one[1].replace(/\s+/g, " ");
      notices.set(same, [...(notices.get(same) ?? []), one]);
    }
    const source = Array.from(notices.values(), (same) => {
      const packages = same.map(([name]) => name).join("\n");
      return `${packages}\nLicense Text:\n===\n\n${same[0]?.[1]}\n`;
    }).join("\n---\n\n");
    this.emitFile({ type: "asset", fileName: "THIRD_PARTY_NOTICES", source });
  },
});

/**
 * Some packages contain others in their own files, where node_modules does not show them. Their bundler
 * leaves a `//#region` comment for each.
 */
function* vendoredIn(source: string): Iterable<[name: string, version: string]> {
  for (const [, version = "", name = ""] of source.matchAll(
    /\/\/#region \S*node_modules\/\.pnpm\/\S+?@(\d[^_/]*)\S*?\/node_modules\/((?:@[^/]+\/)?[^/]+)/g,
  ))
    yield [name, version];
}

/** A package and its licence's text. */
function licence(folder: string, vendored?: string): [name: string, text: string] {
  const { name, version, license } = packageSchema.parse(
    JSON.parse(readFileSync(join(folder, "package.json"), "utf8")),
  );
  const read = (pattern: RegExp) => {
    const file = readdirSync(folder).find((entry) => pattern.test(entry));
    return file === undefined ? undefined : readFileSync(join(folder, file), "utf8");
  };
  // Some packages have theirs in the last section of the README.
  const text = read(/^licen[cs]e/i) ?? /^## licen[cs]e$.*/ims.exec(read(/^readme/i) ?? "")?.[0];
  if (text === undefined) throw new Error(`${name} is bundled, and its licence is not at hand.`);
  return [`Name: ${name}\nVersion: ${vendored ?? version}\nLicense: ${license}`, text.trim()];
}
