// Which orders are held back once, because they look like a mistake. The topics of trials are real ones, written
// for real wishes, with a language and seconds: none of them may be doubted.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Order } from "../../src/service/responses.ts";
import { reviewOrder } from "../../src/tools/check-order.ts";
import wishes from "../fixtures/wishes.json" with { type: "json" };

const PROTOCOLS = new URL("../external/topics/protocol/", import.meta.url);

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

const isDoubted = async (order: Order) => (await reviewOrder(order)).length > 0;

test("no topic of a trial is doubted, nor is a wish that is ordered as it is", async () => {
  const topics = topicsOfTrials();
  expect(topics.length).toBeGreaterThanOrEqual(64);
  const inEnglish = topics.filter(({ language }) => language === "en");
  const wished = Object.values(wishes).flat();
  const orders = [
    ...topics,
    ...inEnglish.map(({ topic, duration }) => ({ topic, duration })),
    ...wished.map(({ wish, language, duration }) => ({ topic: wish, language, duration })),
  ];

  const doubted = await Promise.all(orders.map(isDoubted));
  expect(orders.filter((_, index) => doubted[index])).toEqual([]);
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
  ...["de-DE", "a warm voice", "female", "undefined", "clone:", "clone:<id>"].map(
    (voice): [string, Order] => [`the voice "${voice}"`, { topic: "Tides", voice }],
  ),
  ["800 words without settings", { topic: repeated("en", 100) }],
  ["80 words in 15 seconds", { topic: repeated("en", 10), duration: 15 }],
  ["600 characters of Japanese in 45 seconds", { topic: repeated("ja", 30), language: "ja", duration: 45 }],
  ["1,100 characters of Chinese in 90 seconds", { topic: repeated("zh", 100), language: "zh", duration: 90 }],
  ["Thai for 70 seconds in 20", { topic: repeated("th", 20), language: "th", duration: 20 }],
])("an order is doubted: %s", async (_, request) => {
  expect(await isDoubted(request)).toBe(true);
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
])("an order is not doubted for %s", async (_, request) => {
  expect(await isDoubted(request)).toBe(false);
});

test.each([
  ["ja", "characters"],
  ["zh", "characters"],
  ["th", "syllables"],
  ["ru", "words"],
] as const)(
  "without a language, the length of %s is counted in its %s, besides the doubt about the language",
  async (language, unit) => {
    const findings = (await reviewOrder({ topic: repeated(language, 40) })).map(({ finding }) => finding);

    expect(findings).toEqual([
      expect.stringContaining("in another script"),
      expect.stringMatching(
        new RegExp(`^About \\d+ ${unit} of the topic would be spoken, and 30 seconds of `),
      ),
    ]);
  },
);

test("a text that is too long for its seconds is told with the seconds that it takes", async () => {
  expect(await reviewOrder({ topic: "word ".repeat(95) })).toEqual([
    {
      finding:
        "About 95 words of the topic would be spoken, and 30 seconds of English hold 66 to 75. 90 seconds, the most, hold 198 to 225.",
      advice: "Shorten it with the user, or agree on a duration of 44 seconds.",
    },
  ]);
});

