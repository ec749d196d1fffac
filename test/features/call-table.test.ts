// `call generate_video --csv` as the owner of a spreadsheet uses it. test/e2e/call.test.ts has what only a process shows.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GENERATE } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import type { Ran } from "../fixtures/run.ts";
import { envelope } from "../fixtures/scripted-service.ts";
import { ready, TABLE_ORDERS, tableComputer, TABLES, WINDOWS_1252 } from "../fixtures/tables.ts";
import { until } from "../fixtures/until.ts";

const TOPICS = ["The tide comes in.", "The moon pulls the sea.", "Rain salts the sea.", "A river is salty."];
interface ReportedRow {
  readonly row: number;
  readonly jobId?: string;
  readonly alreadyStarted?: boolean;
  readonly error?: { readonly code: string; readonly outcome: string };
}
const rowsOf = ({ stdout }: Ran): readonly ReportedRow[] => JSON.parse(stdout);
/** Something that the test lets happen. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
const table = (...topics: readonly string[]) => ["topic", ...topics].join("\n");

test.each(TABLES)("a table of %s orders each row whole", async (_, bytes) => {
  const { call, orders } = await tableComputer();
  const file = join(temporaryFolder(), "videos.csv");
  writeFileSync(file, bytes);

  const ran = await call(["generate_video", "--csv", file]);

  expect([ran.code, ran.stdout.split("\n").at(-2)]).toEqual([0, "3 of 3 ordered."]);
  expect(orders).toHaveLength(3);
  expect(orders).toEqual(expect.arrayContaining(TABLE_ORDERS));
});

test("in a table of one column, commas and semicolons belong to the text", async () => {
  const { order, topics } = await tableComputer();

  await order("Topic\r\nRain, they say; and sea.\r\nThe tide comes in.\r\n");

  expect(topics()).toEqual(["Rain, they say; and sea.", "The tide comes in."]);
});

test("Excel may leave out the empty cells at the end of its later rows", async () => {
  const { order, orders } = await tableComputer();
  const rows = Array.from(
    { length: 20 },
    (_, index) => `The tide comes in ${index} times.,10${index < 15 ? "," : ""}`,
  );

  expect(await order(`topic,duration,style\r\n${rows.join("\r\n")}\r\n`)).toMatchObject({ code: 0 });
  expect(orders).toHaveLength(20);
});

test.each<[string, string | Buffer, string[], string]>([
  [
    "isn't UTF-8",
    WINDOWS_1252,
    [],
    'what came on stdin is not UTF-8 text: in a spreadsheet program, save it as "CSV UTF-8"',
  ],
  ["is empty", "\r\n", [], "the table has no row below its headings"],
  ["has no rows", "topic;style\n;\n", [], "the table has no row below its headings"],
  [
    "has other columns",
    "Topic;Dauer;Stil\nx;30;story",
    [],
    'the table\'s first row names its columns, each once, among topic, .*; it has "Dauer", "Stil"',
  ],
  [
    "names a column twice",
    "topic,TOPIC\nx,y",
    [],
    'the table\'s first row .*, each once, .*; it has "TOPIC"',
  ],
  [
    "has an open quotation mark",
    'topic,style\n"The tide,story\nThe sea,story\n',
    [],
    "the quotation marks in row 2 of the table are not in pairs",
  ],
  [
    "stands beside another argument",
    table("x"),
    ["--style", "story"],
    "the columns of the table give all arguments: give none beside --csv",
  ],
])("a table that %s is refused with the reason", async (_, bytes, flags, reason) => {
  const { order, orders } = await tableComputer();

  const { code, stderr } = await order(bytes, flags);

  expect([code, stderr]).toEqual([2, expect.stringMatching(`^faceless-video-mcp: ${reason}; see `)]);
  expect(orders).toEqual([]);
});

test("if any row is at fault, nothing is ordered, and every fault is reported with its row", async () => {
  const { order, orders } = await tableComputer();
  const rows = [
    "topic,duration,voice",
    "The tide comes in.,20,",
    "The moon pulls the sea.,5,",
    "Rain salts the sea.,20,german",
    "the TIDE comes in!,20,",
    "Half of a text",
    "and the other half.,20,",
    "One, two, three, four.,20,,",
  ];

  const ran = await order(rows.join("\n"), ["--json"]);

  expect(ran.code).toBe(2);
  expect(rowsOf(ran).map(({ row, error }) => [row, error?.code, error?.outcome])).toEqual(
    [
      [3, "invalid_input"],
      [4, "check_order"],
      [5, "invalid_input"],
      [6, "invalid_input"],
      [8, "invalid_input"],
    ].map((fault) => [...fault, "not_sent"]),
  );
  const lines = ran.stderr.split("\n");
  expect(lines).toEqual([
    expect.stringMatching(
      /^ {2}3 {2}The options of `call generate_video` can't be used: --duration: 5 must be .*90\.$/,
    ),
    expect.stringMatching(/^ {2}4 {2}.*The service may not have the voice "german".* --confirm [0-9a-f]{6}/),
    "  5  It is the same order as row 2.",
    "  6  It has 1 of 3 cells: a text of several lines needs quotation marks around it.",
    "  8  It has a cell without a heading: a text with a separator in it needs quotation marks around it.",
    "Nothing was ordered, since 5 of 7 rows can't be. A code that confirms a row belongs in its column confirm.",
    "",
  ]);
  expect(orders).toEqual([]);
});

test("the column confirm orders a row as it is, and another run doesn't repeat it", async () => {
  const { order, orders } = await tableComputer();
  const rows = (code = "") => `topic,voice,confirm\nThe tide comes in.,german,${code}\n`;
  const { stderr } = await order(rows());
  const code = /--confirm (\w+)/.exec(stderr)?.[1];

  for (let run = 0; run < 2; run++) expect(await order(rows(code), ["--yes"])).toMatchObject({ code: 0 });

  expect(orders).toEqual([{ topic: "The tide comes in.", voice: "german" }]);
});

const ASKED = `Pay for these 2 videos?
  2  "The tide comes in." (30 s, 4 words, English, story, voice charlotte, no music, normal pacing)
  3  "The moon pulls the sea." (30 s, 5 words, English, story, voice charlotte, no music, normal pacing)
It spends your credits.
Pay for these 2 videos?
[y/N] `;

test.each<[string, string[], string, string | undefined, string, number]>([
  ["yes at a terminal", [], "on", "y", ASKED, 2],
  ["no at a terminal", [], "on", "n", ASKED, 0],
  ["yes at a terminal, always", ["--yes"], "always", "y", ASKED, 2],
  ["--yes without a terminal", ["--yes"], "on", undefined, "  1 of 2 ordered\n", 2],
  ["no terminal", [], "on", undefined, "There is no terminal to ask in, and --yes was not given.", 0],
  ["--yes without a terminal, always", ["--yes"], "always", undefined, "There is no terminal to ask in", 0],
  ["no terminal, off", [], "off", undefined, "  1 of 2 ordered\n", 2],
])("the user is asked once for the whole table: %s", async (_, flags, mode, answer, shown, count) => {
  const { call, orders } = await tableComputer({ FACELESS_CONFIRM_GENERATE: mode });
  const file = join(temporaryFolder(), "videos.csv");
  writeFileSync(file, table(...TOPICS.slice(0, 2)));

  const { code, stderr } = await call(["generate_video", "--csv", file, ...flags], { answer });

  expect([code, orders.length]).toEqual([count === 0 ? 1 : 0, count]);
  expect(stderr.slice(0, shown.length)).toBe(shown);
});

test("--wait counts the videos that are ready, and prints a line for each row", async () => {
  const { order } = await tableComputer();

  const { code, stdout, stderr } = await order(`\n${table(...TOPICS)}`, ["--wait"]);

  expect(stdout.split("\n")).toEqual([...[3, 4, 5, 6].map(ready), "4 of 4 ready.", ""]);
  expect([code, stderr.split("\n").slice(-3)]).toEqual([0, ["  3 of 4 ready", "  4 of 4 ready", ""]]);
});

test("a second run orders only what is missing: a new row, and one whose render has failed", async () => {
  const { order, rest, topics } = await tableComputer();
  await order(table(...TOPICS.slice(0, 2)));
  const [first] = rowsOf(await order(table(...TOPICS.slice(0, 1)), ["--json"]));
  rest.on(`GET /api/v1/status/${first?.jobId}`, { json: { status: "failed", videoUrls: [] } });

  const ran = await order(table(...TOPICS.slice(0, 3)), ["--json"]);

  expect(rowsOf(ran).map(({ row, alreadyStarted = false }) => [row, alreadyStarted])).toEqual([
    [2, false],
    [3, true],
    [4, false],
  ]);
  expect(topics()).toEqual([TOPICS[2], TOPICS[1], TOPICS[0], TOPICS[0]]);
});

test("rows beyond the limit are left for the next run", async () => {
  const { order, topics } = await tableComputer({ FACELESS_MAX_GENERATIONS: "2" });

  const { code, stdout } = await order(table(...TOPICS.slice(0, 3)));

  expect([code, stdout.split("\n").slice(2)]).toEqual([
    1,
    [
      "  4  left for the next run",
      expect.stringMatching(
        /^2 of 3 ordered\. 1 left for the next run: The limit of 2 videos in 24 hours is reached\. /,
      ),
      "",
    ],
  ]);
  expect(topics()).toHaveLength(2);
});

test.each([
  ["without credits", envelope(402, "out_of_credits", "None."), 1, "1 left for the next run: .*credits"],
  ["whose answer was lost", "hang up" as const, 3, "1 left for the next run: .*no complete answer"],
])("after an order %s, no further row is paid for", async (_, answer, exitCode, reason) => {
  const { order, rest, sent } = await tableComputer();
  rest.on(GENERATE, answer);

  const { code, stdout } = await order(table(...TOPICS.slice(0, 2)));

  expect([code, stdout.split("\n").at(-3)]).toEqual([exitCode, "  3  left for the next run"]);
  expect(stdout).toMatch(new RegExp(reason));
  expect(sent()).toEqual([1, 0]);
});

test("the second Ctrl-C leaves the row that has no answer as unknown", async () => {
  const { startCall, rest, sent } = await tableComputer();
  rest.on(GENERATE, "hang");
  const file = join(temporaryFolder(), "videos.csv");
  writeFileSync(file, table(...TOPICS.slice(0, 3)));
  const { ended, written, interrupt } = startCall(["generate_video", "--csv", file, "--json"]);
  await until(() => sent()[0] === 1);
  interrupt();
  await until(() => written.stderr.includes("Ctrl-C again"));
  interrupt();

  const ran = await ended;
  expect([ran.code, rowsOf(ran).map(({ error }) => error?.outcome)]).toEqual([
    3,
    ["unknown", "not_sent", "not_sent"],
  ]);
});

test("Ctrl-C in the middle says what was ordered and what was not", async () => {
  const { start, rest, sent, ...computer } = await tableComputer();
  const answers = gate();
  rest.on(GENERATE, async (request) => {
    await answers.opened;
    return start(request);
  });
  const file = join(temporaryFolder(), "videos.csv");
  writeFileSync(file, table(...TOPICS.slice(0, 3)));
  const args = ["generate_video", "--csv", file, "--wait"];
  const { ended, written, interrupt } = computer.startCall(args);
  await until(() => sent()[0] === 1);
  interrupt();
  await until(() => written.stderr.includes("Ctrl-C again"));
  answers.open();

  const { stdout } = await ended;
  expect(stdout.split("\n")).toEqual([
    expect.stringMatching(/^ {2}2 {2}ordered {2}\S+$/),
    "  3  left for the next run",
    "  4  left for the next run",
    "0 of 3 ready. 2 left for the next run: The call was interrupted.",
    "",
  ]);
  expect(sent()).toEqual([1, 0]);
});
