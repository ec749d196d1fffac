// The orders that are held back once because they look like a mistake. The topics of trials are real ones, written
// for real wishes, with a language and seconds: none of them may be doubted.

import { describe, expect, test } from "vitest";
import * as z from "zod";
import { CHOICES } from "../../src/service/options.ts";
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

const trialSchema = z.object({
  topic: z.string(),
  language: z.string(),
  duration: z.number(),
  style: z.enum(CHOICES.style).optional(),
});

test("no topic of a trial is doubted, whether its language and seconds are given or left out", async () => {
  expect(trialTopics.length).toBeGreaterThanOrEqual(100);
  const topics = z.array(trialSchema).parse(trialTopics);
  const inEnglish = topics.filter(({ language }) => language === "en");
  const orders: Order[] = [...topics, ...inEnglish.map((order) => ({ ...order, language: undefined }))];

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
    ["nothing spoken at all", "[rain on a tin roof]"],
    ["neither words nor letters", "🦊 7, 8, 9 …"],
    ["a few words too many", words(94)],
    ["800 words", repeated("en", 100)],
    ["a German sentence", "Gestern stand ein Fuchs in unserer Küche und nahm ein Brötchen vom Tisch."],
    ["a speaker's name", "NARRATOR: The fox steals exactly one sock each night."],
  ])("is doubted: %s", async (_, topic) => {
    expect(await isDoubted({ topic, ...defaults })).toBe(true);
  });

  test.each<[string, string]>([
    ["few words in another script", `${SENTENCES.en.repeat(2)} 靴下`],
    ["another script in the brackets", `${SENTENCES.en} [${SENTENCES.ja.repeat(5)}]`],
    ["long brackets", `${SENTENCES.en} [${"a wide lawn ".repeat(300)}]`],
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
            /^The voice would speak (British English|English), but the topic doesn't read like \1\.$/,
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

  expect(await doubtsOf({ topic, language, duration: 10 })).toEqual([
    {
      finding: `The voice would speak ${name}, but the topic reads like English.`,
      advice: `Call again with language "en", or write the topic in ${name}.`,
    },
  ]);
  expect(await findingsOf({ topic, language: "pcm", duration: 10 })).toEqual([]);
});