/** Texts as users dictate them, by language. */
const FOREIGN_TEXTS = {
  de: "Im Keller meiner Großmutter stand ein Schrank, den niemand öffnen durfte. Jedes Jahr an Weihnachten hat sie den Schlüssel gesucht und so getan, als wäre er verloren. Als sie starb, haben wir ihn gefunden, unter ihrem Kopfkissen. Im Schrank lag nur ein einziger Zettel, und darauf stand: Ihr wart wirklich geduldig, jetzt dürft ihr die Kekse essen.",
  fr: "Dans le vieux moulin, la roue tourne encore chaque matin. Mon père l'a réparée trois fois, et chaque fois le village a cru qu'elle ne repartirait plus. Il disait toujours la même chose : l'eau n'oublie pas son chemin. Hier je l'ai entendue grincer toute seule, avant le lever du soleil, et j'ai compris qu'il avait raison depuis le début.",
  es: "Mi abuelo conocía a cada oveja por el sonido de su cencerro. Bajaba andando con novecientas merinas desde la montaña hasta las dehesas, y tardaba casi un mes. Dormía en chozos, comía migas y nunca se quejó de la lluvia. El último viaje lo hizo en otoño. Hoy el cencerro cuelga en mi cocina, y cuando lo toco todavía se oye el camino.",
  pt: "Todas as manhãs a minha avó abria a janela e dizia bom dia ao rio. Ninguém respondia, claro, mas ela esperava sempre um pouco antes de fechar. Quando o rio secou naquele verão, ela continuou a falar com ele. Em outubro choveu durante nove dias e a água voltou. Ela sorriu e disse: viste, ele só estava a pensar na resposta.",
  it: "Nel cortile di mio zio c'era un pozzo che nessuno usava più. Dicevano che fosse troppo profondo e che l'acqua avesse un sapore strano. Una sera d'estate ci abbiamo calato una lanterna, e in fondo abbiamo visto brillare centinaia di monete. Erano i desideri di tutta la famiglia, lasciati lì per cent'anni. Nessuno ha mai voluto prenderne una.",
  nl: "Mijn opa had een fiets die nooit gestolen werd, hoewel hij hem nooit op slot zette. Het zadel was van hout en de remmen piepten zo hard dat de hele straat wist wanneer hij thuiskwam. Toen hij stierf, hebben we de fiets voor het huis laten staan. Na drie weken was hij weg. Er lag een briefje: ik breng hem morgen terug.",
  pl: "W naszym bloku mieszkał pan, który codziennie o szóstej karmił gołębie na dachu. Nikt go nie lubił, bo wszędzie było brudno. Pewnej zimy zachorował i gołębie czekały na niego trzy dni. Czwartego dnia sąsiedzi sami weszli na dach z chlebem. Kiedy wrócił ze szpitala, na schodach stała cała kolejka ludzi, którzy chcieli mu o tym opowiedzieć.",
  sv: "Min farmor hade en klocka som alltid gick fem minuter för fort. Hon sa att det var tiden hon behövde för att sätta på kaffet innan vi kom. När hon dog fick jag klockan och ställde den rätt. Sedan dess kommer jag för sent överallt. I går vred jag fram den igen, och i morse luktade det kaffe i hela huset.",
  tr: "Dedemin bahçesinde kimsenin meyvesini yemediği bir incir ağacı vardı. Herkes onun uğursuz olduğunu söylerdi. Bir yaz, çok sıcak bir günde, küçük kardeşim gizlice bir tane kopardı ve bize hiçbir şey söylemedi. Ertesi sabah bütün köy onun güldüğünü duydu. Meğer dedem yıllarca o hikâyeyi sadece incirleri kendine saklamak için anlatmış.",
} as const;

test.each(Object.entries(FOREIGN_TEXTS))(
  "without a language, a text in %s is held back, and with it the same text is not",
  async (language, topic) => {
    expect(await reviewOrder({ topic, duration: 90 })).toEqual([
      {
        finding: expect.stringContaining("so the voice would speak English, but the topic is probably in"),
        advice: expect.stringContaining(`language "${language}"`),
      },
    ]);
    expect(await isDoubted({ topic, language, duration: 90 })).toBe(false);
  },
);

test.each([
  "Taco Tuesday means tacos: mi casa es su casa, amigos. Grab a tortilla, add the salsa verde, and thank abuela later.",
  "Learn five German words with me: Schadenfreude, Fernweh, Kummerspeck, Zeitgeist, Waldeinsamkeit. Which one is yours?",
  "Skibidi rizz. Ohio gyatt. Only in Ohio, bro. Bro really said rizz at the Grimace shake and walked out like nothing.",
  "Paris. Lyon. Marseille. Bordeaux. Nice. Nantes. Lille. Toulouse. Rennes. Reims. I ate a croissant in every one of them.",
  "Pasta carbonara, five things: guanciale, pecorino, uova, pepe, spaghetti. No cream. No cream. Nonna is watching you stir.",
])("an English text with words of another language is not held back: %s", async (topic) => {
  expect(await isDoubted({ topic })).toBe(false);
});

test("a language is found by the beginning of a text that is as long as a message", async () => {
  const findings = (
    await reviewOrder({ topic: `${FOREIGN_TEXTS.de.repeat(10)} ${"x ".repeat(200_000)}` })
  ).map(({ finding }) => finding);

  expect(findings).toEqual([
    expect.stringContaining("probably in German"),
    expect.stringMatching(/^About \d+ words/),
  ]);
});
