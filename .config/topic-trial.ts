// What the README says of the blind trial of topics: one example and the figures, from the trial's own
// record. Another trial is named here and nowhere else.

import { readFileSync } from "node:fs";

const RECORD = "test/checks/topics/protocol/2026-11-22-blind-ten.md";
/** A wish of that trial whose topic is the example, and what it is about. */
const EXAMPLE = "guitar-restring-kiosk";
const SUBJECT = "a kiosk that cleans and restrings guitars, as one of its customers tells it";

const record = readFileSync(new URL(`../${RECORD}`, import.meta.url), "utf8");

export function describeTrial(): string {
  const section = record.split(/^## /m).find((text) => text.startsWith(`${EXAMPLE}\n`)) ?? "";
  const topic = found(
    /(?<=^Topic of prompt:\n\n```text\n).*?(?=\n```$)/ms.exec(section),
    `topic of ${EXAMPLE}`,
  );
  const judges = new Set(record.match(/^Judge \d+(?=:$)/gm)).size;
  return `A topic holds all that is spoken and, in brackets, seen. A model with the prompt \`write_video_topic\` wrote this one, about ${SUBJECT}:

\`\`\`text
${topic}
\`\`\`

In a [blind trial](${RECORD}) with ${judges} judges, topics written with this prompt won ${wins("prompt before description")} comparisons with topics written with the tool's description alone. Against topics written with neither, they won ${wins("prompt before bare")}.`;
}

/** Such as "27 of 48". */
function wins(pair: string): string {
  return found(new RegExp(`(?<=^\\| ${pair} +\\| )\\d+ of \\d+`, "m").exec(record), pair);
}

function found(match: RegExpExecArray | null, what: string): string {
  if (match === null) throw new Error(`${RECORD} has no ${what}.`);
  return match[0];
}
