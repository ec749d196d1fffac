// Looks at an order before it is paid for: is it written in the language that will be spoken, and do its words
// fit into its seconds? Judges nothing else about a topic.

import { BridgeError } from "../errors.ts";
import { DEFAULTS, DURATION } from "../service/options.ts";
import type { Order } from "../service/responses.ts";
import { languageName } from "../service/languages.ts";
import { countLetters, countSpoken, speakingRate, spokenTextOf } from "../spoken-words.ts";

const MAX_DOUBTED = 1_000;

/** Doubts an order once, so that a wrong doubt costs a call and never a video. */
export class OrderCheck {
  readonly #keyOf: (order: Order) => string;
  /** The orders that were doubted, by key; the oldest first. */
  readonly #doubted = new Set<string>();

  /** `keyOf` gives equal keys for equal orders. */
  constructor(keyOf: (order: Order) => string) {
    this.#keyOf = keyOf;
  }

  /** Throws a BridgeError where an order looks like a mistake, unless it has thrown one for the same order. */
  check(order: Order): void {
    const spoken = spokenTextOf(order.topic);
    const doubt = doubtLanguage(order, spoken) ?? doubtLength(order, spoken);
    if (doubt === undefined) return;
    const key = this.#keyOf(order);
    if (this.#doubted.has(key)) return;
    this.#doubted.add(key);
    for (const oldest of this.#doubted) if (this.#doubted.size > MAX_DOUBTED) this.#doubted.delete(oldest);
    const [message, advice] = doubt;
    const nextStep = `${advice} The same call made again orders it as it is.`;
    // Not retryable: a client that repeats a call by itself would pay.
    throw new BridgeError({ code: "check_order", message, nextStep, outcome: "not_sent", retryable: false });
  }
}

/** What was found, and what to do instead. */
type Doubt = readonly [message: string, advice: string] | undefined;

function doubtLanguage({ topic, language }: Order, spoken: string): Doubt {
  if (language !== undefined) return undefined;
  const letters = countLetters(spoken, DEFAULTS.language);
  // Where nothing is spoken, the letters in brackets count.
  const { all, foreign } = letters.all > 0 ? letters : countLetters(topic, DEFAULTS.language);
  const name = languageName(DEFAULTS.language);
  if (foreign * 2 <= all) return undefined;
  return [
    `Not sent: no language was given, so the voice would speak ${name}, but the topic is in another script (${foreign} of ${all} letters).`,
    `Call again with the topic's language, or write it in ${name}.`,
  ];
}

function doubtLength(
  { language = DEFAULTS.language, duration = DEFAULTS.duration }: Order,
  spoken: string,
): Doubt {
  const { unit, perSecond } = speakingRate(language);
  const count = countSpoken(spoken, unit);
  if (count <= 2 * perSecond * duration) return undefined;
  const hold = (seconds: number) =>
    `hold ${Math.round(perSecond * 0.88 * seconds)} to ${Math.round(perSecond * seconds)}.`;
  const most = duration < DURATION.max ? ` ${DURATION.max} seconds, the most, ${hold(DURATION.max)}` : "";
  return [
    `Not sent: about ${count} ${unit} of the topic would be spoken, and ${duration} seconds of ${languageName(language)} ${hold(duration)}${most}`,
    `Shorten it with the user, or ${count <= perSecond * DURATION.max ? "agree on a longer duration" : "plan several videos, each paid for"}.`,
  ];
}
