// npm run topics: what are topics worth that were written with our texts? Anyone may be writer or judge:
// this makes the files that they read and counts what they answer. HALF is tuning or blind, of test/fixtures/wishes.json.
//
//   texts FOLDER                   writer-ARM-HALF.md for a writer, who answers in topics-ARM-HALF.json;
//                                  several writers of one text number their arms: prompt1, prompt2
//   judges FOLDER HALF [--seed N]  judge-N-HALF.md with all topics mixed, answered in ranks-N-HALF.json
//   count FOLDER HALF --name NAME  the wins, which become rows of record.md; texts, ranks, reasons and topics stay
//                                  in protocol-NAME.md in the folder

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createHash, randomInt } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as z from "zod";
import { table } from "../../../scripts/markdown.ts";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { JUDGES, JUDGING, WRITING } from "./briefs.ts";
import wishes from "../../fixtures/wishes.json" with { type: "json" };

type Half = keyof typeof wishes;
const HALVES = ["tuning", "blind"] as const;
type Wish = (typeof wishes)[Half][number];
/** Topics by arm and the wish's id. */
type Topics = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** One judge's opinion of one wish's topics. */
interface Verdict {
  readonly judge: string;
  /** The wish's id. */
  readonly wish: string;
  /** The arms, best first. */
  readonly ranks: readonly string[];
  /** The reasons by arm. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** One way to write topics: the texts that identify it, and all that its writer may see. */
interface Arm {
  readonly texts: readonly string[];
  readonly shown: string;
}

const RECORD = fileURLToPath(new URL("record.md", import.meta.url));
const topicsSchema = z.record(z.string(), z.string().trim().min(1));
const textsSchema = z.record(z.string(), z.object({ sha256: z.string(), tokens: z.string() }));
const mixSchema = z.object({ seed: z.number(), arms: z.array(z.string()) });
const ranksSchema = z.record(
  z.string(),
  z.object({ ranks: z.array(z.string()), reasons: z.record(z.string(), z.string()) }),
);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string" }, name: { type: "string" } },
});
const [command, folder = "", asked] = positionals;
const half = HALVES.find((name) => name === asked);
if (command === "texts" && folder !== "") await writeTexts();
else if (command === "judges" && half !== undefined) writeJudges(half, Number(values.seed ?? randomInt(1e6)));
else if (command === "count" && half !== undefined && values.name !== undefined) count(half, values.name);
else throw new Error("Usage: texts FOLDER, judges FOLDER HALF [--seed N], count FOLDER HALF --name NAME");

async function writeTexts(): Promise<void> {
  const client = new Client({ name: "topics", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [BUILT_FILE, "--sandbox"] }),
  );
  for (const name of HALVES) {
    // eslint-disable-next-line no-await-in-loop -- one half after the other
    const arms = Object.entries(await armsFor(client, wishes[name]));
    save(`texts-${name}.json`, Object.fromEntries(arms.map(([arm, { texts }]) => [arm, identify(texts)])));
    for (const [arm, { shown }] of arms) save(`writer-${arm}-${name}.md`, `${WRITING}\n${shown}\n`);
  }
  await client.close();
}

async function armsFor(client: Client, list: readonly Wish[]): Promise<Readonly<Record<string, Arm>>> {
  const prompts = await Promise.all(list.map((wish) => promptFor(client, wish)));
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === "generate_video");
  if (tool === undefined) throw new Error("The server has no generate_video");
  const { name, description, inputSchema } = tool;
  const described = JSON.stringify({ name, description, inputSchema }, null, 1);
  const fields = Object.keys(inputSchema.properties ?? {}).filter((field) => field !== "topic");
  const bare = `\`generate_video\` has a field \`topic\`, free text. Its other fields: ${fields.join(", ")}.`;
  const wished = list.map(describeWish);
  const prompted = wished.map((wish, index) => `${wish}\n\n<prompt>\n${prompts[index] ?? ""}\n</prompt>`);
  return {
    prompt: {
      texts: prompts,
      shown: [described, "With each wish, the user ran a prompt.", ...prompted].join("\n\n"),
    },
    description: { texts: [described], shown: [described, ...wished].join("\n\n") },
    bare: { texts: [bare], shown: [bare, ...wished].join("\n\n") },
  };
}

async function promptFor(client: Client, { wish, language, duration, style }: Wish): Promise<string> {
  const { messages } = await client.getPrompt({
    name: "write_video_topic",
    arguments: { subject: wish, language, duration: String(duration), style },
  });
  return messages.map(({ content }) => (content.type === "text" ? content.text : "")).join("\n");
}

function identify(texts: readonly string[]) {
  const tokens = texts.map(({ length }) => Math.ceil(length / 4)).sort((a, b) => a - b);
  const range = [...new Set([tokens.at(0), tokens.at(-1)])].join(" to ");
  return { sha256: sha256(texts.join("\n")).slice(0, 16), tokens: range };
}

function writeJudges(name: Half, seed: number): void {
  const topics = readTopics(name);
  const arms = Object.keys(topics);
  if (arms.length < 2) throw new Error(`Two files topics-ARM-${name}.json at least are needed in ${folder}`);
  save(`mix-${name}.json`, { seed, arms });
  for (const [judge, brief] of Object.entries(JUDGES)) {
    const mixed = wishes[name].flatMap((wish) => {
      const letters = [...dealLetters(arms, { seed, judge, wish: wish.id })];
      return [
        describeWish(wish),
        ...letters.map(([letter, arm]) => showTopic(`### ${letter}`, topics[arm]?.[wish.id])),
      ];
    });
    save(`judge-${judge}-${name}.md`, `${brief}\n\n${JUDGING}\n${mixed.join("\n\n")}\n`);
  }
  process.stdout.write(`Seed ${seed}: ${arms.join(", ")}\n`);
}

