// Says what each style of the service needs in a topic. The texts go into the prompts as they are.

import type { Music, Pacing, Style } from "../service/options.ts";

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
export const ANY_STYLE: Brief = {
  course: "Each line follows from the one before (asmr, brainrot: by rhythm).",
  telling: "as to one person; no fact that you aren't sure of, and no experience that I didn't give.",
  pictures: "the very thing that is spoken of.",
};
