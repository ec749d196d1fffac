// generate_video: starts a render and says how to follow it.

import * as z from "zod";
import { jobUri, stateOf } from "../service/job.ts";
import { confirmOrder, STALE_CODE_SENTENCE } from "../errors.ts";
import type { OrderPlan, OrderWarning } from "../idempotency/generate-once.ts";
import { CATALOG_VOICES, CHOICES, DEFAULTS, DURATION, RENDER_TIME } from "../service/options.ts";
import type { Order } from "../service/responses.ts";
import { firstSpokenWords, spokenTextOf } from "../service/spoken-words.ts";
import { countUnits, speakingRate } from "../service/words.ts";
import { inSentences, say, type Text } from "../sentences.ts";
import { describeAge, quote } from "../text.ts";
import { languageCode, languageName } from "../service/languages.ts";
import { asMusic, asOneOf, asSeconds, asText, asVoice, fromText, unlessNull } from "./arguments.ts";
import { askForConsent, confirmArgument } from "./arguments.ts";
import { describeJob, describeEarlierJob, videoIn, waitFor } from "./describe.ts";
import { defineTool, guidanceFields, invalidInput, type ToolContext } from "./tool.ts";
import type { Consent, Question } from "./question.ts";

/** One yes is enough: if this server asks the user, the model doesn't. */
function descriptionWith(consent: string): Text {
  return say`Starts one faceless short video and spends the account's credits; returns [a jobId|its job's id] at once. Rendering takes ${RENDER_TIME}: follow it with [get_video_status, and don't call this again to check on it. ${consent} Keep a text that they dictate word for word|--wait].`;
}

const OUT_OF_BOUNDS = `must be a number of seconds from ${DURATION.min} to ${DURATION.max}`;
/** Words that mean silence: no voice is called that. */
const SILENCE = /^(?:none|off|silent|silence|mute|muted|no)$/i;
const NOT_A_LANGUAGE =
  "must be a language code such as en, fr, es, de or pt-BR, or the name of a common language such as French";

