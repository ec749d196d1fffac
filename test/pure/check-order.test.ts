// Which orders are held back once, because they look like a mistake. The topics of trials are real ones, written
// for real wishes, with a language and seconds: none of them may be doubted.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Order } from "../../src/service/responses.ts";
import { reviewOrder } from "../../src/tools/check-order.ts";
import wishes from "../checks/topics/wishes.json" with { type: "json" };

const PROTOCOLS = new URL("../checks/topics/protocol/", import.meta.url);

/** The topics of all protocols with the settings for which they were written. */
function topicsOfTrials(): Order[] {
  const pages = readdirSync(PROTOCOLS).map((name) => readFileSync(new URL(name, PROTOCOLS), "utf8"));
  return pages.flatMap((page) =>
    page.split(/^## /m).flatMap((section) => {
      const [, language = "", duration] = /^Settings: language (\S+), duration (\d+) /m.exec(section) ?? [];
      const topics = [...section.matchAll(/^```text\n(.*?)\n```$/gms)];
      return topics.map(([, topic = ""]) => ({ topic, language, duration: Number(duration) }));
    }),
  );
}

const isDoubted = (order: Order) => reviewOrder(order).length > 0;

test("no topic of a trial is doubted, nor is a wish that is ordered as it is", () => {
  const topics = topicsOfTrials();
  expect(topics.length).toBeGreaterThanOrEqual(64);
  const inEnglish = topics.filter(({ language }) => language === "en");
  const wished = Object.values(wishes).flat();
  const orders = [
    ...topics,
    ...inEnglish.map(({ topic, duration }) => ({ topic, duration })),
    ...wished.map(({ wish, language, duration }) => ({ topic: wish, language, duration })),
  ];

  expect(orders.filter(isDoubted)).toEqual([]);
});

const SENTENCES = {
  ja: "キツネは毎晩ひとつずつ靴下を盗んでいく。",
  ru: "Лиса каждую ночь крадёт по одному носку.",
  ar: "الثعلب يسرق جورباً واحداً كل ليلة.",
  zh: "狐狸每天晚上偷一只袜子。",
  hi: "लोमड़ी हर रात एक मोज़ा चुराती है।",
  el: "Η αλεπού κλέβει μια κάλτσα κάθε βράδυ.",
  th: "สุนัขจิ้งจอกขโมยถุงเท้าคืนละข้าง",
  ko: "여우는 매일 밤 양말을 한 짝씩 훔친다.",
  he: "השועל גונב גרב אחת בכל לילה.",
  uk: "Лисиця щоночі краде по одній шкарпетці.",
  fa: "روباه هر شب یک جوراب می‌دزدد.",
  my: "မြေခွေးသည် ညတိုင်း ခြေအိတ်တစ်ဖက် ခိုးသည်။",
  en: "The fox steals exactly one sock each night.",
  fr: "Le renard vole une seule chaussette chaque nuit.",
};
const PICTURE = "[a fox on a lawn at night, moonlight, wide shot]";
const repeated = (language: keyof typeof SENTENCES, times: number) =>
  Array.from({ length: times }, () => `${SENTENCES[language]} ${PICTURE}`).join("\n");

test.each<[string, Order]>([
  ...(["ja", "ru", "ar", "zh", "hi", "el", "th", "ko", "he", "uk", "fa", "my"] as const).map(
    (language): [string, Order] => [`${language} without a language`, { topic: repeated(language, 3) }],
  ),
  ["Japanese in brackets alone", { topic: "[雨の夜の屋根、静かな音]" }],
  ["a few words too many for the default", { topic: "word ".repeat(94) }],
  ["a few more than twice the words that fit", { topic: "word ".repeat(151), duration: 30 }],
  ["a voice that is in no list", { topic: "Tides", voice: "de-DE" }],
  ["800 words without settings", { topic: repeated("en", 100) }],
  ["480 words in 90 seconds", { topic: repeated("en", 60), duration: 90 }],
  ["80 words in 15 seconds", { topic: repeated("en", 10), duration: 15 }],
  ["160 words of French in 30 seconds", { topic: repeated("fr", 20), language: "fr" }],
  ["600 characters of Japanese in 45 seconds", { topic: repeated("ja", 30), language: "ja", duration: 45 }],
  ["1,100 characters of Chinese in 90 seconds", { topic: repeated("zh", 100), language: "zh", duration: 90 }],
  ["Thai for 70 seconds in 20", { topic: repeated("th", 20), language: "th", duration: 20 }],
  ["140 words of Korean in 30 seconds", { topic: repeated("ko", 20), language: "ko" }],
])("an order is doubted: %s", (_, request) => {
  expect(isDoubted(request)).toBe(true);
});

test.each<[string, Order]>([
  ["few words in another script", { topic: `${repeated("en", 2)} 靴下` }],
  ["another script in the brackets", { topic: `${SENTENCES.en} [${repeated("ja", 5)}]` }],
  ["long brackets", { topic: `${SENTENCES.en} [${"a wide lawn ".repeat(300)}]` }],
  ["nothing spoken at all", { topic: `[${"rain on a tin roof ".repeat(100)}]`, style: "asmr" }],
  ["neither words nor letters", { topic: "🦊 7, 8, 9 …" }],
  ["1.25 times the words that fit into the default", { topic: "word ".repeat(93) }],
  ["twice the words that fit into seconds that were chosen", { topic: "word ".repeat(150), duration: 30 }],
  ["a voice of the catalog, and a cloned one", { topic: "Tides", voice: "adam" }],
  ["a cloned voice", { topic: "Tides", voice: "clone:My-Voice" }],
])("an order is not doubted for %s", (_, request) => {
  expect(isDoubted(request)).toBe(false);
});

test.each([
  ["ja", "characters"],
  ["zh", "characters"],
  ["th", "syllables"],
  ["ru", "words"],
] as const)(
  "without a language, the length of %s is counted in its %s, besides the doubt about the language",
  (language, unit) => {
    const findings = reviewOrder({ topic: repeated(language, 40) }).map(({ finding }) => finding);

    expect(findings).toEqual([
      expect.stringContaining("in another script"),
      expect.stringMatching(
        new RegExp(`^About \\d+ ${unit} of the topic would be spoken, and 30 seconds of `),
      ),
    ]);
  },
);
