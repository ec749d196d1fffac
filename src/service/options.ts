// Lists the names of the service's documentation: the values, bounds and defaults of an order.
// Plain constants, so that a tool list can be answered before any schema or HTTP code is loaded.

export const STYLES = ["story", "education", "documentary", "asmr", "brainrot", "ugc"] as const;
const MUSIC = ["none", "cinematic", "upbeat", "educational", "dramatic"] as const;
export const PACINGS = ["slow", "normal", "fast"] as const;
/** The optional fields of an order that take one of a few values. */
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

/** The service's values for fields that a request leaves out. */
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

/** Typical render time. */
export const RENDER_TIME = "2 to 4 minutes";
export const RENDER_SECONDS = { min: 120, max: 240 } as const;

/** How long a render takes, as a phrase. */
export function renderTime(server: { readonly sandbox: boolean; readonly sandboxSeconds: number }): string {
  const { sandbox, sandboxSeconds } = server;
  return sandbox
    ? `about ${sandboxSeconds} ${sandboxSeconds === 1 ? "second" : "seconds"} in this sandbox`
    : RENDER_TIME;
}

export type Style = (typeof STYLES)[number];
export type Choices = {
  readonly [Field in keyof typeof CHOICES]?: (typeof CHOICES)[Field][number] | undefined;
};
export type Music = (typeof MUSIC)[number];
export type Pacing = (typeof PACINGS)[number];
