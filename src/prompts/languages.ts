// Languages as a person names them: BCP-47 tags, their English names, and the list offered for completion.

/** Widely spoken languages of short video. Any other BCP-47 tag may be given too. */
export const OFFERED_LANGUAGES = [
  "en",
  "es",
  "fr",
  "de",
  "it",
  "pt",
  "pt-BR",
  "nl",
  "pl",
  "sv",
  "da",
  "nb",
  "fi",
  "cs",
  "hu",
  "ro",
  "el",
  "ru",
  "uk",
  "tr",
  "ar",
  "he",
  "fa",
  "hi",
  "bn",
  "ta",
  "ur",
  "id",
  "ms",
  "vi",
  "th",
  "fil",
  "sw",
  "ja",
  "ko",
  "zh",
  "zh-Hant",
] as const;

/** The English name of a tag, or undefined where this machine knows none. */
export function languageName(tag: string): string | undefined {
  try {
    return new Intl.DisplayNames(["en"], { type: "language", fallback: "none" }).of(tag);
  } catch {
    return undefined;
  }
}

/**
 * The canonical tag for what a person typed: a BCP-47 tag, or the English name of an offered language. Undefined
 * where it is neither. `german` is a well-formed tag, yet no language has one of more than three letters.
 */
export function languageTag(text: string): string | undefined {
  const wanted = text.toLowerCase();
  const named = OFFERED_LANGUAGES.find((tag) => languageName(tag)?.toLowerCase() === wanted);
  if (named !== undefined) return named;
  try {
    const [tag] = Intl.getCanonicalLocales(text);
    return tag !== undefined && new Intl.Locale(tag).language.length <= 3 ? tag : undefined;
  } catch {
    return undefined;
  }
}
