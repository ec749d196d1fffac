// Common languages by code and name: users can write "French", "français" or "fr". Names come from Intl.
// The service documents no list of languages, so BCP-47 codes that are not listed here are allowed too.

import { lazyValue } from "../lazy.ts";

/** BCP-47 codes, in the order of the suggestions. */
const COMMON_CODES = (
  "en es fr de pt it ja ko zh hi ar id ru tr vi th pl nl uk sv da no nb fi cs sk hu ro bg el hr sr sl lt lv et ca eu gl ga cy is " +
  "he fa ur bn pa mr gu ta te kn ml ne si ms fil km lo my sw af am zu kk uz az ka hy " +
  "sq mk be bs mt mn ps sd so ha yo ig ky tg ht " +
  "en-GB en-US es-419 es-MX fr-CA pt-BR zh-Hans zh-Hant yue"
).split(" ");

const MAX_CHARS = 100;

/** Other names, by language. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  bn: ["Bengali"],
  es: ["Castilian", "Castellano"],
  fa: ["Farsi"],
  fil: ["Tagalog"],
  nl: ["Flemish"],
  sl: ["Slovene"],
  zh: ["Mandarin", "Mandarin Chinese"],
};

/**
 * The BCP-47 code for a code that a user wrote ("pt_br" too), or for a common language's English or own name,
 * whatever its case and accents; else undefined. "klingonese" and "xx" are well-formed, but name no language.
 */
export function languageCode(text: string): string | undefined {
  // No code or name is this long, and Intl takes seconds for thousands of subtags.
  if (text.length > MAX_CHARS) return undefined;
  try {
    const [code = ""] = Intl.getCanonicalLocales(text.trim().replaceAll("_", "-"));
    if (displayNameOf(new Intl.Locale(code).language) !== undefined) return code;
  } catch {
    // It isn't a code.
  }
  const wanted = comparable(text);
  return commonLanguages().find(({ names }) => names.includes(wanted))?.code;
}

/** The name to show for a BCP-47 code, or the code itself if it has none. */
export function languageName(code: string, inLanguage = "en"): string {
  return displayNameOf(code, inLanguage) ?? code;
}

function displayNameOf(code: string, inLanguage = "en"): string | undefined {
  try {
    return displayNames(inLanguage).of(code);
  } catch {
    // The code is not well-formed.
    return undefined;
  }
}

/** Takes up to a millisecond to make and none to use. Has no name for an invented code. */
function displayNames(
  inLanguage: string,
  display: Pick<Intl.DisplayNamesOptions, "languageDisplay" | "style"> = {},
): Intl.DisplayNames {
  return new Intl.DisplayNames([inLanguage], { ...display, type: "language", fallback: "none" });
}

/** English names of the common languages whose code, or one of whose names, begins with `typed`. */
export function languageNamesStartingWith(typed: string): string[] {
  const start = comparable(typed);
  return commonLanguages()
    .filter(({ code, names }) => [comparable(code), ...names].some((name) => name.startsWith(start)))
    .map(({ shown }) => shown);
}

/** The common languages with their English name, and all their names in comparable form. */
const commonLanguages = lazyValue(() => {
  const inEnglish = displaysIn("en");
  return COMMON_CODES.map((code) => {
    // Only names with a region, such as "English (US)", are displayed in several ways.
    const own = code.includes("-")
      ? displaysIn(code).map((each) => each.of(code))
      : [languageName(code, code)];
    const names = [...inEnglish.map((each) => each.of(code)), ...own, ...(ALIASES[code] ?? [])];
    return { code, shown: names[0] ?? code, names: names.map((name = "") => comparable(name)) };
  });
});

/** "American English", "English (United States)" and "English (US)". */
function displaysIn(language: string): readonly Intl.DisplayNames[] {
  const displays = [
    {},
    { languageDisplay: "standard" },
    { languageDisplay: "standard", style: "short" },
  ] as const;
  return displays.map((display) => displayNames(language, display));
}

/** Removes case, accents and extra spaces. */
function comparable(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036F]/g, "")
    .toLowerCase()
    .trim()
    .replace(/\s+/g, " ");
}
