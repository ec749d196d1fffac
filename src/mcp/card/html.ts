// The card as one HTML document: markup, style and script. The build replaces this file with the result.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const pathOf = (name: string) => fileURLToPath(new URL(`page/${name}`, import.meta.url));
/** Removes the indentation, which is for people. */
const readPart = (name: string) => readFileSync(pathOf(name), "utf8").replace(/\n\s*/g, "\n");

const {
  output: [{ code }],
} = await build({
  input: pathOf("card.ts"),
  platform: "browser",
  transform: { target: "es2022" },
  output: { format: "iife", minify: true },
  write: false,
});

// The replacements are functions, since a text could hold $ patterns.
export const CARD_HTML = readPart("card.html")
  .replace("</style>", () => `${readPart("card.css")}</style>`)
  .replace("</script>", () => `${code.replaceAll("</", "<\\/")}</script>`);