export const generateVideo = defineTool({
  name: "generate_video",
  title: "Generate a video",
  description: descriptionWith(
    "Ask the user before starting, unless they left it to you, and show them the topic.",
  ),
  descriptionIfAsked: descriptionWith(
    "Show the user the topic, then call without asking: this server asks them before it pays.",
  ),
  sandboxDescription:
    "Starts one sample of a faceless short video in this sandbox, which costs nothing; returns a jobId at once. Follow it with get_video_status, and don't call this again to check on it. Show the user the topic. Keep a text that they dictate word for word.",
  help: {
    topic:
      "All that is spoken and, in [brackets] after each line, what is shown. About 2.2 English words are spoken per second. No title or label: it might be spoken",
    language: "Code of the language that is spoken, such as en, fr or pt-BR",
    duration: "In seconds: a text takes its number of words / 2.2",
    voice: `${CATALOG_VOICES.join(", ")}, a native voice's id, or clone:<id>. Sex and accent are not documented`,
    pacing: "How fast it is spoken",
  },
  // What it spends can't be had back, and some clients ask before destructive tools alone.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  effect: "spends",
  startsJob: true,
  input: () =>
    z.strictObject({
      topic: z
        .string()
        .trim()
        .min(1, "must not be empty")
        .describe(
          "All that is spoken and, after each line in [brackets], the one thing seen then, in the language of `language`. Note all that the user named and the one moment it is about; draft two topics with different ideas, judged as a stranger about to scroll, as a native editor who checks every word, and as the user; keep the better, mend its weakest lines. First line: four to six words that stop a thumb: strange, funny or wrong, and true. Each line makes the next necessary; the moment happens in full. Last line: words someone would repeat; no summary. No unsure fact or invented experience. story: one want, harder with each line, a turn. education: one example worked through. documentary: evidence first, calm whole sentences. asmr: one slow action, half the words. brainrot: an absurd premise in earnest, bigger each line. ugc: mid-talk to a friend, then the next step. 2.2 English words per second, counted. A picture per 3 s. Each picture is made without seeing the others: name who or what in full each time, the same light and look; only what is there. In each something moves; the first is odd, in mid-action, clear without sound. No talking face, lettering, logo. No title or label, it might be spoken",
        ),
      language: z
        .string(NOT_A_LANGUAGE)
        .refine((text) => languageCode(text) !== undefined, NOT_A_LANGUAGE)
        .meta({ default: DEFAULTS.language, description: "BCP-47 code of what is spoken" })
        .optional(),
      duration: z
        .number(OUT_OF_BOUNDS)
        .min(DURATION.min, OUT_OF_BOUNDS)
        .max(DURATION.max, OUT_OF_BOUNDS)
        .meta({
          default: DEFAULTS.duration,
          description:
            "In seconds: a dictated text takes its words / 2.2. A longer film takes several orders: ask first",
        })
        .optional(),
      style: z
        .enum(CHOICES.style)
        .meta({
          default: DEFAULTS.style,
          description: "asmr is one slow action, brainrot is absurd, ugc is a friend's tip",
        })
        .optional(),
      voice: z
        .string()
        .trim()
        .meta({
          default: DEFAULTS.voice,
          description: `Only as the user gives it: ${CATALOG_VOICES.join(", ")}, a native voice's id, or clone:<id>. Sex and accent are not documented`,
        })
        .optional(),
      music: z
        .enum(CHOICES.music)
        .meta({ default: DEFAULTS.music, description: "dramatic fits story, cinematic fits documentary" })
        .optional(),
      pacing: z.enum(CHOICES.pacing).meta({ default: DEFAULTS.pacing }).optional(),
      confirm: confirmArgument(),
    }),
  coercions: {
    language: fromText(languageCode),
    duration: asSeconds,
    voice: unlessNull(asVoice),
    confirm: asText,
    ...Object.fromEntries(Object.entries(CHOICES).map(([field, values]) => [field, asOneOf(values)])),
    music: unlessNull(asMusic),
  },
  // "none" is music, and as a voice it is a wish for silence.
  literalArguments: ["topic", "voice", "music"],
  output: () =>
    z.looseObject({
      ...guidanceFields(),
      jobId: z.string(),
      status: z.string(),
      resourceUri: z.string(),
      alreadyStarted: z.boolean().optional(),
    }),
  async run({ confirm, ...order }, context) {
    const { generateOnce, config, jobs, signal, client, clock } = context;
    if (order.voice !== undefined && SILENCE.test(order.voice))
      throw invalidInput(
        say`[|--]voice: ${quote(order.voice, 60)} would mean a video without a voice, which is not possible here.`,
        say`[Tell the user, and call without the argument voice|Call without --voice] only if [they|you] still want the video.`,
      );
    let said: Text | undefined;
    const ask = async (plan: OrderPlan) => {
      const needs = { mustAsk: config.confirmGenerate === "always", done: "ordered" } as const;
      const { consent, userMs } = await askForConsent(() => questionFor(plan, order, config), needs, context);
      said = describeConsent(consent, plan, clock.now());
      return { userMs };
    };
    const started = await generateOnce.run(order, {
      confirm,
      // A server that is not set up sends nothing, and has to say so first.
      warnings: config.problems.length === 0 ? await findDoubts(order, jobs) : [],
      asksFirst: config.confirmGenerate !== "off",
      signal,
      client,
      ask,
    });
    if (!started.alreadyStarted) {
      const { jobId, status } = started.startedJob;
      const isRendering = stateOf(status) === "rendering";
      return {
        summary: inSentences(
          `The ${videoIn(config)} was started: ${describeOrder(order)}.`,
          said,
          !isRendering && `The service gives its status as ${quote(status, 60)}.`,
        ),
        nextStep: say`Follow it with ${waitFor(jobId, context.maxWaitSeconds)}.`,
        result: { ...started.startedJob, resourceUri: jobUri(jobId) },
      };
    }
    const { jobId, job, ageMs, count, code } = started;
    const latest = typeof job === "object" ? job : undefined;
    if (latest?.done === true) await jobs.readJournal();
    const others = count > 1 ? ` (the newest of ${count})` : "";
    const [state, step] = describeEarlierJob(started, `ordered ${describeAge(ageMs)}${others}`);
    return {
      summary: inSentences(
        `No new ${videoIn(config)} was started${config.sandbox ? "" : " or paid for"}: ${state}`,
        confirm !== undefined && STALE_CODE_SENTENCE,
      ),
      nextStep: inSentences(
        step,
        say`Only if [the user wants|you want] another like it, ${confirmOrder(code)}.`,
      ),
      result: {
        jobId,
        status: latest?.status ?? "unknown",
        ...(latest?.done === true &&
          describeJob({ ...jobs.get(jobId), state: latest }, { config, nowMs: clock.now() }).result),
        resourceUri: jobUri(jobId),
        alreadyStarted: true,
      },
    };
  },
});

