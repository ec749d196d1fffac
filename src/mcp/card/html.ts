// The card as one HTML document: markup, style and script. The build replaces this file with the result.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const page = (name: string) => fileURLToPath(new URL(`page/${name}`, import.meta.url));

/** Fields of Card and Host that are shortened: no host, server or browser knows their names. */
const OWN_FIELDS =
  "accounts|armTimer|armedAt|can|chosen|failures|host|isBusy|isOutOfView|isReading|isSearching|job|misses|notify|order|outcomes|readTimer|publishText|request|show";

const {
  output: [{ code }],
} = await build({
  input: page("card.ts"),
  platform: "browser",
  transform: { target: "es2022" },
  output: { format: "iife", minify: { mangleProps: { include: new RegExp(`^(${OWN_FIELDS})$`) } } },
  write: false,
});
const css = readFileSync(page("card.css"), "utf8")
  .replace(/\s+/g, " ")
  .replace(/ ?([{};,>]) ?/g, "$1")
  .replace(/: /g, ":")
  .replace(/="(\w+)"/g, "=$1")
  .replace(/ ([!/]) ?/g, "$1")
  .replace(/\b0\./g, ".")
  .replaceAll(";}", "}");

export const CARD_HTML = readFileSync(page("card.html"), "utf8")
  .replace(/>\s+</g, "><")
  .replaceAll(" />", ">")
  .replace(/<\/p>(?=<(p |\/div))/g, "")
  .replace(/="([\w-]+)"/g, "=$1")
  .replace("<style>", () => `<style>${css}`)
  .replace(
    "<script>",
    () => `<script>${code.trim().replaceAll("/* @__PURE__ */ ", "").replaceAll("</", "<\\/")}`,
  );
