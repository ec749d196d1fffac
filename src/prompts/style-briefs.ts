// What each style of the service needs in a topic. Content only: the sentences go into the prompts as they are.

import type { Music, Pacing, Style } from "../service/options.ts";

export interface StyleBrief {
  readonly pacing: Pacing;
  readonly music: Music;
  /** The part of the time in which the voice speaks, 0 to 1. */
  readonly spokenShare: number;
  /** Which subjects it suits, for choosing a style. */
  readonly fit: string;
  /** What to narrow the subject down to. */
  readonly idea: string;
  readonly hook: string;
  /** How each beat follows from the one before. */
  readonly beats: string;
  readonly ending: string;
  readonly pictures: string;
  readonly voice: string;
  /** What may be invented, and what may not. */
  readonly facts: string;
  readonly avoid: string;
}

export const STYLE_BRIEFS: Readonly<Record<Style, StyleBrief>> = {
  story: {
    pacing: "normal",
    music: "dramatic",
    spokenShare: 1,
    fit: "something happens to someone: a want, an obstacle, a turn at the end",
    idea: "one change in one life",
    hook: "Open in the middle of the trouble: someone, and what has just gone wrong.",
    beats:
      "One character, one want, one obstacle. Every beat makes it worse or stranger and leaves a question open; the next follows with “but” or “so”, never “and then”.",
    ending: "The turn that answers the hook, in the last line. Then stop.",
    pictures:
      "The character is hands, a back, a silhouette or belongings, with the same clothes, place and light in every picture, so that the clips belong together.",
    voice: "Close and plain, one tense and one narrator throughout; concrete verbs, no adjectives in pairs.",
    facts:
      "A true story keeps to what is known, without invented names, quotations or dates; an invented one must not pass for a true event.",
    avoid:
      "“once upon a time”, scene-setting before the trouble, a moral, it-was-a-dream, a second plot, a summary at the end",
  },
  education: {
    pacing: "normal",
    music: "educational",
    spokenShare: 1,
    fit: "a how, a why or a common mistake that one example makes clear",
    idea: "the one thing that the viewer can explain afterwards",
    hook: "Contradict what most people believe, or show a result that looks wrong; the viewer must need the reason.",
    beats:
      "One concept and one everyday example, carried through all beats: what happens, why, and where the viewer meets it, as far as the beats reach. Each step needs the one before.",
    ending:
      "The takeaway in a sentence the viewer could repeat to a friend, or one small thing to try today.",
    pictures:
      "Each picture shows the very step being spoken: a demonstration, a cut-away, the same thing before and after.",
    voice: "A good teacher to one person: short sentences, a technical term only with its meaning beside it.",
    facts:
      "Invent no figure, study, name, quotation or result. Leave out what you are not sure of, or say that it is uncertain.",
    avoid:
      "“did you know”, “in this video”, a list of facts, a definition as opening, two concepts, jokes that hide the point",
  },
  documentary: {
    pacing: "slow",
    music: "cinematic",
    spokenShare: 1,
    fit: "a real event, place, creature or object with a record behind it",
    idea: "the one detail that opens up the rest",
    hook: "One true detail that is strange by itself, stated flatly; the picture holds the proof.",
    beats:
      "Evidence before meaning: what is there, what happened, what it changed. Third person; a place, a date, a named thing where you are sure of it. Leave a breath between beats for the picture.",
    ending:
      "The consequence, or the question still open today; hold the last picture for a moment of silence.",
    pictures:
      "Places, objects, landscapes, weather, traces of use, wide and then close. People of the past only from afar or from behind; nothing that passes for archive film.",
    voice: "Calm, exact, restrained. Doubt is spoken aloud: “probably”, “accounts differ”.",
    facts:
      "Invent no figure, date, name, quotation or scene. Leave out what you are not sure of, or say that it is uncertain.",
    avoid:
      "hype (shocking, insane, you won't believe), speaking to the viewer, exclamation marks, invented dialogue or inner thoughts of real people",
  },
  asmr: {
    pacing: "slow",
    music: "none",
    spokenShare: 0.5,
    fit: "a material, or a slow piece of handwork that is good to watch and hear named",
    idea: "one material and one action, with nothing to prove",
    hook: "A texture in extreme close-up, just before it is touched; the few words are an invitation, not a claim.",
    beats:
      "One material and one slow action that goes on without a break, each beat a little further in. Half the time nobody speaks: short phrases, then silence.",
    ending:
      "The action comes to rest: the last fold, the smooth surface. Then quiet, on a picture like the first, so that it loops softly.",
    pictures:
      "Macro, soft side light, a still camera or a slow push, hands at most; no cut in the middle of a movement.",
    voice:
      "Whispered and sensory: soft consonants, words for touch, weight, warmth and sound. No sound effects are documented, so words and pictures carry the texture.",
    facts: "Make no claims, least of all about sleep, stress or health.",
    avoid:
      "facts, figures, questions, arguments, jokes, hurry, hard cuts, exclamation marks, a call to action",
  },
  brainrot: {
    pacing: "fast",
    music: "upbeat",
    spokenShare: 1,
    fit: "an absurd premise, argued in earnest and outdone by every next line",
    idea: "one absurd premise",
    hook: "An absurd claim with full confidence, as if the viewer had come in halfway; no context.",
    beats:
      "Every beat tops the one before, and still follows from it by the premise's own logic. One gag comes back, bigger. Sentences of three to eight words, one picture to a sentence.",
    ending:
      "Cut off at the peak; the last words run into the hook, so that the replay sounds like the next sentence.",
    pictures:
      "Bright, surreal, instantly legible: ordinary things in the wrong place, size or job. Creatures of your own, no known characters.",
    voice: "Deadpan, breathless, in slang that is native to the language: never a translated meme.",
    facts:
      "Nonsense stays plainly nonsense: nothing in it may pass for a fact about a real person, company, event or study.",
    avoid:
      "explaining the joke, a calm stretch, a lesson, real people or groups as the butt, slurs, brands, stunts someone could copy",
  },
  ugc: {
    pacing: "normal",
    music: "none",
    spokenShare: 1,
    fit: "a product, a habit, an app or a place, told as one would tell a friend",
    idea: "one annoyance and the one find that ended it",
    hook: "The everyday annoyance in plain words, as if a conversation were already under way.",
    beats:
      "From the annoyance to the find, then the find up close or in use, with one honest drawback. Say what it does while it is seen doing it.",
    ending: "A low-key next step, or a real question that people will want to answer in the comments.",
    pictures:
      "Point of view, as on a phone: own hands, a table, a bag, the way there; daylight, slightly untidy, nothing staged.",
    voice: "Spoken, not written: contractions, half sentences, one person talking.",
    facts:
      "First-person experience, results, prices and reviews only as I gave them. Without them, show how the thing works in the words of a guide, not of a customer, and ask me for what is missing.",
    avoid:
      "advertising words (game-changer, must-have, revolutionary), a made-up testimonial or before-and-after, health or money promises, a studio look",
  },
};
