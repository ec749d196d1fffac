// What the service's documentation lists by name: the values, bounds and defaults of a generation request.
// Plain constants, so that a tool list can be answered before any schema or HTTP code is loaded.

export const STYLES = ["story", "education", "documentary", "asmr", "brainrot", "ugc"] as const;
export const MUSIC = ["none", "cinematic", "upbeat", "educational", "dramatic"] as const;
export const PACINGS = ["slow", "normal", "fast"] as const;
/** The optional fields of a generation request that take one of a few values. */
export const CHOICES = { style: STYLES, music: MUSIC, pacing: PACINGS } as const;

/** The catalog's ids. The service also has native voices for each language, with undocumented ids. */
export const CATALOG_VOICES = [
  "adam",
  "charlotte",
  "will",
  "audrey",
  "bryan",
  "jett",
  "amber",
  "vanessa",
  "kai",
] as const;

/** Seconds. */
export const DURATION = { min: 10, max: 90 } as const;

/** What the service takes for a field that a request leaves out. */
export const DEFAULTS = {
  language: "en",
  duration: 30,
  style: "story",
  voice: "charlotte",
  music: "none",
  pacing: "normal",
} as const;

/** The codes that the documentation gives as examples; any BCP-47 tag is allowed. */
export const EXAMPLE_LANGUAGES = ["en", "fr", "es", "de"] as const;

/** Typical render time in seconds. */
export const RENDER_SECONDS = { min: 120, max: 240 } as const;

export const RENDER_TIME = `${RENDER_SECONDS.min / 60} to ${RENDER_SECONDS.max / 60} minutes`;

/** How long the service may neither list nor know a job that it has started. */
export const UNLISTED_MS = 10 * 60_000;

/** What a job's status means; `unclear` is a word that is not documented, with which a job goes on. */
export type Meaning = "rendering" | "ready" | "refunded" | "unclear";

/** The keys are the service's words. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ["processing", "rendering"],
  ["completed", "ready"],
  ["failed", "refunded"],
]);

const IS_END: Readonly<Record<Meaning, boolean>> = {
  rendering: false,
  ready: true,
  refunded: true,
  unclear: false,
};

/** The one place that knows the service's words for how a job stands. */
export function meaningOf(status: string): Meaning {
  return MEANINGS.get(status) ?? "unclear";
}

/** Whether a job with this status has ended. */
export function isEnded(status: string): boolean {
  return IS_END[meaningOf(status)];
}

export type Style = (typeof STYLES)[number];
export type Choices = {
  readonly [Field in keyof typeof CHOICES]?: (typeof CHOICES)[Field][number] | undefined;
};
export type Music = (typeof MUSIC)[number];
export type Pacing = (typeof PACINGS)[number];
