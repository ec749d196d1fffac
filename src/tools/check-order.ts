// Looks at an order before it is paid for: is it written in the language that will be spoken, do its words fit
// into its seconds, is its voice a known one? Judges nothing else about a topic. Pure.

import type { OrderWarning } from "../idempotency/generate-once.ts";
import { CATALOG_VOICES, DEFAULTS, DURATION } from "../service/options.ts";
import type { Order } from "../service/responses.ts";
import { languageName } from "../service/languages.ts";
import { quote } from "../text.ts";
import {
  countLetters,
  countSpoken,
  likelyLanguage,
  speakingRate,
  spokenTextOf,
} from "../service/spoken-words.ts";

/** A text may be this many times as long as what fits, if the user has chosen the seconds, or if not. */
const MAX_EXCESS = { chosen: 2, default: 1.25 } as const;

/** A detector needs so many words, must be this sure, and must find next to no English. It is slow beyond a page. */
const CLEARLY = { minWords: 15, maxCharacters: 2_000, minAccuracy: 0.3, maxDefaultAccuracy: 0.1 } as const;

/** Why the order looks like a mistake. */
export async function reviewOrder(order: Order): Promise<OrderWarning[]> {
  const spoken = spokenTextOf(order.topic);
  const foreign =
    order.language === undefined
      ? (findForeignScript(order.topic, spoken) ?? (await findForeignLanguage(spoken)))
      : undefined;
  // The words are counted as those of the language that they are probably in.
  const language = foreign?.language ?? order.language ?? DEFAULTS.language;
  return [foreign?.warning, reviewLength(order.duration, language, spoken), reviewVoice(order.voice)].flatMap(
    (warning) => warning ?? [],
  );
}

interface Foreign {
  /** BCP-47. */
  readonly language: string;
  readonly warning: OrderWarning;
}

function findForeignScript(topic: string, spoken: string): Foreign | undefined {
  const letters = countLetters(spoken, DEFAULTS.language);
  // If nothing is spoken, the letters in brackets count.
  const [text, { all, foreign }] =
    letters.all > 0 ? [spoken, letters] : [topic, countLetters(topic, DEFAULTS.language)];
  if (foreign * 2 <= all) return undefined;
  const warning = languageWarning(
    `in another script (${foreign} of ${all} letters)`,
    "Call again with the topic's language",
  );
  return { language: likelyLanguage(text), warning };
}

/** For languages that share the default's script. Its detector is loaded by the first order that needs it. */
async function findForeignLanguage(spoken: string): Promise<Foreign | undefined> {
  const beginning = spoken.slice(0, CLEARLY.maxCharacters);
  if (countSpoken(beginning, "words") < CLEARLY.minWords) return undefined;
  const { detectAll } = await import("tinyld/light");
  const found = detectAll(beginning);
  const [best] = found;
  const ofDefault = found.find(({ lang }) => lang === DEFAULTS.language)?.accuracy ?? 0;
  if (best === undefined || best.accuracy < CLEARLY.minAccuracy || ofDefault > CLEARLY.maxDefaultAccuracy)
    return undefined;
  const warning = languageWarning(
    `probably in ${languageName(best.lang)}`,
    `Call again with language "${best.lang}" if that is so`,
  );
  return { language: best.lang, warning };
}

function languageWarning(topicIs: string, advice: string): OrderWarning {
  const name = languageName(DEFAULTS.language);
  return {
    finding: `No language was given, so the voice would speak ${name}, but the topic is ${topicIs}.`,
    advice: `${advice}, or write it in ${name}.`,
  };
}

function reviewLength(
  duration: number | undefined,
  language: string,
  spoken: string,
): OrderWarning | undefined {
  const seconds = duration ?? DEFAULTS.duration;
  const { unit, perSecond } = speakingRate(language);
  const count = countSpoken(spoken, unit);
  if (count <= MAX_EXCESS[duration === undefined ? "default" : "chosen"] * perSecond * seconds)
    return undefined;
  const comfortable = perSecond * 0.88;
  const hold = (some: number) => `hold ${Math.round(comfortable * some)} to ${Math.round(perSecond * some)}.`;
  const most = seconds < DURATION.max ? ` ${DURATION.max} seconds, the most, ${hold(DURATION.max)}` : "";
  const needed = Math.min(Math.ceil(count / comfortable), DURATION.max);
  return {
    finding: `About ${count} ${unit} of the topic would be spoken, and ${seconds} seconds of ${languageName(language)} ${hold(seconds)}${most}`,
    advice: `Shorten it with the user, or ${count <= perSecond * DURATION.max ? `agree on a duration of ${needed} seconds` : "plan several videos, each paid for"}.`,
  };
}

function reviewVoice(voice: string | undefined): OrderWarning | undefined {
  if (
    voice === undefined ||
    /^clone:(?!<?id>?$)\S/.test(voice) ||
    CATALOG_VOICES.some((known) => known === voice)
  )
    return undefined;
  return {
    finding: `The voice ${quote(voice, 200)} is neither in the catalog (${CATALOG_VOICES.join(", ")}) nor clone:<id>, so the service may not have it.`,
    advice: "Use the voice that the user has named, or leave it out.",
  };
}
