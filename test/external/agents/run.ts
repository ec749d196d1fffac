// npm run agents: does an agent that knows only what the protocol shows pay and post as its user wants?
//
//   play FOLDER [--agent COMMAND] [--from NUMBER] [--to NUMBER] [--literal]  opens these situations, or all, below
//                            FOLDER, gives each task.md to COMMAND, such as "claude -p --allowedTools Bash"; without
//                            one, waits until each has an answer.md. --literal has the agent obey texts to the letter
//   call FOLDER/SITUATION [TOOL JSON]  how the agent calls tools; without a tool, shows what a client would
//   record NAME FOLDER...          the runs below these folders, as a page: record.md beside this file

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as z from "zod";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { KEY } from "../../fixtures/constants.ts";
import { openAccount } from "./account.ts";
import { faultOf, type Situation, SITUATIONS } from "./situations.ts";

const SELF = fileURLToPath(import.meta.url);
const scoreSchema = z.object({
  situation: z.string(),
  fault: z.string().optional(),
  calls: z.number(),
  tokens: z.number(),
  texts: z.string(),
});
const callSchema = z.object({ tool: z.string().optional(), args: z.record(z.string(), z.unknown()) });
const formSchema = z.object({
  requestedSchema: z.object({ properties: z.record(z.string(), z.object({ enum: z.array(z.string()) })) }),
});
type Score = z.infer<typeof scoreSchema>;

