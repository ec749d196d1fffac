// The orders that are held back once because they look like a mistake. The topics of trials are real ones, written
// for real wishes, with a language and seconds: none of them may be doubted.

import { describe, expect, test } from "vitest";
import type { Order } from "../../src/service/responses.ts";
import { textFor } from "../../src/sentences.ts";
import { reviewOrder } from "../../src/tools/check-order/check-order.ts";
import { measureRates, samplesSchema } from "../fixtures/language-rates.ts";
import languages from "../fixtures/languages.json" with { type: "json" };
import trialTopics from "../fixtures/trial-topics.json" with { type: "json" };
import wishes from "../fixtures/wishes.json" with { type: "json" };

/** Reviews an order on a computer whose journal knows only the voice "nova". */
/** The doubts, in the words that a model reads. */
const doubtsOf = async (order: Order) => {
  const doubts = await reviewOrder(order, async (voice) => voice === "nova");
  return doubts.map(({ finding, advice }) => ({ finding, advice: textFor("model", advice) }));
};
const findingsOf = async (order: Order) => (await doubtsOf(order)).map(({ finding }) => finding);
const isDoubted = async (order: Order) => (await doubtsOf(order)).length > 0;

test("no topic of a trial is doubted, whether its language and seconds are given or left out", async () => {
  expect(trialTopics.length).toBeGreaterThanOrEqual(100);
  const inEnglish = trialTopics.filter(({ language }) => language === "en");
  const orders: Order[] = [...trialTopics, ...inEnglish.map(({ topic, duration }) => ({ topic, duration }))];

  const doubted = await Promise.all(orders.map(isDoubted));
  expect(orders.filter((_, index) => doubted[index])).toEqual([]);
});

