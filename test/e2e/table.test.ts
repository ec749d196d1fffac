// A table of twelve topics from a German Excel, as its owner uses it with the built file.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GENERATE } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { journalFolder } from "../fixtures/journal-folder.ts";
import { tableComputer } from "../fixtures/tables.ts";
import { until } from "../fixtures/until.ts";

const THREE_LINES = "Rain falls.\nIt takes salt from each rock.\nSo the sea is salty.";
const SPANISH = "La lluvia lava las rocas y el mar guarda la sal.";
const TOPICS = Array.from(
  { length: 10 },
  (_, index) => `The tide comes in ${index + 2} times; then it goes out.`,
);

/** As Excel in German saves "CSV UTF-8". */
function table(duration: number): string {
  const rows = [
    "Topic;Duration;Language",
    `"${THREE_LINES}";30;`,
    `${SPANISH};30;es`,
    ...TOPICS.map((topic, index) => `"${topic}";${index === 4 ? duration : 30};`),
  ];
  return `\uFEFF${rows.join("\r\n")}\r\n`;
}

test("a corrected table that is killed midway and run again makes each video once", async () => {
  const { callBuilt, rest, start, sent, folder, topics } = await tableComputer();
  const file = join(temporaryFolder(), "videos.csv");
  const order = (onStart = {}) => callBuilt(["generate_video", "--csv", file, "--yes", "--wait"], onStart);

  writeFileSync(file, table(5));
  const faulty = await order();
  expect([faulty.code, faulty.stderr.split("\n").slice(0, 2)]).toEqual([
    2,
    [
      expect.stringMatching(
        /^ {2}8 {2}The options of `call generate_video` can't be used: --duration: 5 must be /,
      ),
      "Nothing was ordered, since 1 of 12 rows can't be.",
    ],
  ]);
  expect(sent()).toEqual([0, 0]);

  writeFileSync(file, table(30));
  // The service takes the seventh order, whose answer never comes.
  rest.on(GENERATE, (request) => {
    const answer = start(request);
    return topics().length > 6 ? "hang" : answer;
  });
  const killed = await order({
    onStart: (child: { kill(signal: "SIGKILL"): void }) =>
      void until(() => topics().length === 7).then(() => child.kill("SIGKILL")),
  });
  expect(killed.code).toBe(null);

  rest.on(GENERATE, start);
  journalFolder(folder).makeOlder(6);
  const again = await order();
  expect(again.stderr.split("\n").filter((line) => !/^(?: {2}\d+ of 12 ready)?$/.test(line))).toEqual([]);
  expect(again.stdout.split("\n").at(-2)).toBe(
    "11 of 12 ready. A code that confirms a row belongs in its column confirm.",
  );
  expect(again.stdout.match(/^ {2}\d+ {2}Not sent: .* its answer never came/gm)).toHaveLength(1);
  expect(topics()).toEqual([THREE_LINES, SPANISH, ...TOPICS].toSorted());
});
