// npm run languages [-- FILE]: how often is a topic in another language noticed, and a right one doubted? FILE is JSON, a
// list of {"text", "language", "given", "expected"}: the BCP-47 codes of what is written and of the voice, which is English if
// it is left out, and "doubt" or "none".

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { table } from "../../../scripts/markdown.ts";
import { measureRates, samplesSchema } from "../../fixtures/language-rates.ts";

const [given] = process.argv.slice(2);
const file =
  given === undefined
    ? new URL("../../fixtures/languages.json", import.meta.url)
    : resolve(process.env["INIT_CWD"] ?? "", given);
const rates = measureRates(samplesSchema.parse(JSON.parse(readFileSync(file, "utf8"))));
const rows = rates.map(({ kind, count, failed }) => [kind, `${failed.length} of ${count}`]);
process.stdout.write(`${table(["texts of", "count"], rows)}\n`);
for (const { kind, failed } of rates) for (const text of failed) process.stdout.write(`${kind}: ${text}\n`);