test("no wish that is ordered word for word, with enough seconds, is doubted", async () => {
  const orders = Object.values(wishes)
    .flat()
    .map(({ wish, language }): Order => ({ topic: wish, language, duration: 90 }));

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
const words = (count: number) => "one ".repeat(count);

describe.each([
  ["no argument but the topic", {}],
  [
    "every default given",
    { language: "en", duration: 30, style: "story", voice: "charlotte", music: "none", pacing: "normal" },
  ],
] as const)("an order with %s", (_, defaults) => {
  test.each<[string, string]>([
    ...(["ja", "ru", "ar", "zh", "hi", "el", "th", "ko", "he", "uk", "fa", "my"] as const).map(
      (language): [string, string] => [language, repeated(language, 3)],
    ),
    ["Japanese in brackets alone", "[雨の夜の屋根、静かな音]"],
    ["a few words too many", words(94)],
    ["800 words", repeated("en", 100)],
    ["a German sentence", "Gestern stand ein Fuchs in unserer Küche und nahm ein Brötchen vom Tisch."],
    ["a speaker's name", "NARRATOR: The fox steals exactly one sock each night."],
  ])("is doubted: %s", async (_, topic) => {
    expect(await isDoubted({ topic, ...defaults })).toBe(true);
  });

  test.each<[string, string]>([
    ["few words in another script", `${repeated("en", 2)} 靴下`],
    ["another script in the brackets", `${SENTENCES.en} [${repeated("ja", 5)}]`],
    ["long brackets", `${SENTENCES.en} [${"a wide lawn ".repeat(300)}]`],
    ["nothing spoken at all", `[${"rain on a tin roof ".repeat(100)}]`],
    ["neither words nor letters", "🦊 7, 8, 9 …"],
    ["1.25 times the words that fit", words(93)],
    ["a title", "Tides"],
    ["a title in another language, too short to tell", "Die Gezeiten"],
  ])("is not doubted: %s", async (_, topic) => {
    expect(await findingsOf({ topic, ...defaults })).toEqual([]);
  });
});

test.each<[string, Order]>([
  ["300 words in 60 seconds", { topic: words(300), duration: 60 }],
  ["400 words in 90 seconds", { topic: words(400), duration: 90 }],
  ["80 words in 15 seconds", { topic: repeated("en", 10), duration: 15 }],
  ["400 characters of Japanese in 45 seconds", { topic: repeated("ja", 20), language: "ja", duration: 45 }],
  ["600 characters of Chinese in 90 seconds", { topic: repeated("zh", 60), language: "zh", duration: 90 }],
  ["Thai for 70 seconds in 20", { topic: repeated("th", 20), language: "th", duration: 20 }],
])(
  "more than 1.25 times the words that fit are doubted, however many seconds there are: %s",
  async (_, order) => {
    expect(await findingsOf(order)).toEqual([
      expect.stringMatching(/would be spoken, and \d+ seconds of \w+ hold /),
    ]);
  },
);

test("the doubt about a text that is too long names the seconds that it takes", async () => {
  expect(await doubtsOf({ topic: words(95) })).toEqual([
    {
      finding:
        "About 95 words of the topic would be spoken, and 30 seconds of English hold 66 to 75. 90 seconds, the most, hold 198 to 225.",
      advice: "Shorten it with the user, or agree on a duration of 44 seconds.",
    },
  ]);
});

test.each([
  ["ja", "characters"],
  ["zh", "characters"],
  ["th", "syllables"],
  ["ru", "words"],
] as const)(
  "for an English voice, the length of %s is counted in its %s, and no language is guessed",
  async (language, unit) => {
    expect(await findingsOf({ topic: repeated(language, 40), language: "en" })).toEqual([
      expect.stringContaining("words are in another script"),
      expect.stringMatching(
        new RegExp(`^About \\d+ ${unit} of the topic would be spoken, and 30 seconds hold `),
      ),
    ]);
  },
);

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
  "a text in %s is held back for an English voice, but not for a voice in its own language",
  async (language, topic) => {
    for (const given of [undefined, "en", "en-GB"])
      expect(await doubtsOf({ topic, language: given, duration: 90 })).toEqual([
        {
          finding: expect.stringMatching(
            /^The voice would speak (?:British )?English, but the topic doesn't read like English: [01] of \d+ words are common English ones\.$/,
          ),
          advice: expect.stringMatching(
            /^Call again with the topic's language, or write the topic in (?:British )?English\.$/,
          ),
        },
      ]);
    expect(await findingsOf({ topic, language, duration: 90 })).toEqual([]);
  },
);

test.each([
  ["de", "German"],
  ["pt-BR", "Brazilian Portuguese"],
  ["id", "Indonesian"],
  ["ja", "Japanese"],
])("a text in English is held back for a voice that speaks %s", async (language, name) => {
  const topic = repeated("en", 2);

  expect(await doubtsOf({ topic, language })).toEqual([
    {
      finding: `The voice would speak ${name}, but the topic reads like English: 12 of 16 words are common English ones.`,
      advice: `Call again with language "en", or write the topic in ${name}.`,
    },
  ]);
  expect(await findingsOf({ topic, language: "pcm" })).toEqual([]);
});

test("other languages are noticed but not guessed, names don't count as words, and English lessons pass", async () => {
  const rates = await measureRates(samplesSchema.parse(languages));

  expect(rates.map(({ kind, count, failed }) => [kind, count, failed.length])).toEqual([
    ["Latin letters, no language given: missed", 117, 4],
    ['Latin letters, language "en" given: missed', 117, 4],
    ["other scripts, no language given: missed", 21, 0],
    ['other scripts, language "en" given: missed', 21, 0],
    ["English, no language given: false alarms", 50, 0],
    ['English, language "en" given: false alarms', 50, 0],
    ["another language is named", 188, 0],
    ["own language given: false alarms", 138, 0],
    ['English, language "de" given: missed', 50, 17],
  ]);
});

test.each([
  "Por Que Os Gatos Dormem O Dia Inteiro No Sofá Da Sala",
  "DIE KATZE SCHLÄFT DEN GANZEN TAG AUF DEM SOFA",
])("capitals hide no other language: %s", async (topic) => {
  expect(await findingsOf({ topic })).toEqual([expect.stringContaining("doesn't read like English")]);
});

test.each([
  "How To Grow Tomatoes Indoors Without A Garden",
  "THE FOX STEALS SOCKS BECAUSE SOCKS ARE SOFT",
  "Boil pasta. Fry guanciale. Whisk eggs, pecorino, pepper. Toss everything off heat. Eat immediately.",
  "Tea leaves uncurl like fists. [a glass teapot] Wait four minutes. [amber water] Now breathe. [steam]",
  "Fold. Press. Breathe. Stones warm slowly. Smoke leaves the kitchen.",
  "Tap. Tap. Scratch. Brush. Crunch. Whisper. Tingle. Drip. Drip. Drip.",
  "Squats, lunges, planks, burpees, push-ups: twenty reps each, three sets, zero excuses.",
  "Ferrari Lamborghini Bugatti Koenigsegg Pagani McLaren",
  "Ángel Di María: Louis van Gaal dynamic was why I left Manchester United",
])("clipped English, capitals and lists of names are not held back: %s", async (topic) => {
  expect(await findingsOf({ topic })).toEqual([]);
});

test.each([
  ["sr", "Лисица краде тачно једну чарапу сваке ноћи у години."],
  ["sr", "Lisica krade tačno jednu čarapu svake noći u godini."],
  ["sr-Latn", "Lisica krade tačno jednu čarapu svake noći u godini."],
  ["zh-Hant", "狐狸每天晚上偷一隻襪子。"],
  ["ko", "여우는 每日 밤 양말을 한 짝씩 훔친다."],
])("a language that has more than one script may use any of them: %s, %s", async (language, topic) => {
  expect(await findingsOf({ topic, language })).toEqual([]);
});

test("a language code with a script rules out other scripts", async () => {
  const topic = "Лисица краде тачно једну чарапу сваке ноћи у години.";

  expect(await findingsOf({ topic, language: "sr-Latn" })).toEqual([
    expect.stringContaining("in another script"),
  ]);
});

test.each([
  ["br", "pt", "Breton", "Brazil", "Portuguese", FOREIGN_TEXTS.pt],
  ["se", "sv", "Northern Sami", "Sweden", "Swedish", FOREIGN_TEXTS.sv],
  ["ch", "de", "Chamorro", "Switzerland", "German", FOREIGN_TEXTS.de],
  ["ee", "et", "Ewe", "Estonia", "Estonian", "Rebane varastab igal ööl täpselt ühe soki."],
])(
  "a country's code that names a small language is doubted: %s",
  async (code, main, small, country, name, topic) => {
    expect(await doubtsOf({ topic, language: code, duration: 90 })).toEqual([
      {
        finding: `The language "${code}" is ${small}, but "${code}" is also the code of the country ${country}, whose main language is ${name}.`,
        advice: `If ${name} is meant, call again with language "${main}".`,
      },
    ]);
    expect(await findingsOf({ topic, language: main, duration: 90 })).toEqual([]);
  },
);

test("a country's code is doubted in addition to the script of another language", async () => {
  expect(await findingsOf({ topic: repeated("ko", 2), language: "kr" })).toEqual([
    expect.stringMatching(
      /^The voice would speak Kanuri, but 14 of the topic's 14 words are in another script/,
    ),
    expect.stringContaining("whose main language is Korean"),
  ]);
});

test.each([
  ["sv", "Sweden's language, and not El Salvador's", FOREIGN_TEXTS.sv],
  ["ug-Latn", "Uyghur, which isn't Uganda's", "Tülke her kéchisi bir pay paypaq oghrilaydu."],
  ["br-FR", "Breton as it is spoken in France", "Al louarn a laer ur roched bep noz en ti."],
  ["be", "Belarusian, in its own script", "Ліса кожную ноч крадзе адну шкарпэтку."],
  ["bs", "Bosnian", "Lisica krade tačno jednu čarapu svake noći u godini."],
  ["mt", "Maltese", "Il-volpi tisraq kalzetta waħda kull lejl."],
])("the code %s is not doubted: %s", async (language, _, topic) => {
  expect(await findingsOf({ topic, language, duration: 90 })).toEqual([]);
});

test.each(["de-DE", "a warm voice", "female", "Morgan Freeman", "clone:", "clone: "])(
  "an unknown voice is doubted: %j",
  async (voice) => {
    expect(await doubtsOf({ topic: "Tides", voice })).toEqual([
      {
        finding: `The service may not have the voice "${voice.trim()}": it is not in the catalog (adam, charlotte, will, audrey, bryan, jett, amber, vanessa, kai), it is not clone: with the id of a cloned voice, and no video was started with it from here.`,
        advice:
          "Tell the user, and let them choose one of these or give the id that the service's website shows.",
      },
    ]);
  },
);

test.each([
  "clone:<id>",
  "clone:<ID>",
  "clone:user",
  "clone:my-voice",
  "clone:myVoice",
  "clone:MY_VOICE_ID",
  "clone:user's voice",
  "clone:your_voice_id",
  "clone:{id}",
  "clone:$VOICE",
  "clone:me",
  "clone:custom",
  "clone:mi-voz",
])("a cloned voice without its id is doubted: %s", async (voice) => {
  expect(await findingsOf({ topic: "Tides", voice })).toEqual([
    expect.stringContaining("is not in the catalog"),
  ]);
});

test.each([
  "adam",
  "nova",
  "clone:7",
  "clone:vx_9f2",
  "clone:rosa",
  "clone:My-Rosa",
  "clone:5d9c1e8a-0000-4000-8000-2b1f6a7c9d10",
])("a voice that is known, or may be, is not doubted: %s", async (voice) => {
  expect(await findingsOf({ topic: "Tides", voice })).toEqual([]);
});

const SCRIPT = `# The Sock Thief
**Scene 1** (0:00-0:05)
NARRATOR: The fox steals exactly one sock each night. #foxes #fyp
Scene 2 (0:05 - 0:10):
NARRATOR (whispering): Nobody knows **why** it never takes two.
[A fox on a lawn] https://foxes.example/socks`;

test("notes that only a reader of the script needs are counted", async () => {
  expect(await doubtsOf({ topic: SCRIPT })).toEqual([
    {
      finding:
        '1 link ("https://foxes.example/socks"), 2 hashtags ("#foxes"), 2 time codes ("(0:00-0:05)"), 2 scene numbers ("**Scene 1"), 2 labels ("NARRATOR:") and 2 pieces of markup ("# The Sock Thief") in the topic would be spoken, too.',
      advice: "Leave out what should not be spoken. Only text in [brackets] is not spoken.",
    },
  ]);
});

test.each([
  ["a role", "Narrator: The fox steals one sock."],
  ["a voice-over", "VO: The fox steals one sock."],
  ["a role in German", "Sprecherin: Der Fuchs stiehlt eine Socke."],
  ["a speaker with a number", "Speaker 1: The fox steals one sock."],
  ["a dialogue", "Anna: Who took it?\nBen: The fox.\nAnna: Which one?\nBen: The red one."],
  ["a dialogue of one in capitals", "FOX: I took it.\nFOX: I will do it again."],
  ["a part's name", "Hook: The fox steals one sock.\nCTA: Follow for more."],
  ["a scene", "Scene 3 - The fox steals one sock."],
  ["a shot", "SHOT 12\nThe fox steals one sock."],
  ["a range of times", "0:00–0:05 The fox steals one sock."],
  ["a time at the beginning", "0:05 - The fox steals one sock."],
  ["seconds in parentheses", "(0-5s) The fox steals one sock."],
  ["bold text", "The fox steals **one** sock."],
  ["a tag", 'The fox <break time="1s"/> steals one sock.'],
  ["a hashtag", "The fox steals one sock. #foxtok"],
  ["a hashtag of another script", "Лиса #лиса"],
  ["a link", "The fox is at www.foxes.example today."],
])("a note in a script is doubted: %s", async (_, topic) => {
  expect(
    await isDoubted({ topic, language: topic.includes("Лиса") ? "ru" : topic.includes("Der") ? "de" : "en" }),
  ).toBe(true);
});

test.each([
  "POV: you are a raindrop.",
  "Myth: foxes hunt socks. Fact: they steal them.\nMyth: they need two.\nFact: one will do.",
  "Me: I only need one sock.\nMy fox: same.\nMe: give it back.",
  "Here is the thing: nobody saw the fox. Day one: a sock. Day two: a sock.",
  "It is 7:30 in the morning. At 10:05 the fox is back, and it is the #1 thief, 5 * 3 socks ahead.",
  "The #MeToo movement began with one woman, in 2006.",
  "Buy it at foxes.example, ask @foxes, and pay $5-10 within 5-10 seconds.",
  "The host of the show: a fox. The title of this story is The Sock Thief. Scene 3 of the film is my favourite.",
  "[Scene 1 (0:00-0:05): **a fox** #fox https://foxes.example] The fox steals one sock.",
  "1. Find a fox.\n2. Hide your socks.\n- Or don't.",
])("words that are spoken are not counted as notes: %s", async (topic) => {
  expect(await findingsOf({ topic })).toEqual([]);
});

test("a topic may be as long as a message", async () => {
  for (const part of ["x ", "**", "a:\n", "#a ", "(0:00", "字", "aя", "<a ", "Ab ", "`"]) {
    const findings = await findingsOf({ topic: part.repeat(200_000 / part.length) });
    expect(findings.length).toBeLessThanOrEqual(3);
  }
});
