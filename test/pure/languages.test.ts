import { expect, test } from "vitest";
import { languageCode, languageName, languageNamesStartingWith } from "../../src/service/languages.ts";

test.each([
  ["French", "fr"],
  ["FRANÇAIS", "fr"],
  ["日本語", "ja"],
  ["Brazilian  Portuguese", "pt-BR"],
  ["português (Brasil)", "pt-BR"],
])("the language %s is understood as its code %s", (text, code) => {
  expect(languageCode(text)).toBe(code);
});

test.each([
  ["EN-gb", "en-GB"],
  ["pt_br", "pt-BR"],
  ["zh-hant-tw", "zh-Hant-TW"],
  [" fr ", "fr"],
  ["deu", "de"],
])("the language code %j is understood as %s", (text, code) => {
  expect(languageCode(text)).toBe(code);
});

test.each(["klingonese", "", "en-", "jp", "xx", `en-x${"-private".repeat(20)}`])(
  "%j is refused, as it is neither a language code nor the name of a common language",
  (text) => {
    expect(languageCode(text)).toBeUndefined();
  },
);

test("a language is shown by its English name, or by its code if it has none", () => {
  expect(
    ["fr", "pt-BR", "zh-Hant", "es-AR", "haw", "qaa", "not a code"].map((code) => languageName(code)),
  ).toEqual([
    "French",
    "Brazilian Portuguese",
    "Traditional Chinese",
    "Spanish (Argentina)",
    "Hawaiian",
    "qaa",
    "not a code",
  ]);
});

test("a language is suggested while its code or one of its names is typed", () => {
  expect(["pt", "Ger", "esp", "Tag", "xx"].map(languageNamesStartingWith)).toEqual([
    ["Portuguese", "Brazilian Portuguese"],
    ["German"],
    ["Spanish", "Latin American Spanish", "Mexican Spanish"],
    ["Filipino"],
    [],
  ]);
  expect(languageNamesStartingWith("")[0]).toBe("English");
});

test("the name of every suggested language maps to its code", () => {
  const names = languageNamesStartingWith("");

  expect(names.map((name) => languageName(languageCode(name) ?? ""))).toEqual(names);
});
