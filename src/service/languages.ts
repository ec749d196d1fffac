// Common languages by code and name, so that users can write "French", "français" or "fr". Pure data and two functions.
// The service documents no list of languages: any BCP-47 code is allowed, also one that is not in this table.

interface Language {
  /** BCP-47. */
  readonly code: string;
  /** In English. */
  readonly name: string;
  /** In the language itself. */
  readonly ownName: string;
  readonly otherNames: readonly string[];
}

/** In the order in which they are offered. */
export const LANGUAGES: readonly Language[] = [
  language("en", "English", "English"),
  language("es", "Spanish", "español", "castellano", "Castilian"),
  language("fr", "French", "français"),
  language("de", "German", "Deutsch"),
  language("pt", "Portuguese", "português"),
  language("it", "Italian", "italiano"),
  language("ja", "Japanese", "日本語"),
  language("ko", "Korean", "한국어"),
  language("zh", "Chinese", "中文", "Mandarin", "Mandarin Chinese", "汉语", "普通话", "國語"),
  language("hi", "Hindi", "हिन्दी", "हिंदी"),
  language("ar", "Arabic", "العربية", "عربي"),
  language("id", "Indonesian", "Bahasa Indonesia"),
  language("ru", "Russian", "русский", "русский язык"),
  language("tr", "Turkish", "Türkçe"),
  language("vi", "Vietnamese", "Tiếng Việt"),
  language("th", "Thai", "ไทย", "ภาษาไทย"),
  language("pl", "Polish", "polski"),
  language("nl", "Dutch", "Nederlands", "Flemish", "Vlaams"),
  language("uk", "Ukrainian", "українська"),
  language("sv", "Swedish", "svenska"),
  language("da", "Danish", "dansk"),
  language("no", "Norwegian", "norsk"),
  language("nb", "Norwegian Bokmål", "norsk bokmål", "bokmål"),
  language("fi", "Finnish", "suomi"),
  language("cs", "Czech", "čeština", "česky"),
  language("sk", "Slovak", "slovenčina", "slovensky"),
  language("hu", "Hungarian", "magyar"),
  language("ro", "Romanian", "română"),
  language("bg", "Bulgarian", "български"),
  language("el", "Greek", "ελληνικά"),
  language("hr", "Croatian", "hrvatski"),
  language("sr", "Serbian", "српски", "srpski"),
  language("sl", "Slovenian", "slovenščina", "Slovene"),
  language("lt", "Lithuanian", "lietuvių"),
  language("lv", "Latvian", "latviešu"),
  language("et", "Estonian", "eesti"),
  language("ca", "Catalan", "català"),
  language("eu", "Basque", "euskara"),
  language("gl", "Galician", "galego"),
  language("ga", "Irish", "Gaeilge"),
  language("cy", "Welsh", "Cymraeg"),
  language("is", "Icelandic", "íslenska"),
  language("he", "Hebrew", "עברית"),
  language("fa", "Persian", "فارسی", "Farsi"),
  language("ur", "Urdu", "اردو"),
  language("bn", "Bengali", "বাংলা", "Bangla"),
  language("pa", "Punjabi", "ਪੰਜਾਬੀ"),
  language("mr", "Marathi", "मराठी"),
  language("gu", "Gujarati", "ગુજરાતી"),
  language("ta", "Tamil", "தமிழ்"),
  language("te", "Telugu", "తెలుగు"),
  language("kn", "Kannada", "ಕನ್ನಡ"),
  language("ml", "Malayalam", "മലയാളം"),
  language("ne", "Nepali", "नेपाली"),
  language("si", "Sinhala", "සිංහල"),
  language("ms", "Malay", "Bahasa Melayu", "Melayu"),
  language("fil", "Filipino", "Filipino", "Tagalog"),
  language("km", "Khmer", "ខ្មែរ"),
  language("lo", "Lao", "ລາວ"),
  language("my", "Burmese", "မြန်မာ"),
  language("sw", "Swahili", "Kiswahili"),
  language("af", "Afrikaans", "Afrikaans"),
  language("am", "Amharic", "አማርኛ"),
  language("zu", "Zulu", "isiZulu"),
  language("kk", "Kazakh", "қазақ тілі"),
  language("uz", "Uzbek", "o'zbek"),
  language("az", "Azerbaijani", "azərbaycan"),
  language("ka", "Georgian", "ქართული"),
  language("hy", "Armenian", "հայերեն"),
  language("en-GB", "British English", "British English"),
  language("en-US", "American English", "American English"),
  language("es-419", "Latin American Spanish", "español latinoamericano"),
  language("es-MX", "Mexican Spanish", "español de México"),
  language("fr-CA", "Canadian French", "français canadien"),
  language("pt-BR", "Brazilian Portuguese", "português brasileiro", "português do Brasil"),
  language("zh-Hans", "Simplified Chinese", "简体中文"),
  language("zh-Hant", "Traditional Chinese", "繁體中文"),
  language("yue", "Cantonese", "粵語", "廣東話"),
];

/**
 * The BCP-47 code for what a user wrote: the English or own name of a common language, or a code (also "pt_br"), in any case and
 * with or without accents. Undefined if it is neither. "klingonese" is a well-formed code, but no language has one of more than
 * three letters.
 */
export function languageCode(text: string): string | undefined {
  const wanted = comparable(text);
  const named = LANGUAGES.find((candidate) => namesOf(candidate).some((name) => comparable(name) === wanted));
  if (named !== undefined) return named.code;
  try {
    const [code] = Intl.getCanonicalLocales(text.trim().replaceAll("_", "-"));
    return code !== undefined && new Intl.Locale(code).language.length <= 3 ? code : undefined;
  } catch {
    return undefined;
  }
}

/** The English name to show for a BCP-47 code, or the code itself if it has none. */
export function languageName(code: string): string {
  const known = LANGUAGES.find((candidate) => candidate.code === code);
  if (known !== undefined) return known.name;
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** Codes of the languages whose code, or one of whose names, begins with `typed`, in the order of the table. */
export function languageCodesStartingWith(typed: string): string[] {
  const start = comparable(typed);
  return LANGUAGES.filter((candidate) =>
    [candidate.code, ...namesOf(candidate)].some((text) => comparable(text).startsWith(start)),
  ).map(({ code }) => code);
}

function namesOf({ name, ownName, otherNames }: Language): readonly string[] {
  return [name, ownName, ...otherNames];
}

function language(code: string, name: string, ownName: string, ...otherNames: readonly string[]): Language {
  return { code, name, ownName, otherNames };
}

/** Without case, accents and extra spaces. */
function comparable(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036F]/g, "")
    .toLowerCase()
    .trim()
    .replace(/\s+/g, " ");
}
