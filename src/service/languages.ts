// Common languages by code and name: users can write "French", "français" or "fr". Names come from Intl.
// The service documents no list of languages, so BCP-47 codes that are not listed here are allowed too.

/** BCP-47 codes, in the order of the suggestions. */
const COMMON = (
  "en es fr de pt it ja ko zh hi ar id ru tr vi th pl nl uk sv da no nb fi cs sk hu ro bg el hr sr sl lt lv et ca eu gl ga cy is " +
  "he fa ur bn pa mr gu ta te kn ml ne si ms fil km lo my sw af am zu kk uz az ka hy " +
  "en-GB en-US es-419 es-MX fr-CA pt-BR zh-Hans zh-Hant yue"
).split(" ");

const MAX_CHARACTERS = 100;

/** Other English names, by language. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  bn: ["Bengali"],
  es: ["Castilian"],
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
  // No code or name is as long, and Intl takes seconds for thousands of subtags.
  if (text.length > MAX_CHARACTERS) return undefined;
  try {
    const [code = ""] = Intl.getCanonicalLocales(text.trim().replaceAll("_", "-"));
    if (nameOf("language", new Intl.Locale(code).language) !== undefined) return code;
  } catch {
    // It is no code.
  }
  const wanted = comparable(text);
  return COMMON.find((code) => namesOf(code).some((name) => comparable(name) === wanted));
}

/** The language that is most spoken in a country, for a user who wrote the country's code: `jp`, also `jp-JP`. */
export function codeMeantBy(text: string): string | undefined {
  const [country = ""] = text.trim().toUpperCase().split(/[-_]/);
  if (country === "SP") return "es";
  if (nameOf("region", country) === undefined) return undefined;
  return new Intl.Locale(`und-${country}`).maximize().language;
}

/** The name to show for a BCP-47 code, or the code itself if it has none. */
export function languageName(code: string, inLanguage = "en"): string {
  return nameOf("language", code, inLanguage) ?? code;
}

function nameOf(type: "language" | "region", code: string, inLanguage = "en"): string | undefined {
  try {
    return new Intl.DisplayNames([inLanguage], { type, fallback: "none" }).of(code);
  } catch {
    // It is not well-formed.
    return undefined;
  }
}

/** English names of the common languages whose code, or one of whose names, begins with `typed`. */
export function languageNamesStartingWith(typed: string): string[] {
  const start = comparable(typed);
  return COMMON.filter((code) =>
    [code, ...namesOf(code)].some((name) => comparable(name).startsWith(start)),
  ).map((code) => languageName(code));
}

function namesOf(code: string): string[] {
  return [languageName(code), languageName(code, code), ...(ALIASES[code] ?? [])];
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
