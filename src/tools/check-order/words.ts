// Splits a text into the words of all scripts, and tells names from other words. Pure, and linear.

/** Scripts without spaces between words, by the letters that make about one word. */
const UNSPACED_WORDS = [
  String.raw`[\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\u30FC]{1,2}`,
  String.raw`[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]{1,5}`,
];
const LATIN = /^\p{sc=Latn}/u;
const LETTER = /^\p{L}/u;
const TOKENS = new RegExp(
  [
    String.raw`\p{sc=Latn}(?:[\p{sc=Latn}\p{M}'\u2019-]*[\p{sc=Latn}\p{M}])?`,
    ...UNSPACED_WORDS,
    String.raw`(?:(?!\p{sc=Latn})\p{L}\p{M}*)+?(?=\p{sc=Latn}|[^\p{L}\p{M}]|$)`,
    // The marks after which a sentence or a part of one begins.
    String.raw`[.!?\u2026:;\n\u00BF\u00A1"\u201C\u201D\u201E\u00AB\u00BB]`,
  ].join("|"),
  "gu",
);

export interface Word {
  readonly text: string;
  readonly isLatin: boolean;
  /** Written with a capital letter that no sentence asks for: names and brands say nothing about a language. */
  readonly isName: boolean;
}

/** A title has few small words, and few punctuation marks: a list of names has more. */
const TITLE = { minWords: 8, wordsPerMark: 6, capitals: 0.75 } as const;

/** The words of a text. Numbers don't count. */
export function readWords(text: string): Word[] {
  const tokens = text.match(TOKENS) ?? [];
  const hasNames = !isShoutedOrTitle(text, tokens);
  return tokens.flatMap((token, index) => {
    if (!LETTER.test(token)) return [];
    const isLatin = LATIN.test(token);
    const next = tokens[index + 1] ?? "";
    const beginsSentence = !LETTER.test(tokens[index - 1] ?? "") && LETTER.test(next) && !isCapitalized(next);
    return [{ text: token, isLatin, isName: hasNames && isLatin && isCapitalized(token) && !beginsSentence }];
  });
}

function isCapitalized(word: string): boolean {
  return /\p{Lu}/u.test(word);
}

/** Capitals Throughout Aren't a Sign of Names, and neither ARE THESE. Among other scripts, they are. */
function isShoutedOrTitle(text: string, tokens: readonly string[]): boolean {
  const words = tokens.filter((token) => LETTER.test(token));
  if (!words.every((word) => LATIN.test(word))) return false;
  const isShouted = (word: string) => word.length > 1 && word === word.toUpperCase();
  if (words.filter(isShouted).length * 2 > words.length) return true;
  const marks = text.match(/[,.;:!?&/|]/g)?.length ?? 0;
  return (
    words.length >= TITLE.minWords &&
    marks * TITLE.wordsPerMark < words.length &&
    words.filter(isCapitalized).length >= words.length * TITLE.capitals
  );
}

/** Languages that are also written in other scripts than their usual one. */
const OTHER_SCRIPTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries("sr bs uz az kk tk".split(" ").map((language) => [language, "Latn Cyrl"])),
  ...Object.fromEntries("pa sd ku ha ms".split(" ").map((language) => [language, "Latn Guru Deva Arab"])),
};
/** Scripts that combine several alphabets. */
const MIXED_SCRIPTS: Readonly<Record<string, string>> = {
  Jpan: "Hira Kana Hani",
  Kore: "Hang Hani",
  Hans: "Hani Bopo",
  Hant: "Hani Bopo",
};

/** The words that are written in a script of the language, a BCP-47 code. */
export function wordsWrittenIn(language: string, words: readonly Word[]): Word[] {
  const locale = new Intl.Locale(language);
  const { script = "Latn" } = locale.maximize();
  const usual = MIXED_SCRIPTS[script] ?? script;
  const others = locale.script === undefined ? (OTHER_SCRIPTS[locale.language] ?? "") : "";
  // Letters that all scripts share, such as a micro sign, are of no other one.
  const codes = `${usual} ${others} Zyyy Zinh`.split(" ").filter(isScript);
  const isOwn = new RegExp(`^[${codes.map((code) => `\\p{sc=${code}}`).join("")}]`, "u");
  return words.filter(({ text }) => isOwn.test(text));
}

/** Some codes of BCP-47, such as Latf, aren't Unicode scripts. */
function isScript(code: string): boolean {
  try {
    return code !== "" && !new RegExp(`\\p{sc=${code}}`, "u").test("");
  } catch {
    return false;
  }
}
