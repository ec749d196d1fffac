// Looks at an order before it is paid for: is its topic a text, in the language that will be spoken? Do its
// words fit into its seconds? Would notes be spoken? Is its voice known? Judges nothing else. Sends nothing.

import type { OrderWarning } from "../../idempotency/generate-once.ts";
import { languageName } from "../../service/languages.ts";
import { CATALOG_VOICES, DEFAULTS, DURATION } from "../../service/options.ts";
import type { Order } from "../../service/responses.ts";
import { spokenTextOf } from "../../service/spoken-words.ts";
import { countUnits, speakingRate } from "../../service/words.ts";
import { say } from "../../sentences.ts";
import { quote } from "../../text.ts";
import { reviewDamage, reviewNotes, reviewText } from "./forms.ts";
import { type LanguageReview, reviewLanguage } from "./language.ts";

/** A text may be this many times as long as what fits. The topics of the trials reach 1.12. */
const MAX_EXCESS = 1.25;
/** A topic with pictures must have this share of the words that fit: in asmr a quarter at a slow pace. */
const MIN_SHARE = { asmr: 0.22, others: 0.5 } as const;
/** Dictated text has no pictures in brackets, and may be as short as it is. */
const MIN_PICTURES = 2;

/** Returns why the order looks like a mistake. `hasVoice` tells if a voice outside the catalog is known. */
export async function reviewOrder(
  order: Order,
  hasVoice: (voice: string) => Promise<boolean>,
): Promise<OrderWarning[]> {
  const { language = DEFAULTS.language, voice = DEFAULTS.voice } = order;
  // Searches by line take quadratic time if a line's end can be a blank.
  const topic = order.topic.replace(/\r\n?|[\u2028\u2029]/g, "\n");
  const spoken = spokenTextOf(topic);
  const reviewSpoken = () => {
    const review = reviewLanguage(spoken, language);
    const length = reviewLength({ ...order, topic }, spoken, review);
    return [review.warning, length, reviewNotes(spoken), reviewDamage(topic)];
  };
  const noText = reviewText(topic, spoken);
  const warnings = noText === undefined ? reviewSpoken() : [noText];
  return [...warnings, await reviewVoice(voice, hasVoice)].flatMap((warning) => warning ?? []);
}

function reviewLength(
  { topic, duration: seconds = DEFAULTS.duration, style }: Order,
  spoken: string,
  { measuredAs, isCertain }: LanguageReview,
): OrderWarning | undefined {
  const { unit, perSecond } = speakingRate(measuredAs);
  const count = countUnits(spoken, unit);
  const comfortable = perSecond * 0.88;
  const hold = (some: number) => `hold ${Math.round(comfortable * some)} to ${Math.round(perSecond * some)}.`;
  const fit = `${seconds} seconds${isCertain ? ` of ${languageName(measuredAs)}` : ""} ${hold(seconds)}`;
  const needed = Math.min(Math.max(Math.ceil(count / comfortable), DURATION.min), DURATION.max);
  const otherDuration = say`[agree on|take] a duration of ${needed} seconds`;
  const share = style === "asmr" ? MIN_SHARE.asmr : MIN_SHARE.others;
  const pictures = topic.match(/\[/g)?.length ?? 0;
  // Fewer words than pictures mean that silence is wanted.
  const isInOurForm = pictures >= MIN_PICTURES && pictures <= count;
  if (isInOurForm && count < share * perSecond * seconds && needed < seconds)
    return {
      finding: `Only about ${count} ${unit} of the topic would be spoken, and ${fit}`,
      advice: say`Lengthen it[ with the user|], or ${otherDuration}.`,
    };
  if (count <= MAX_EXCESS * perSecond * seconds) return undefined;
  const most = seconds < DURATION.max ? ` ${DURATION.max} seconds, the most, ${hold(DURATION.max)}` : "";
  const others = count <= perSecond * DURATION.max ? otherDuration : "plan several videos, each paid for";
  return {
    finding: `About ${count} ${unit} of the topic would be spoken, and ${fit}${most}`,
    advice: say`Shorten it[ with the user|], or ${others}.`,
  };
}

async function reviewVoice(
  voice: string,
  hasVoice: (voice: string) => Promise<boolean>,
): Promise<OrderWarning | undefined> {
  if (CATALOG_VOICES.some((known) => known === voice) || isClone(voice) || (await hasVoice(voice)))
    return undefined;
  return {
    finding: `The service may not have the voice ${quote(voice, 200)}: it is not in the catalog (${CATALOG_VOICES.join(", ")}), it is not clone:<id> with the id of a cloned voice, and no video was started with it from here.`,
    advice: say`[Tell the user, and let them choose|Choose] one of these or give the id that the service's website shows.`,
  };
}

/** True for clone:<id>. An id is long, or has digits before its final number: "anna2" is a name. */
function isClone(voice: string): boolean {
  const [, id = ""] = /^clone:([\w-]+)$/is.exec(voice) ?? [];
  return id.length >= 4 && (/\d/.test(id.replace(/[_-]?\d{1,2}$/, "")) || /^[a-z\d]{16,}$/i.test(id));
}
