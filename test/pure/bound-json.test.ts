import { expect, test } from "vitest";
import { createRedact } from "../../src/redact.ts";
import { boundJson } from "../../src/service/bound-json.ts";
import { jsonReader, MAX_ANSWER_BYTES } from "../../src/service/responses.ts";
import { seededRandom } from "../fixtures/durations.ts";

const reader = jsonReader(createRedact("fl_secret"), new URL("https://api.example"));

/** The most items of a list or object, the deepest level and the number of all values. */
function measure(value: unknown, level = 0): Record<"items" | "levels" | "values", number> {
  const inner = typeof value === "object" && value !== null ? Object.values<unknown>({ ...value }) : [];
  const sizes = inner.map((item) => measure(item, level + 1));
  return {
    items: Math.max(inner.length, ...sizes.map(({ items }) => items)),
    levels: Math.max(level, ...sizes.map(({ levels }) => levels)),
    values: sizes.reduce((sum, { values }) => sum + values, 1),
  };
}

/** A valid JSON text of about this many characters that is wide, deep, or both. */
function hostileJson(size: number, random: () => number): string {
  const open: string[] = [];
  const choices = [random(), random(), random()] as const; // how often it opens, closes and names a value
  let text = "";
  let needsComma = false;
  for (let name = 0; text.length < size; name++) {
    const isObject = open.at(-1) === "}";
    if (needsComma) text += ",";
    if (isObject) text += `"${random() < 0.1 ? String.raw`\"]},[` : ""}${name}":`;
    needsComma = true;
    if (open.length === 0 || random() < choices[0]) {
      const opensObject = random() < 0.5;
      open.push(opensObject ? "}" : "]");
      text += opensObject ? "{" : "[";
      needsComma = false;
    } else text += random() < 0.2 ? JSON.stringify(`,[{"]}\n${name}`) : "0";
    while (needsComma && open.length > 1 && random() < choices[1] / 2) text += open.pop() ?? "";
  }
  return text + (needsComma ? "" : isListEnd(open)) + open.reverse().join("");
}

const isListEnd = (open: readonly string[]) => (open.at(-1) === "}" ? '"last":0' : "0");

test("no answer of 4 MB has more than 1,000 items in a list, 100,000 values or 50 levels once it is read", () => {
  const random = seededRandom(20_261_128);
  for (let round = 0; round < 20; round++) {
    const text = hostileJson(round < 1 ? MAX_ANSWER_BYTES : 100_000, random);
    const read = reader.parse(text);

    expect(read, text.slice(0, 100)).toBeDefined();
    const { items, levels, values } = measure(read);
    expect(items).toBeLessThanOrEqual(1_000);
    expect(levels).toBeLessThanOrEqual(50);
    expect(values).toBeLessThanOrEqual(100_000);
  }
});

test("an answer within the bounds is not changed by a character", () => {
  const random = seededRandom(64);
  for (let round = 0; round < 50; round++) {
    const text = JSON.stringify(JSON.parse(boundJson(hostileJson(5_000, random), 1_000)), null, round % 3);

    expect(boundJson(text, 1_000)).toBe(text);
  }
});

test.each([
  ["[1,2,3]", "[1,2]"],
  ['{"a":[1,[2],{"b":3}],"c":",]","d":4}', '{"a":[1,[2]],"c":",]"}'],
  [String.raw`["\"],",2,["]"]]`, String.raw`["\"],",2]`],
  ["[[1,2,[3,4,5]],6]", "[[1,2],6]"],
  ["Not [JSON, at, all], even so", "Not [JSON, at], even so"],
  ["[1,2,3", "[1,2"],
  ["}]],[1,2]", "}]],[1,2]"],
])("of each list and object in %s the first two items are kept", (text, bounded) => {
  expect(boundJson(text, 2)).toBe(bounded);
});

test.each([
  ["an object with 200,000 fields", Array.from({ length: 200_000 }, (_, index) => [`k${index}`, 0])],
  ["a name of 200,000 invisible characters", [["\u200B".repeat(200_000), 0]]],
])("%s is read as far as anybody needs", (_, fields) => {
  const read = Object.keys(Object(reader.parse(JSON.stringify(Object.fromEntries(fields)))));

  expect(read.length).toBeLessThanOrEqual(1_000);
  expect(read.join("").length).toBeLessThan(70_000);
});

test("a text is read to its 65,536th character, and no part of the key is left where it ends", () => {
  const text = `${"\u200B".repeat(65_530)}fl_secret`;

  expect(reader.parse(JSON.stringify({ [text]: 1, text }))).toEqual({ "[redac": 1, text: "[redac" });
});