/** Strict schemas leave no argument out. */
const STRICT = `
The schemas of your tools are strict: give every argument of a tool in each call. Where you have no value, give the default, or "" where there is none.
`;
const LITERAL = `
Take every text of the server and its tools to the letter: do what it says, all that it says, and nothing that it doesn't say. Add no caution of your own.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    agent: { type: "string" },
    from: { type: "string", default: "1" },
    to: { type: "string", default: "1000" },
    literal: { type: "boolean", default: false },
  },
});
const [command, first = "", ...rest] = positionals;
if (command === "play" && first !== "")
  await play(resolve(first), values.agent, Number(values.from), Number(values.to));
else if (command === "call" && first !== "") await call(resolve(first), rest[0], rest[1]);
else if (command === "record" && rest.length > 0)
  record(
    first,
    rest.map((folder) => resolve(folder)),
  );
else
  throw new Error(
    "Usage: play FOLDER [--agent COMMAND] [--from NUMBER] [--to NUMBER] [--literal], call FOLDER/SITUATION [TOOL JSON], record NAME FOLDER...",
  );

async function play(folder: string, agent: string | undefined, from: number, to: number): Promise<void> {
  const opened = await Promise.all(
    SITUATIONS.flatMap((situation, index) =>
      index + 1 < from || index + 1 > to ? [] : open(folder, situation, index + 1),
    ),
  );
  process.stdout.write(`Open: ${opened.length} situations below ${folder}\n`);
  const scores: Score[] = [];
  /* eslint-disable no-await-in-loop -- one situation after the other */
  for (const { situation, place, account, forms, close } of opened) {
    if (agent !== undefined) await run(agent, readFileSync(join(place, "task.md"), "utf8"));
    // Without a command, the player writes that file.
    else while (!existsSync(join(place, "answer.md"))) await sleep(500);
    const fault = faultOf(situation, account.charges(), forms());
    const lines = readLog(place);
    const tokens = Math.ceil(lines.reduce((sum, { length }) => sum + length, 0) / 4);
    const texts = readFileSync(join(place, "texts"), "utf8");
    scores.push({ situation: situation.name, ...(fault && { fault }), calls: lines.length, tokens, texts });
    await close();
  }
  /* eslint-enable no-await-in-loop */
  writeFileSync(join(folder, "scores.json"), JSON.stringify(scores, null, 2));
  for (const { situation, fault = "passed" } of scores) process.stdout.write(`${situation}: ${fault}\n`);
}

/** Makes the folder of a situation, with all that was said and done before the agent takes over. */
async function open(folder: string, situation: Situation, number: number) {
  const place = join(folder, `${String(number).padStart(2, "0")}-${situation.name.replace(/\W+/g, "-")}`);
  // One server serves the agent to its answer, as in a chat: it remembers the calls before.
  let connection: Promise<Client> | undefined;
  let forms = 0;
  const account = await openAccount(situation, async ({ json }) => ({
    body: await answer(
      place,
      await (connection ??= connect(place, account.url, situation.form, () => forms++)),
      callSchema.parse(json),
      situation.strays,
    ),
  }));
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "url"), account.url);
  const { made = [], madeAre = [], hoursAgo = 0, posted } = situation;
  const shown: string[] = [];
  const before = await connect(place, account.url);
  const { tools } = await before.listTools();
  const texts = `${before.getInstructions()}\n\n${JSON.stringify(tools, null, 1)}`;
  writeFileSync(join(place, "texts"), createHash("sha256").update(texts).digest("hex").slice(0, 12));
  for (const order of made) {
    const request = typeof order === "string" ? { topic: order } : order;
    // eslint-disable-next-line no-await-in-loop -- as a client would
    let result = await before.callTool({ name: "generate_video", arguments: request });
    const [, confirm] = /confirm: "(\w+)"/.exec(JSON.stringify(result.content).replaceAll("\\", "")) ?? [];
    // The user has agreed to a doubt, such as a voice that is not in the catalog.
    if (confirm !== undefined)
      // eslint-disable-next-line no-await-in-loop -- as a client would
      result = await before.callTool({ name: "generate_video", arguments: { ...request, confirm } });
    const started = z.object({ jobId: z.string() }).safeParse(result.structuredContent);
    if (started.success) shown.push(started.data.jobId);
    else if (situation.fault !== "first answer lost") throw new Error(`Not made: ${JSON.stringify(result)}`);
  }
  account.end(madeAre);
  if (posted !== undefined) {
    const request = { jobId: shown[0], platforms: [...posted] };
    await before.callTool({ name: "publish_video", arguments: request });
  }
  account.takeOver();
  await before.close();
  makeOlder(place, hoursAgo);
  const known =
    shown.length === 0 || situation.isNewChat === true
      ? ""
      : `\nThe tools have shown you before: jobId ${shown.join(", ")}.\n`;
  writeFileSync(join(place, "task.md"), taskOf(place, situation, known));
  const close = async () => {
    await (await connection)?.close();
    await account.close();
  };
  return { situation, place, account, forms: () => forms, close };
}

/** Puts what the journal holds back in time. */
function makeOlder(place: string, hours: number): void {
  for (const name of readdirSync(place).filter((file) => file.endsWith(".jsonl"))) {
    const lines = readFileSync(join(place, name), "utf8");
    const older = lines.replace(
      /"atMs":(\d+)/g,
      (_, atMs: string) => `"atMs":${Number(atMs) - hours * 3_600_000}`,
    );
    writeFileSync(join(place, name), older);
  }
}

function taskOf(place: string, { conversation, isStrict }: Situation, known: string): string {
  const tool = `npx tsx ${SELF} call ${place}`;
  return `You are the assistant of a user and have the tools of one MCP server. See what it says of itself and its tools with

    ${tool}

and call a tool, with its arguments as JSON, with

    ${tool} TOOL '{"argument": "value"}'

