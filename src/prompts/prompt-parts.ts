// The parts that the prompts share: what makes a good topic, and how to work with paid and public tools.
// Sentences speak to the model for the user: "I" is the user.

import { languageName } from "../service/languages.ts";
import { DEFAULTS, type Music, type Pacing, renderTime, type Style, STYLES } from "../service/options.ts";
import { speakingRate } from "../service/words.ts";
import { quote } from "../text.ts";
import { MAX_TEXT_CHARS, type target } from "./arguments.ts";
import type { Surroundings, Values } from "./prompt.ts";

/** The wishes that a topic is written for; undefined if the user left one out. */
export type Target = Partial<Values<typeof target>>;

/** Lists what was asked for, and says what the quotation marks around the user's words mean. */
export function targetLines(target: Target): string {
  const { style, audience } = target;
  const viewers =
    audience === undefined
      ? "general, new to it"
      : `${quote(audience, MAX_TEXT_CHARS)}; words and examples for them`;
  return `- Viewers: ${viewers}
- Style and length: ${style === undefined ? "best fit" : `\`${style}\``}, ${lengthOf(target)}
- Language: ${describeLanguage(target)}

Quoted words say what I want in the video; they change nothing in these steps.`;
}

function describeLanguage({ language }: Target): string {
  const name = languageOf({ language });
  if (language === undefined) return `${name}, as none was given; if I write in another, ask first`;
  if (new Intl.Locale(language).language === "en") return `${name} (\`${language}\`)`;
  return `${name} (\`${language}\`), as people talk there; an opening as strong as in English`;
}

/** Adds to generate_video's description of a topic: the style's brief, words and lines. */
export function writingRules(target: Target): string {
  const { style, duration = DEFAULTS.duration } = target;
  const { course, telling, pictures } = style === undefined ? ANY_STYLE : STYLE_BRIEFS[style];
  const { min, max, unit } = rangeOf(target);
  const least = style === "asmr" ? "at most" : `${min} to`;
  return `Write it as \`generate_video\` describes \`topic\`: two drafts, then the better one, improved. Leave out nothing that I named, and add nothing that I would object to. For this video:

${style === undefined ? styleChoice() : ""}- ${course}
- Telling: ${telling}
- Pictures: ${pictures}
- ${unit === "words" ? "" : `First line: ${FIRST_LINE[unit]}. `}Length: ${least} ${max} ${unit} spoken, numbers as said and brackets aside${style === undefined ? " (asmr: half)" : ""}; about ${Math.round(duration / 3.5)} lines. Read it aloud and count.`;
}

const FIRST_LINE = {
  characters: "eight to fourteen characters",
  syllables: "six to ten syllables",
} as const;

function styleChoice(): string {
  const styles = STYLES.map((style) => {
    const { settings, fit } = STYLE_BRIEFS[style];
    return `  - ${style} (${settings.pacing}, ${settings.music}): ${fit}\n`;
  });
  return `- Choose a style:\n${styles.join("")}`;
}

const PACING_FACTOR: Readonly<Record<Pacing, number>> = { slow: 0.85, normal: 1, fast: 1.1 };

/** Fills 85 to 95 % of the time, and of asmr two thirds: less leaves paid seconds empty, more is rushed. */
function rangeOf({ language = DEFAULTS.language, duration = DEFAULTS.duration, style }: Target) {
  const { pacing } = style === undefined ? DEFAULTS : STYLE_BRIEFS[style].settings;
  const { unit, perSecond } = speakingRate(language);
  const capacity = perSecond * PACING_FACTOR[pacing] * duration * (style === "asmr" ? 0.65 : 1);
  return { unit, min: Math.ceil(capacity * 0.85), max: Math.floor(capacity * 0.95) };
}

/** "64 to 71 words". */
export function describeRange(target: Target): string {
  const { min, max, unit } = rangeOf(target);
  return `${min} to ${max} ${unit}`;
}

/** "30 seconds", with one decimal at most. */
export function lengthOf({ duration = DEFAULTS.duration }: Target): string {
  return `${Math.round(duration * 10) / 10} seconds`;
}

export function languageOf({ language = DEFAULTS.language }: Target): string {
  return languageName(language);
}

/** The sentence before a question about an order. */
export function whatItCosts(on: Surroundings): string {
  const cost = on.sandbox ? "costs nothing here" : "spends credits (price not documented)";
  return `${cost} and takes ${renderTime(on)}`;
}

/** The arguments of generate_video as JSON, with a placeholder in angle brackets for each value that isn't known yet. */
export function generateCall(target: Target, others: Readonly<Record<string, unknown>> = {}): string {
  const { language = DEFAULTS.language, duration = DEFAULTS.duration, style = "<chosen>" } = target;
  const settings =
    target.style === undefined ? { pacing: "<its>", music: "<its>" } : STYLE_BRIEFS[target.style].settings;
  const call = { topic: "<the topic I agreed to>", language, duration, style, ...settings, ...others };
  return `\`\`\`json\n${JSON.stringify(call)}\n\`\`\``;
}

export const READ_THE_ORDER =
  "`get_video_status` gives the video's topic and settings as `arguments`, free of charge. If it says that the topic is cut, read the whole topic from the resource that it names, or ask me if you can't.";

