// What each style of the service needs in a topic. Content only: the texts go into the prompts as they are.

import type { Music, Pacing, Style } from "../service/options.ts";

interface Brief {
  readonly opening: string;
  /** How the lines follow from one another. */
  readonly course: string;
  readonly ending: string;
  readonly pictures: string;
  /** How it is told, and what may be invented. */
  readonly telling: string;
}

interface StyleBrief extends Brief {
  readonly settings: { readonly pacing: Pacing; readonly music: Music };
  /** The part of the time in which the voice speaks, 0 to 1. Default: 1. */
  readonly spokenShare?: number;
  /** What it suits, for choosing a style. */
  readonly fit: string;
}

export const STYLE_BRIEFS: Readonly<Record<Style, StyleBrief>> = {
  story: {
    settings: { pacing: "normal", music: "dramatic" },
    fit: "a want, an obstacle, a turn",
    opening: "someone in the middle of the trouble",
    course:
      "one character who wants one thing. Each line makes it harder or stranger because of the one before, up to a turn.",
    ending:
      "the turn, clear at first hearing, felt more than clever; it gives the first line another meaning.",
    pictures: "People as hands, from behind or by their things, in the same clothes, place and light.",
    telling:
      "one teller, one tense, concrete verbs. A true story keeps to what is known; an invented one has no real person or event.",
  },
  education: {
    settings: { pacing: "normal", music: "educational" },
    fit: "one how or why on one example",
    opening: "a true result that looks wrong, or the moment where it goes wrong",
    course:
      "one concept on one everyday example: what happens, why, where the viewer meets it. Each line answers what the one before made them ask, short enough for half an ear.",
    ending:
      "the reason in words to repeat to a friend, or one thing to try today, on the first line's example.",
    pictures: "The very step being spoken: a demonstration, a cut-away, before and after.",
    telling:
      "a good teacher to one person; a technical term only with its meaning. No figure, study or name that you aren't sure of.",
  },
  documentary: {
    settings: { pacing: "normal", music: "cinematic" },
    fit: "a real thing, from evidence",
    opening: "one strange true detail, flatly told",
    course:
      "what it is, where and when; then evidence before meaning. Each line answers what the one before left open, the strangest after the middle.",
    ending: "what it changed or what nobody knows, seen in the first detail again.",
    pictures: "Places, things, traces of use, wide and then close; nothing that passes for archive film.",
    telling:
      "calm, whole flowing sentences that leave out no step; no hype; doubt is spoken (“probably”). No figure, date, name or scene that you aren't sure of.",
  },
  asmr: {
    settings: { pacing: "slow", music: "none" },
    spokenShare: 0.65,
    fit: "one slow action, to the finished thing",
    opening: "a whispered question, or the first touch; not yet what it becomes",
    course:
      "one material, one slow action, from the first touch to the finished thing. Short phrases with rests, in a rhythm that rocks; one sound comes back, no other word does. Nothing is argued.",
    ending: "the finished thing, whole and still; the first words come to rest.",
    pictures:
      "Macro, soft side light, hands at most; each goes on from the one before, the last shows it finished.",
    telling:
      "whispered: soft consonants, words for touch, weight, warmth and sound. No claims about sleep or health. What I sell is named once, softly, as the answer.",
  },
  brainrot: {
    settings: { pacing: "fast", music: "upbeat" },
    fit: "absurd, in full earnest",
    opening: "an absurd claim in full earnest, as if the viewer came in halfway",
    course:
      "every line tops the one before by the premise's own logic, and one gag comes back bigger. Three to eight words a sentence. What I want taught or sold is what the nonsense proves.",
    ending: "the biggest gag as a whole sentence, which the first line already asked for.",
    pictures: "Bright, surreal, clear at once: ordinary things in the wrong size, place or job.",
    telling:
      "deadpan, breathless, slang native to the language, no joke explained. Nothing that passes for news; no real people, no brand but mine.",
  },
  ugc: {
    settings: { pacing: "normal", music: "none" },
    fit: "a product or tip, as to a friend",
    opening: "an everyday annoyance, as if the talk were already under way",
    course:
      "from the annoyance to the find in use, then one moment of an ordinary day that is better now. One joke, which the thing itself makes true. Each line is what a friend would say next. No drawback that I didn't name.",
    ending: "the next step in plain words and with a smile; it answers the annoyance.",
    pictures: "As from a phone: own hands, a table, a bag, daylight.",
    telling:
      "spoken, not written: contractions, half sentences, no advertising words. Experience, results and prices only as I gave them; else say what it does, not that you tried it.",
  },
};

/** For a style that the model chooses. */
export const ANY_STYLE: Brief = {
  opening: "strange or already under way, and true",
  course: "each line follows from the one before (asmr, brainrot: by rhythm).",
  ending: "the answer to the first.",
  pictures: "Each shows the very thing spoken of.",
  telling: "as to one person; no unsure fact, no experience that I didn't give.",
};