function count(name: Half, title: string): void {
  const { seed, arms } = mixSchema.parse(read(`mix-${name}.json`));
  const verdicts = Object.keys(JUDGES).flatMap((judge) => readVerdicts(name, judge, { seed, arms }));
  const texts = textsSchema.parse(read(`texts-${name}.json`));
  const names = [...new Set(arms.map(textOf))];
  const date = new Date().toISOString().slice(0, 10);
  const trial = `${title}, the ${name} half of the wishes, seed ${seed}`;
  const describeText = (text: string) => `${text} (${texts[text]?.sha256}, ${texts[text]?.tokens} tokens)`;
  const rows = names.flatMap((first, index) =>
    names
      .slice(index + 1)
      .map((second) => [
        date,
        trial,
        describeText(first),
        describeText(second),
        countWins(verdicts, [first, second]),
      ]),
  );
  save(`protocol-${title}.md`, [`# ${trial}`, ...listVerdicts(name, arms, verdicts)].join("\n\n"));
  appendFileSync(RECORD, rows.map((row) => `| ${row.join(" | ")} |\n`).join(""));
  process.stdout.write(`${table(["date", "trial", "text", "against", "wins"], rows)}\n`);
}

/** All from which the figures were counted, in Markdown. */
function listVerdicts(name: Half, arms: readonly string[], verdicts: readonly Verdict[]): string[] {
  const topics = readTopics(name);
  return wishes[name].flatMap((wish) => [
    describeWish(wish),
    ...verdicts.filter((verdict) => verdict.wish === wish.id).map(describeVerdict),
    ...arms.map((arm) => showTopic(`Topic of ${arm}:`, topics[arm]?.[wish.id])),
  ]);
}

function describeVerdict({ judge, ranks, reasons }: Verdict): string {
  const lines = ranks.map((arm, index) => `${index + 1}. ${arm}: ${reasons[arm] ?? ""}`);
  return `Judge ${judge}:\n\n${lines.join("\n")}`;
}

function readVerdicts(name: Half, judge: string, { seed, arms }: z.output<typeof mixSchema>): Verdict[] {
  const answer = ranksSchema.parse(read(`ranks-${judge}-${name}.json`));
  return wishes[name].map(({ id }) => {
    const letters = dealLetters(arms, { seed, judge, wish: id });
    const { ranks, reasons } = answer[id] ?? { ranks: [], reasons: {} };
    if ([...ranks].sort().join() !== [...letters.keys()].join())
      throw new Error(`ranks-${judge}-${name}.json must rank ${[...letters.keys()].join(", ")} of ${id}`);
    const armOf = (letter: string) => letters.get(letter) ?? letter;
    const named = Object.entries(reasons).map(([letter, reason]) => [armOf(letter), reason] as const);
    return { judge, wish: id, ranks: ranks.map(armOf), reasons: Object.fromEntries(named) };
  });
}

/** The topics of all who answered; `prompt` before `description` and `bare`, which it is compared with. */
function readTopics(name: Half): Topics {
  const answers = readdirSync(folder)
    .sort()
    .filter((file) => /^topics-.+\.json$/.test(file) && file.endsWith(`-${name}.json`));
  return Object.fromEntries(
    answers.reverse().map((file) => {
      const topics = topicsSchema.parse(read(file));
      const missing = wishes[name].filter(({ id }) => topics[id] === undefined).map(({ id }) => id);
      if (missing.length > 0) throw new Error(`${file} has no topic for ${missing.join(", ")}`);
      return [file.slice("topics-".length, -`-${name}.json`.length), topics];
    }),
  );
}

/** Takes the JSON object out of an answer that may have words or a code fence around it. */
function read(file: string): unknown {
  const text = readFileSync(join(folder, file), "utf8");
  return JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
}

function save(file: string, contents: string | object): void {
  mkdirSync(folder, { recursive: true });
  const text = typeof contents === "string" ? contents : `${JSON.stringify(contents, null, 2)}\n`;
  writeFileSync(join(folder, file), text);
}

function describeWish({ id, wish, language, duration, style }: Wish): string {
  return `## ${id}\n\n“${wish}”\n\nSettings: language ${language}, duration ${duration} seconds, style ${style}`;
}

/** Keeps the lines as its writer broke them. */
function showTopic(heading: string, topic = ""): string {
  return `${heading}\n\n\`\`\`text\n${topic}\n\`\`\``;
}

/** Which arm stands behind each letter: dealt anew for each seed, judge and wish. */
function dealLetters(arms: readonly string[], deal: { seed: number; judge: string; wish: string }) {
  const { seed, judge, wish } = deal;
  const hashOf = (arm: string) => sha256(JSON.stringify([seed, judge, wish, arm]));
  const dealt = [...arms].sort((a, b) => hashOf(a).localeCompare(hashOf(b)));
  return new Map(dealt.map((arm, index) => [String.fromCodePoint(65 + index), arm]));
}

/** The text that several writers share: `prompt` for the arms prompt1 and prompt2. */
function textOf(arm: string): string {
  return arm.replace(/\d+$/, "");
}

/** How often a topic of the first text was ranked before one of the second: "11 of 16". */
function countWins(
  verdicts: readonly Pick<Verdict, "ranks">[],
  [first, second]: readonly [string, string],
): string {
  const pairs = verdicts.flatMap(({ ranks }) =>
    ranks.flatMap((better, index) =>
      ranks.slice(index + 1).map((worse) => `${textOf(better)} ${textOf(worse)}`),
    ),
  );
  const wins = pairs.filter((pair) => pair === `${first} ${second}`).length;
  return `${wins} of ${wins + pairs.filter((pair) => pair === `${second} ${first}`).length}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