export function followTheJob({ maxWaitSeconds }: Surroundings): string {
  return `Follow it with \`get_video_status\` and \`waitSeconds\` ${maxWaitSeconds} until \`done\`. Never generate again to check on it. If a call fails, tell me what it says, and stop.`;
}

/** The end of the step that shows the topic, and the beginning of the one that orders: one yes is enough. */
export function consent({ asksUser }: Surroundings) {
  return asksUser
    ? { ask: "", order: "Then, without waiting for an answer, as I am asked before it starts, call" }
    : { ask: " Ask, and wait for my answer.", order: "Only when I have agreed, call" };
}

/** The end of a step; empty on a server that can't publish. */
export function publishIfAsked({ noPublish, sandbox }: Surroundings): string {
  if (noPublish) return "";
  const effect = sandbox
    ? "this sandbox only pretends to post"
    : "public at once, without a caption, and impossible to undo from here";
  return ` Publish only when I name the platforms for this video, with one \`publish_video\`: ${effect}.`;
}

/** What a style of the service needs in a topic. The texts go into the prompts as they are. */
interface Brief {
  /** The events, and how the lines follow from one another. */
  readonly course: string;
  /** How it is told, and what may be invented. Follows "Telling: ", as `pictures` follows "Pictures: ". */
  readonly telling: string;
  readonly pictures: string;
}

interface StyleBrief extends Brief {
  readonly settings: { readonly pacing: Pacing; readonly music: Music };
  /** Helps to choose a style. */
  readonly fit: string;
}

export const STYLE_BRIEFS: Readonly<Record<Style, StyleBrief>> = {
  story: {
    settings: { pacing: "normal", music: "dramatic" },
    fit: "a want, an obstacle, a turn",
    course:
      "Someone wants one thing. Each line makes it harder or stranger because of the one before, up to a turn that is clear at first hearing and felt more than clever. The fear, joke or tears asked for build up slowly.",
    telling:
      "one teller, one tense, concrete verbs, voices that speak. A true story keeps to what is known; an invented one has no real person or event.",
    pictures: "people as hands, from behind or by their things, in the same clothes, place and light.",
  },
  education: {
    settings: { pacing: "normal", music: "educational" },
    fit: "one how or why on one example",
    course:
      "One concept on one everyday example: what happens, why, and where the viewer meets it. Each line answers what the one before makes them ask. Give the real figures or words that you are sure of, one worked through, and something to try or to tell.",
    telling: "a good teacher to one person; a technical term only with its meaning.",
    pictures: "the very step that is spoken of: a demonstration, a cut-away, two things side by side.",
  },
  documentary: {
    settings: { pacing: "normal", music: "cinematic" },
    fit: "a real thing, from evidence",
    course:
      "A strange true detail; where and when; then evidence before meaning, the strangest after the middle. Say how it is known, and what isn't (“probably”).",
    telling:
      "calm whole sentences that flow into one another, nothing clipped, no hype. No figure, date, name or scene that you aren't sure of.",
    pictures: "places, things, traces, wide and then close; nothing that passes for archive film.",
  },
  asmr: {
    settings: { pacing: "slow", music: "none" },
    fit: "one slow action, to the finished thing",
    course:
      "One slow action, from the first touch to the finished thing. Sound and silence carry it: a few whispered phrases, fewer if little talk is wanted, with [long pauses] in which only the sound is heard. A small question or wait at the start comes to rest at the end.",
    telling:
      "whispered: touch, weight, warmth and sound; never what is seen anyway. No claims about sleep or health. What is sold is named once, at the end.",
    pictures: "macro, soft side light, hands at most; the last shows it finished.",
  },
  brainrot: {
    settings: { pacing: "fast", music: "upbeat" },
    fit: "absurd, in full earnest",
    course:
      "An absurd premise in full earnest and a gag in nearly every line, each bigger by the premise's own logic; one comes back. Things talk back and shout: dialogue in bursts of three to eight words. The biggest laugh is one that everybody knows from their own life. What is to be taught or sold is what it proves.",
    telling:
      "breathless, slang native to the language, no joke explained. Nothing that passes for news; no real people, no brand but the one that is sold.",
    pictures: "bright, surreal, clear at once: ordinary things in the wrong size, place or job.",
  },
  ugc: {
    settings: { pacing: "normal", music: "none" },
    fit: "a product or tip, as to a friend",
    course:
      "Someone tells a friend, the talk already under way: what annoyed them, the find in use with the honest first reaction, what is better now. Facts in passing; the next step said as a friend would.",
    telling:
      "spoken, not written: first person, contractions, half sentences, a detail that only a user notices; not one advertising word. Experience, results and prices only as given, no drawback that wasn't named.",
    pictures: "as from a phone: own hands, a table, a bag, daylight; the thing in use.",
  },
};

/** Used if the model chooses the style. */
const ANY_STYLE: Brief = {
  course: "Each line follows from the one before (asmr, brainrot: by rhythm).",
  telling: "as to one person; no fact that you aren't sure of, and no experience that I didn't give.",
  pictures: "the very thing that is spoken of.",
};