/** Loaded by the first order, which the start needn't wait for. */
async function findDoubts(order: Order, jobs: ToolContext["jobs"]): Promise<OrderWarning[]> {
  const { reviewOrder } = await import("./check-order/check-order.ts");
  // The ids of native voices aren't documented: one that has brought this computer a video is known.
  return reviewOrder(order, async (voice) => {
    const orders = (await jobs.readJournal()) ?? [];
    return orders.some(({ jobId, arguments: args }) => jobId !== undefined && args["voice"] === voice);
  });
}

function questionFor(
  { key, repeat, doubts }: OrderPlan,
  order: Order,
  { sandbox, confirmGenerate }: ToolContext["config"],
): Question {
  const pay = sandbox ? "Make" : "Pay for";
  const [what, which] =
    repeat === undefined ? ["a video", "this video"] : ["another video of the same words", "another video"];
  const title = quote(firstSpokenWords(order.topic), 80);
  const isUsual = repeat === undefined && doubts.length === 0 && confirmGenerate !== "always";
  const subject = `${title} (${describeOrder(order)})`;
  const warnings = inSentences(
    repeat !== undefined &&
      `${repeat.count === 1 ? "One was" : `There are ${repeat.count}, the newest`} ordered ${describeAge(repeat.ageMs)}.`,
    ...doubts,
  );
  return {
    key,
    subject,
    warnings,
    message: inSentences(
      `${pay} ${what}, ${subject}?`,
      warnings,
      sandbox ? "This is a sandbox, so nothing is charged." : "It spends your credits.",
    ),
    verb: `${pay.toLowerCase()} ${which}`,
    yes: `${pay} ${which}`,
    done: "started",
    no: "Don't start it",
    ...(isUsual && { yesToAll: `${pay} this and further videos in this conversation` }),
    tooLate: inSentences(
      `The user's yes to the order of ${title} came after that call had ended, so no video was started for it.`,
      "Ask them before you order it again.",
    ),
  };
}

/** Says who agreed, as it was. A user who wasn't asked may have agreed in the chat. */
function describeConsent(consent: Consent, { repeat, doubts }: OrderPlan, nowMs: number): Text | undefined {
  if (consent === "agreed") return say`[The user was asked and agreed.|]`;
  if (consent !== "not asked")
    return `The user agreed to this and further videos ${describeAge(nowMs - consent.sinceMs)}.`;
  if (repeat !== undefined) return "The call confirmed this repeat.";
  return doubts.length > 0 ? "The call confirmed it in spite of the doubts." : undefined;
}

type Option = keyof typeof DEFAULTS;

/**
 * The order, for the user to check: "30 s, 66 words, English, story, voice charlotte, no music, fast pacing".
 * In short, its words aren't counted, and only other values than the defaults of the last three are named.
 */
export function describeOrder(
  order: Partial<Record<Option | "topic", string | number | undefined>>,
  isShort = false,
): string {
  const of = (name: Option) => String(order[name] ?? DEFAULTS[name]);
  const isNamed = (name: Option) => !isShort || of(name) !== DEFAULTS[name];
  const { unit } = speakingRate(of("language"));
  const count = isShort ? 0 : countUnits(spokenTextOf(String(order.topic)), unit);
  return [
    `${of("duration")} s`,
    !isShort && `${count} ${count === 1 ? unit.slice(0, -1) : unit}`,
    languageName(of("language")),
    of("style"),
    isNamed("voice") && `voice ${of("voice")}`,
    isNamed("music") && `${of("music") === "none" ? "no" : of("music")} music`,
    isNamed("pacing") && `${of("pacing")} pacing`,
  ]
    .filter(Boolean)
    .join(", ");
}
