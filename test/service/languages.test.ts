import { describe, expect, test } from "vitest";
import {
  languageCode,
  languageCodesStartingWith,
  languageName,
  LANGUAGES,
} from "../../src/service/languages.ts";

describe("a language", () => {
  test.each([
    ["French", "fr"],
    ["français", "fr"],
    ["FRANÇAIS", "fr"],
    ["francais", "fr"],
    ["Deutsch", "de"],
    [" german ", "de"],
    ["日本語", "ja"],
    ["Türkçe", "tr"],
    ["TÜRKÇE", "tr"],
    ["tiếng việt", "vi"],
    ["हिन्दी", "hi"],
    ["Brazilian  Portuguese", "pt-BR"],
    ["Mandarin", "zh"],
    ["Lao", "lo"],
  ])("is understood by its name: %s", (text, code) => {
    expect(languageCode(text)).toBe(code);
  });

  test.each([
    ["en", "en"],
    ["EN-gb", "en-GB"],
    ["pt_br", "pt-BR"],
    ["zh-hant-tw", "zh-Hant-TW"],
    [" fr ", "fr"],
    ["haw", "haw"],
    ["deu", "de"],
  ])("is understood by its code: %s", (text, code) => {
    expect(languageCode(text)).toBe(code);
  });

  test.each(["klingonese", "Klingon", "Frenchh", "female", "", " ", "e", "en-", "en--US", "français!", "12"])(
    "is refused if it is neither: %j",
    (text) => {
      expect(languageCode(text)).toBeUndefined();
    },
  );

  test("is shown by its English name, or by its code if it has none", () => {
    expect(["fr", "pt-BR", "zh-Hant", "es-AR", "haw", "qaa", "not a code"].map(languageName)).toEqual([
      "French",
      "Brazilian Portuguese",
      "Traditional Chinese",
      "Spanish (Argentina)",
      "Hawaiian",
      "qaa",
      "not a code",
    ]);
  });

  test("is found while its code or one of its names is typed, English first", () => {
    expect({
      code: languageCodesStartingWith("pt"),
      name: languageCodesStartingWith("Ger"),
      ownName: languageCodesStartingWith("esp"),
      nothing: languageCodesStartingWith("xx"),
      first: languageCodesStartingWith("")[0],
    }).toEqual({
      code: ["pt", "pt-BR"],
      name: ["de"],
      ownName: ["es", "es-419", "es-MX"],
      nothing: [],
      first: "en",
    });
  });
});

describe("the table", () => {
  test("leads from every name and code to the code of its row, so no two languages share one", () => {
    const found = LANGUAGES.flatMap(({ code, name, ownName, otherNames }) =>
      [code, name, ownName, ...otherNames].map((text) => [text, languageCode(text)]),
    );
    const expected = LANGUAGES.flatMap(({ code, name, ownName, otherNames }) =>
      [code, name, ownName, ...otherNames].map((text) => [text, code]),
    );
    expect(found).toEqual(expected);
  });

  test("has codes in their canonical form, each once", () => {
    const codes = LANGUAGES.map(({ code }) => code);
    expect(Intl.getCanonicalLocales(codes)).toEqual(codes);
  });
});
