// Which requests are the same, and what the journal says of earlier jobs: their ids, how they were
// ordered, and where they were posted.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { OrderEntry } from "../../src/idempotency/journal.ts";
import { jobHistories, FactsCache } from "../../src/idempotency/journal-facts.ts";
import { orderKey, sameOrderAs } from "../../src/idempotency/same-order.ts";
import type { Order } from "../../src/service/responses.ts";
import { localTime } from "../../src/text.ts";
import { postFields } from "../../src/tools/record-fields.ts";
import { Computer, errorOf, fails, JOB, MINUTE_MS, NOW, type Process, TIDES } from "../fixtures/computer.ts";

/** The job's posts, as results name them. */
async function publishedTo({ journal }: Process) {
  const histories = await jobHistories(await journal.entries());
  return histories.get(JOB)?.posts.map(postFields);
}

/** True if a call's order is the same as an entry's. */
function isSameOrder(order: Order, ordered: object): boolean {
  const entry: OrderEntry = { id: "1", atMs: NOW, operation: "generate", arguments: { ...ordered } };
  return sameOrderAs({ ...order })(entry);
}

test.each<[string, object, object, boolean]>([
  ["an older version, with fewer arguments", { topic: "Tides", style: "story" }, { topic: "Tides" }, true],
  ["an older version, for another style", { topic: "Tides", style: "asmr" }, { topic: "Tides" }, false],
  ["a newer version", { topic: "Tides" }, { topic: "Tides", aspectRatio: "9:16" }, true],
])("orders are compared with the entry of %s", (_, order, ordered, isSame) => {
  expect(isSameOrder({ topic: "", ...order }, ordered)).toBe(isSame);
});

const DEFAULTS = { duration: 30, language: "en", style: "story", voice: "charlotte" } as const;

test.each<[Order, Order, boolean]>([
  [TIDES, { duration: 20, topic: "Tides rise" }, true],
  [TIDES, { ...TIDES, duration: 21 }, false],
  [TIDES, { ...TIDES, topic: "Tides fall" }, false],
  [{ topic: "Tides" }, { ...DEFAULTS, topic: "Tides", music: "none", pacing: undefined }, true],
])("the orders %j and %j are the same: %j", (one, other, isSame) => {
  expect(isSameOrder(one, other)).toBe(isSame);
});

test.each([
  [" Tides \n\t rise\n", "“TIDES” – rise!", true],
  ["Ti\u200Bdes rise\uFE0F", "Tides rise", true],
  ["Caf\u00E9", "Cafe\u0301", true],
  ["Tides rise. A wave.", "Tides rise. [A wave.]", false],
  ["15.0 m", "150 m", false],
  ["In 19\u201420 m", "In 1920 m", false],
  ["1 5 m", "15 m", false],
  ["1, 5 m", "1.5 m", false],
  ["1  5 m", "1\n5 m", true],
  ["1\u200B5 m", "15 m", true],
  // In Adlam's digits.
  ["\u{1E951}.\u{1E955} m", "\u{1E951}\u{1E955} m", false],
  ["wave 1, then", "wave 1 then", true],
  ["wave, 1 m", "wave 1 m", true],
  ["1 [wave] 5", "1 wave 5", false],
  ["Straße", "STRASSE", true],
  ["[a](b)", "[a] (b)", true],
  ["(a) [b]", "[a] (b)", false],
  ["At -5 degrees", "At 5 degrees", false],
  ["At -5 degrees", "At \u22125 degrees", true],
  ["At \u20135 degrees", "At -5 degrees", true],
  ["Covid-19", "Covid 19", true],
  ["C# for all", "C for all", false],
  ["50% of all", "50 of all", false],
  ["50 % of all", "50\uFF05 of all", false],
  ["You & me + them @ home", "You me them home", false],
])("the topics %j and %j are the same: %j", (one, other, isSame) => {
  expect(isSameOrder({ topic: one }, { topic: other })).toBe(isSame);
});

/** Parts of topics in many scripts, with what is composed, folded or left out. */
const PARTS = [
  ..."Straße STRASSE ﬁsh FISH İstanbul ılık ŉ Ǆ Café Cafe\u0301 Ångström \u212Bngstro\u0308m ΆΙΔΗΣ ᾳδης Йод И\u0306од".split(
    " ",
  ),
  ..."한국 \u1112\u1161\u11AB\u1100\u116E\u11A8 がぎ か\u3099き\u3099 ｶﾞ ปลา क़लम क\u093Cलम أحمد ا\u0654حمد שׁלום 潮汐 豈 𝒜𐐨 🌊".split(
    " ",
  ),
  ..."19-20 -5 1,5 ٣ % # + & @ [a] (b) — “ ” ... \u200B \u00AD \u3164 \u115F \uFE0F \u0345 \u0640 \n".split(
    " ",
  ),
];
const asItIs = (text: string) => text;
const VARIANTS = [
  asItIs,
  (text: string) => text.toUpperCase(),
  (text: string) => text.toLowerCase(),
  (text: string) => text.normalize("NFD"),
  (text: string) => text.normalize("NFC"),
  (text: string) => `\u200B${text}\u2060`,
  (text: string) => ` ${text}, `,
];