Serve the user's last words as you would in a chat: call the tools that you need, one after the other, then answer. You can't ask and wait: if you want
to ask the user something before you go on, that question is your answer. Know nothing but what the tools and the user say.
${isStrict === true ? STRICT : ""}${values.literal ? LITERAL : ""}${known}
${conversation}
`;
}

async function connect(
  place: string,
  url: string,
  form?: Situation["form"],
  onForm: () => number = () => 0,
): Promise<Client> {
  const client = new Client(
    { name: "agents", version: "1.0.0" },
    { versionNegotiation: { mode: "auto" }, capabilities: form ? { elicitation: { form: {} } } : {} },
  );
  if (form !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const before = onForm();
      if (form === "closes it") return { action: "cancel" };
      const { properties } = formSchema.parse(params).requestedSchema;
      const choose = (choices: readonly string[]) =>
        (form === "says yes to all"
          ? choices.at(-1)
          : choices[form === "says yes" || before === 0 ? 1 : 0]) ?? "";
      const content = Object.entries(properties).map(([name, field]) => [name, choose(field.enum)]);
      return { action: "accept", content: Object.fromEntries(content) };
    });
  const env = {
    PATH: process.env["PATH"] ?? "",
    FACELESS_API_KEY: KEY,
    FACELESS_BASE_URL: url,
    FACELESS_STATE_DIR: place,
    FACELESS_POLL_SECONDS: "1",
  };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [BUILT_FILE], env }));
  return client;
}

async function call(place: string, tool: string | undefined, args = "{}"): Promise<void> {
  const body = JSON.stringify({ tool, args: JSON.parse(args) });
  const response = await fetch(`${readFileSync(join(place, "url"), "utf8")}/call`, { method: "POST", body });
  process.stdout.write(`${await response.text()}\n`);
}

/** The text that an agent reads after its call. */
async function answer(
  place: string,
  client: Client,
  { tool, args }: z.infer<typeof callSchema>,
  strays: Situation["strays"] = {},
): Promise<string> {
  if (tool === undefined) {
    const { tools } = await client.listTools();
    const shown = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    return `${client.getInstructions()}\n\n${JSON.stringify(shown, null, 1)}`;
  }
  const result = await client.callTool({ name: tool, arguments: { ...args, ...strays } });
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  appendFileSync(join(place, "log"), `${JSON.stringify(`${tool} ${JSON.stringify(args)} ${text}`)}\n`);
  return text;
}

function readLog(place: string): string[] {
  const path = join(place, "log");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

function run(agent: string, task: string): Promise<unknown> {
  const child = spawn(agent, { shell: true, stdio: ["pipe", "inherit", "inherit"] });
  // It may end, or not be there, without reading its task.
  child.stdin.on("error", () => {}).end(task);
  return new Promise((end) => child.on("close", end));
}

function record(name: string, folders: readonly string[]): void {
  const runs = folders.map((folder) =>
    z.array(scoreSchema).parse(JSON.parse(readFileSync(join(folder, "scores.json"), "utf8"))),
  );
  const rows = SITUATIONS.flatMap(({ name: situation }) => {
    const scores = runs.flatMap((scored) => scored.filter((score) => score.situation === situation));
    if (scores.length === 0) return [];
    const passed = scores.filter(({ fault }) => fault === undefined).length;
    const mean = (of: (score: Score) => number) =>
      Math.round(scores.reduce((sum, score) => sum + of(score), 0) / scores.length);
    const faults = [...new Set(scores.flatMap(({ fault = [] }) => fault))].join("; ");
    return `| ${situation} | ${passed} of ${scores.length} | ${mean(({ calls }) => calls)} | ${mean(({ tokens }) => tokens)} | ${faults} |`;
  });
  const texts = [...new Set(runs.flat().map((score) => score.texts))].join(", ");
  const page = `# Agents\n\n${new Date().toISOString().slice(0, 10)}. Agent: ${name}. Texts (SHA-256 of instructions and tools): ${texts}. Runs: ${runs.length}.
Calls and tokens (characters of calls and results, divided by four) are means.\n\n| situation | passed | calls | tokens | faults |\n| --- | --- | --- | --- | --- |\n${rows.join("\n")}\n`;
  writeFileSync(fileURLToPath(new URL("record.md", import.meta.url)), page);
  process.stdout.write(page);
}
