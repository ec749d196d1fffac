// The typeface of the project's pictures and videos, embedded so that every machine draws the same letters.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = import.meta.resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2");

export const FONT_BASE64 = readFileSync(fileURLToPath(file), "base64");

/** Declares the family Inter in all weights. */
export const FONT_STYLE = `@font-face{font-family:Inter;font-weight:100 900;src:url(data:font/woff2;base64,${FONT_BASE64})}`;