test("the check of a topic's language misses and misjudges only as many texts as listed", () => {
  const rates = measureRates(samplesSchema.parse(languages));

  expect(rates.map(({ kind, count, failed }) => [kind, count, failed.length])).toEqual([
    ["Latin letters, English voice: missed", 117, 6],
    ["other scripts, English voice: missed", 21, 0],
    ["English, English voice: false alarms", 50, 0],
    ["English, German voice: missed", 50, 4],
    ["own voice: false alarms", 138, 0],
    ["another language is named wrongly", 188, 0],
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
  "Tea leaves uncurl like fists. [a glass teapot, amber water, steam] Wait four minutes. Now breathe.",
  "Fold. Press. Breathe. Stones warm slowly. Smoke leaves the kitchen.",
  "Tap. Tap. Scratch. Brush. Crunch. Whisper. Tingle. Drip. Drip. Drip.",
  "Squats, lunges, planks, burpees, push-ups: twenty reps each, three sets, zero excuses.",
  "Ferrari Lamborghini Bugatti Koenigsegg Pagani McLaren",
  "Sharks sense heartbeats. Tiny pores detect electricity. Prey panics. Jaws snap shut.",
  "Sand melts. Glass flows. Artisans spin molten bubbles. Vases harden overnight.",
  "Neurons fire. Dopamine spikes. Habits stick.",
  "Venice sinks, Amsterdam floats.",
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
  ["French, German", "fr", FOREIGN_TEXTS.de],
  ["Spanish, Italian", "es", FOREIGN_TEXTS.it],
  ["Polish, Swedish", "pl", FOREIGN_TEXTS.sv],
  ["Breton by Brazil's code, Portuguese", "br", FOREIGN_TEXTS.pt],
  ["Northern Sami by Sweden's code, Swedish", "se", FOREIGN_TEXTS.sv],
  ["Chamorro by Switzerland's code, German", "ch", FOREIGN_TEXTS.de],
  ["Tswana by Tunisia's code, French", "tn", FOREIGN_TEXTS.fr],
  ["Ewe by Estonia's code, Estonian", "ee", "Rebane varastab igal ööl täpselt ühe soki."],
])(
  "a voice is doubted that would speak another language than the topic's: %s",
  async (_, language, topic) => {
    expect(await findingsOf({ topic, language, duration: 90 })).toEqual([
      expect.stringMatching(/^The voice would speak (.+), but the topic doesn't read like \1\.$/),
    ]);
  },
);

test.each([
  ["da", "nb", "Hvorfor sover katte egentlig hele dagen i sofaen?"],
  ["id", "ms", "Kemarin seekor rubah masuk ke dapur kami dan mengambil roti dari meja."],
  ["gl", "pt", "Onte entrou un raposo na nosa cociña e colleu un pan da mesa."],
  ["hr", "bs", "Lisica krade tačno jednu čarapu svake noći u godini."],
  ["af", "nl", "Gister het 'n jakkals in ons kombuis ingekom en 'n broodjie gevat."],
  ["fil", "fil", "Kahapon may pumasok na soro sa kusina namin at kinuha niya ang tinapay."],
  ["lb", "lb", "Gëschter stoung e Fuuss an eiser Kichen an huet e Bréitchen vum Dësch geholl."],
  ["co", "co", "Una volpe hè ghjunta in a nostra cucina è hà pigliatu u pane nantu à u tavulinu."],
  ["ht", "ht", "Yon rena vòlè yon chosèt chak swa epi pèsonn pa konnen poukisa."],
  ["sw", "sw", "Mbweha huiba soksi moja kila usiku na hakuna ajuaye kwa nini."],
  ["mt", "mt", "Il-volpi tisraq kalzetta waħda kull lejl u ħadd ma jaf għaliex."],
  ["br", "br-FR", "Al louarn a laer ur roched bep noz en ti."],
  ["ug", "ug-Latn", "Tülke her kéchisi bir pay paypaq oghrilaydu."],
  ["be", "be", "Ліса кожную ноч крадзе адну шкарпэтку."],
])("a topic in %s is not doubted for a voice in %s", async (_, language, topic) => {
  expect(await findingsOf({ topic, language, duration: 90 })).toEqual([]);
});

test.each(["de-DE", "a warm voice", "female", "Morgan Freeman", "clone:", "clone: "])(
  "an unknown voice is doubted: %j",
  async (voice) => {
    expect(await doubtsOf({ topic: "Tides", voice })).toEqual([
      {
        finding: `The service may not have the voice "${voice.trim()}": it is not in the catalog (adam, charlotte, will, audrey, bryan, jett, amber, vanessa, kai), it is not clone:<id> with the id of a cloned voice, and no video was started with it from here.`,
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
  "clone:male",
  "clone:latest",
  "clone:boss voice",
  "clone:1",
  "clone:rosa",
  "clone:my_voice_2",
])("a cloned voice without its id is doubted: %s", async (voice) => {
  expect(await findingsOf({ topic: "Tides", voice })).toEqual([
    expect.stringContaining("is not in the catalog"),
  ]);
});

test.each([
  "adam",
  "nova",
  "clone:vx_9f2",
  "clone:48213",
  "clone:EXAVITQuPvrMxnSDxMaL",
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

test.each([
  ["a template", "{{topic}}", '"{{topic}}" is a template'],
  ["a template of a shell", "${TOPIC}", '"${TOPIC}" is a template'],
  ["a template of Windows", "%TOPIC%", '"%TOPIC%" is a template'],
  ["a template among a few words", "Make a video about {{ $json.topic }}", "is a template"],
  ["a placeholder in brackets", "[Your topic here]", "is a template"],
  ["a placeholder in words", "Insert your script here", "is a template"],
  ["a formula", "=A2", "is a template"],
  ["undefined", "Topic: undefined", "is what programs write for no value"],
  ["null, twice", "null\nnull", "is what programs write for no value"],
  ["an object", "About [object Object]", '"[object Object]" is what programs write for no value'],
  ["an error of a spreadsheet", "#REF!", '"#REF!" is an error of a spreadsheet'],
  ["a file's name", "my final script.docx", "is the name of a file, an address or an id"],
  ["a path of Windows", String.raw`C:\Users\max\script.txt`, "is the name of a file, an address or an id"],
  ["a path", "~/Documents/script.txt", "is the name of a file, an address or an id"],
  ["a link", "Make this: https://docs.example/d/1a", '"https://docs.example/d/1a" is a link'],
  ["a link without a scheme", "docs.example/d/1a", "is a link"],
  ["an address", "foxes.example", "is the name of a file, an address or an id"],
  ["an id", "5d9c1e8a-0000-4000-8000-2b1f6a7c9d10", "is the name of a file, an address or an id"],
  ["a pointer to an attachment", "See attached.", '"See attached." says where the text is'],
  ["a pointer to the chat", "Same as above", '"Same as above" says where the text is'],
  ["JSON", '{"topic": "foxes", "duration": 30}', "is JSON"],
])("a topic that isn't the text itself is doubted, and nothing else of it: %s", async (_, topic, reason) => {
  expect(await doubtsOf({ topic })).toEqual([
    {
      finding: expect.stringMatching(/^The topic isn't a text to speak: ".+" .+\.$/),
      advice: "Ask the user what it should say.",
    },
  ]);
  expect(await findingsOf({ topic })).toEqual([expect.stringContaining(reason)]);
});

test.each([
  ["a line's end as two characters", String.raw`The fox.\nIt steals one sock.`, "an escape sequence"],
  ["a letter as an escape sequence", String.raw`Caf\u00e9 tables wait in the rain.`, "an escape sequence"],
  ["escaped quotation marks", String.raw`He said \"no\" and left the room.`, "an escape sequence"],
  ["an entity", "Cats &amp; dogs share one sofa.", "an entity of HTML"],
  ["an entity by its number", "It&#39;s the sea that sings at night.", "an entity of HTML"],
  [
    "UTF-8 read as Latin-1",
    "A naÃ¯ve fox steals one sock.",
    "characters that were read in the wrong encoding",
  ],
  [
    "an apostrophe read as Latin-1",
    "Itâ€™s a fox at the door.",
    "characters that were read in the wrong encoding",
  ],
  ["Excel's line end", "The fox_x000D_ steals one sock.", "a code for a character"],
  ["a link's blank", "The fox%20steals one sock.", "a code for a character"],
])("text that was damaged in ordinary characters is doubted: %s", async (_, topic, what) => {
  expect(await doubtsOf({ topic })).toEqual([
    {
      finding: expect.stringMatching(new RegExp(`^The topic was damaged on its way: ".+" has ${what}\\.$`)),
      advice: "Write it as it was meant.",
    },
  ]);
});

test.each([
  "In JavaScript, backticks and ${name} print a variable inside a string.",
  "Jinja fills {{ user }} with a name before the page is sent to you.",
  "Sets in Python wear {braces}, lists wear brackets, and tuples wear parentheses.",
  "Salt & pepper met in 1650; R&B and rock & roll met much later.",
  "Delete node_modules and keep package.json: your project is lighter by a gigabyte.",
  "My grade was N/A for a whole year, and the university never noticed.",
  "Excel shows #REF! when the cell that it points to has been deleted.",
  "Undefined is not a function, said the console, and I went to bed.",
  String.raw`He wrote C:\new\folder on the board and the class laughed.`,
  String.raw`Type \n for a new line and \t for a tab, and the printer obeys.`,
  "See attached is the most honest email ever written, and I wrote four hundred of them.",
  "As above, so below: alchemists drew heaven in a puddle.",
  "Put your hands here",
  "The night before",
  "AMANHÃ, A MANHÃ “NÃO” VEM: NÃO, DIZ ELA, NÃO VEM AMANHÃ.",
])("a text about templates, files and errors is not doubted as one: %s", async (topic) => {
  const findings = await findingsOf({ topic, language: topic.includes("AMANHÃ") ? "pt" : "en" });

  expect(findings).toEqual([]);
});

test.each<[string, Order["style"], number, boolean]>([
  ["60 of the 150 words that fit", "story", 60, true],
  ["80 of the 150 words that fit", "story", 80, false],
  ["30 of the 150 words that fit, in asmr", "asmr", 30, true],
  ["40 of the 150 words that fit, in asmr", "asmr", 40, false],
  ["fewer words than pictures, so that silence is meant", "asmr", 4, false],
])(
  "a topic in our form must fill half of its seconds, and a quarter in asmr: %s",
  async (_, style, count, isDoubted) => {
    const topic = `${words(count)}${PICTURE.repeat(6)}`;

    expect(await findingsOf({ topic, style, duration: 60 })).toEqual(
      isDoubted
        ? [
            `Only about ${count} words of the topic would be spoken, and 60 seconds of English hold 132 to 150.`,
          ]
        : [],
    );
    expect(await findingsOf({ topic: words(count), style, duration: 60 })).toEqual([]);
  },
);

test("all doubts about an order are reported at once", async () => {
  const topic = `${FOREIGN_TEXTS.de} &amp; https://foxes.example/socks`;

  expect(await findingsOf({ topic, duration: 10, voice: "clone:latest" })).toEqual([
    expect.stringContaining("doesn't read like English"),
    expect.stringMatching(/^About \d+ words/),
    expect.stringContaining("1 link"),
    expect.stringContaining("has an entity of HTML"),
    expect.stringContaining('the voice "clone:latest"'),
  ]);
});

test("the check of a topic takes time in proportion to its length, whatever characters repeat in it", async () => {
  // A quadratic search takes minutes of processor for one of these.
  const signs =
    "\u2028 \u2029 \r \n \t \u00A0 [ ] { } ( < & % # $ \\ \" ' ` * _ - . , : / @ 0 a A 字 я ก \u0301 \u{1F98A}";
  const pairs = "** a:\n aя [a a] {{ a. a_ ${ %a \\n \\\" &a Ã a' a- a/ http:// 0:00- (0:00 A:b\nB:c\n";
  const endingInBlanks = [
    "x ",
    "#a ",
    "<a ",
    "Ab ",
    "\r ",
    "\u2028 ",
    "\n ",
    "- ",
    "see ",
    "null ",
    "Scene ",
    "A: ",
  ];
  const parts = [" ", ...signs.split(" "), ...pairs.split(" "), ...endingInBlanks];
  let seed = 20_261_128;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const mixed = Array.from({ length: 15 }, () =>
    Array.from({ length: 3 }, () => (parts[random(parts.length)] ?? "").repeat(1 + random(4))).join(""),
  );
  for (const part of [...parts, ...mixed]) {
    const before = process.cpuUsage();
    const findings = await findingsOf({ topic: part.repeat(100_000 / part.length) });
    expect(findings.length).toBeLessThanOrEqual(4);
    expect(process.cpuUsage(before).user, part).toBeLessThan(20_000_000);
  }
});
