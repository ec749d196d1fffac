// Looks at an order before it is paid for: is it in the language that will be spoken, do its words fit into its
// seconds, would notes be spoken, is its voice a known one? Judges nothing else about a topic. Sends nothing.

import type { OrderWarning } from "../../idempotency/generate-once.ts";
import { languageName } from "../../service/languages.ts";
import { CATALOG_VOICES, DEFAULTS, DURATION } from "../../service/options.ts";
import type { Order } from "../../service/responses.ts";
import { countSpoken, speakingRate, spokenTextOf } from "../../service/spoken-words.ts";
import { say } from "../../sentences.ts";
import { quote } from "../../text.ts";
import { type LanguageReview, reviewLanguage } from "./language.ts";
import { reviewNotes } from "./notes.ts";

/** A text may be this many times as long as what fits. The topics of the trials reach 1.12. */
const MAX_EXCESS = 1.25;

/**
 * Returns why the order looks like a mistake. A given default isn't a choice: clients and proxies fill in every
 * argument. `hasVoice` says whether a voice that the catalog doesn't have is known.
 */
export async function reviewOrder(
  order: Order,
  hasVoice: (voice: string) => Promise<boolean>,
): Promise<OrderWarning[]> {
  const { topic, language = DEFAULTS.language, duration = DEFAULTS.duration, voice = DEFAULTS.voice } = order;
  const spoken = spokenTextOf(topic);
  const review = reviewLanguage(topic, spoken, language);
  const warnings = [
    reviewLength(spoken, duration, review),
    reviewNotes(spoken),
    await reviewVoice(voice, hasVoice),
  ];
  return [...review.warnings, ...warnings.flatMap((warning) => warning ?? [])];
}

function reviewLength(
  spoken: string,
  seconds: number,
  { measuredAs, isCertain }: LanguageReview,
): OrderWarning | undefined {
  const { unit, perSecond } = speakingRate(measuredAs);
  const count = countSpoken(spoken, unit);
  if (count <= MAX_EXCESS * perSecond * seconds) return undefined;
  const comfortable = perSecond * 0.88;
  const hold = (some: number) => `hold ${Math.round(comfortable * some)} to ${Math.round(perSecond * some)}.`;
  const most = seconds < DURATION.max ? ` ${DURATION.max} seconds, the most, ${hold(DURATION.max)}` : "";
  const needed = Math.min(Math.ceil(count / comfortable), DURATION.max);
  return {
    finding: `About ${count} ${unit} of the topic would be spoken, and ${seconds} seconds${isCertain ? ` of ${languageName(measuredAs)}` : ""} ${hold(seconds)}${most}`,
    advice: say`Shorten it[ with the user|], or ${count <= perSecond * DURATION.max ? say`[agree on|take] a duration of ${needed} seconds` : "plan several videos, each paid for"}.`,
  };
}

async function reviewVoice(
  voice: string,
  hasVoice: (voice: string) => Promise<boolean>,
): Promise<OrderWarning | undefined> {
  if (CATALOG_VOICES.some((known) => known === voice) || isClone(voice) || (await hasVoice(voice)))
    return undefined;
  return {
    finding: `The service may not have the voice ${quote(voice, 200)}: it is not in the catalog (${CATALOG_VOICES.join(", ")}), it is not clone: with the id of a cloned voice, and no video was started with it from here.`,
    advice: say`[Tell the user, and let them choose|Choose] one of these or give the id that the service's website shows.`,
  };
}

/** Words for the user's own voice that stand in place of its id: "clone:my-voice", "clone:<id>". */
const PLACEHOLDER_WORDS: ReadonlySet<string> = new Set(
  (
    "a an the s my mine me myself own our your yours you user users person speaker owner narrator customer client author self " +
    "this that here voice voices voiceid cloned clone clones copy custom default id ids uuid identifier name number code value " +
    "placeholder example sample test xxx xxxx null undefined none mi tu voz ma ta mon voix meine deine eigene stimme minha mia voce"
  ).split(" "),
);

/** True for clone: with a possible id. */
function isClone(voice: string): boolean {
  const [, id] = /^clone:(.*)$/is.exec(voice) ?? [];
  if (id === undefined || /[<>{}[\]$]/.test(id)) return false;
  const words =
    id
      .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.some((word) => !PLACEHOLDER_WORDS.has(word.replace(/s$/, "")) && !PLACEHOLDER_WORDS.has(word));
}