test("orders are the same if and only if their topics compare equal, in any script and at any length", () => {
  const part = fc.tuple(fc.constantFrom(...PARTS), fc.constantFrom(...VARIANTS));
  const parts = fc.array(part, { minLength: 1, maxLength: 40 });
  const property = fc.property(parts, fc.constantFrom("", " "), (chosen, between) => {
    const one = chosen.map(([text]) => text).join(between);
    const other = chosen.map(([text, change]) => change(text)).join(between);
    const isEqual = orderKey({ topic: one }) === orderKey({ topic: other });
    expect(isSameOrder({ topic: one }, { topic: other })).toBe(isEqual);
    return true;
  });
  fc.assert(property, { numRuns: 3_000, seed: 56 });
});

test("the facts of the journal are computed once while neither its entries nor the clocks change", async () => {
  const computer = new Computer();
  const { journal, generate } = computer.process();
  await generate(TIDES);
  const facts = new FactsCache();
  const entries = await journal.entries();
  const first = await facts.of(entries, 0);

  expect(await facts.of(entries, 400)).toBe(first);
  expect((await facts.of(entries, 2_000)).orders).toMatchObject([{ atMs: NOW + 2_000 }]);
  await generate({ topic: "Moons" });
  expect((await facts.of(await journal.entries(), 0)).orders).toHaveLength(2);
});

test("a ping doesn't wait for the facts of a whole long journal", async () => {
  const entries = Array.from({ length: 20_001 }, (_, index): OrderEntry => {
    const id = String(index);
    return {
      id,
      atMs: NOW,
      operation: "generate",
      arguments: { ...TIDES },
      outcome: "done",
      jobId: `job-${id}`,
    };
  });
  const happened: string[] = [];
  setImmediate(() => happened.push("ping"));

  const { jobs } = await new FactsCache().of(entries, 0);
  happened.push("facts");

  expect(happened).toEqual(["ping", "facts"]);
  expect(jobs.size).toBe(20_001);
});

test("each post has the name that was asked for, else the service's, and failed ones are left out", async () => {
  const computer = new Computer();
  const process = computer.process();
  await process.publish(["tiktok"]);
  const { code } = await process.publish(["tiktok"]);
  await process.publish(["tiktok"], { confirm: code });
  const results = ["Facebook", "X", " Threads "].map((platform, index) => ({
    platform,
    ok: index > 0,
    url: 7,
  }));
  computer.onPublish = async () => ({ results });
  await process.publish(["facebook", "twitter", "youtube"]);

  const at = localTime(NOW);
  expect(await publishedTo(process)).toEqual([
    { platform: "tiktok", url: "https://tiktok.example/1", at },
    { platform: "tiktok", url: "https://tiktok.example/2", at },
    { platform: "twitter", at, unknown: true },
    { platform: "youtube", at, unknown: true },
    { platform: "x", at },
    { platform: "threads", at },
  ]);
});

test("this computer knows how its jobs were ordered, and where and when they were posted", async () => {
  const computer = new Computer();
  computer.onGenerate = async () => ({ jobId: JOB, status: "processing" });
  await computer.process().generate({ ...TIDES, style: "story", music: "upbeat" });
  computer.pass(MINUTE_MS);
  await computer.process().publish(["tiktok"]);
  computer.onPublish = fails("unknown");
  await errorOf(computer.process().publish(["youtube"]));
  computer.onPublish = fails("rejected");
  await errorOf(computer.process().publish(["x"]));
  const at = localTime(NOW + MINUTE_MS);

  const process = computer.process();
  const histories = await jobHistories(await process.journal.entries());
  expect([...histories.keys()]).toEqual([JOB]);
  expect(histories.get(JOB)?.order).toMatchObject({
    arguments: { topic: "Tides rise", duration: 20, style: "story", music: "upbeat" },
    atMs: NOW,
  });
  expect(await publishedTo(process)).toEqual([
    { platform: "tiktok", url: "https://tiktok.example/1", at },
    { platform: "youtube", at, unknown: true },
  ]);
});
