import { expect, test } from "vitest";
import { say } from "../../src/sentences.ts";
import {
  cleanServiceText,
  cutText,
  describeAge,
  quote,
  quoteName,
  stripUnsafeCharacters,
} from "../../src/text.ts";

const ESC = "\u001B";
const ZWNJ = "\u200C";
const ZWJ = "\u200D";

test.each([
  ["control characters", "a\u0000b\u0007c\u0008d\u007Fe\u0085f", "abcdef"],
  ["colours and cursor movements", `a${ESC}[31;1mb${ESC}[0mc${ESC}[2K${ESC}[?25ld\u009B31me`, "abcde"],
  ["window titles and links", `a${ESC}]0;evil\u0007b${ESC}]8;;https://evil.example${ESC}\\c`, "abc"],
  ["escapes without an end", `No credits ${ESC}]0;left.${ESC}`, "No credits 0;left."],
  ["bidi controls", "a\u202Ab\u202Ec\u2066d\u2069e\u200Ef\u061Cg", "abcdefg"],
  ["zero width spaces, fillers and soft hyphens", "a\u200Bb\u2060c\uFEFFd\u00ADe\u3164f\u2800g", "abcdefg"],
  ["lone surrogates", "a\uD800b\uDFFFc", "abc"],
  ["text hidden in tags", `🏴${String.fromCodePoint(0xe0069, 0xe0067, 0xe006e)}b`, "🏴b"],
  ["bytes hidden in variation selectors", "🎬\u{E0158}\u{E0155} a\uFE0Fb", "🎬 ab"],
  ["joiners that join nothing", `می${ZWNJ} 👩${ZWJ}${ZWJ}🚀 🎬${ZWJ}a`, "می 👩🚀 🎬a"],
])("removes %s", (_, text, clean) => {
  expect(stripUnsafeCharacters(text)).toBe(clean);
});

test.each([
  ["plain text and markup", 'No credits left:\n\t<b>"add"</b> & {json: [1]} \\n'],
  ["scripts", "日本語 العربية עברית हिन्दी ไทย Crème e\u0301 \u06DD\u0661"],
  ["joiners between letters", `می${ZWNJ}خواهم क्${ZWJ}ष ශ්${ZWJ}රී`],
  ["emoji with joiners and skin tones", `👩🏽${ZWJ}🚀 👨${ZWJ}👩${ZWJ}👧 🏳\uFE0F${ZWJ}🌈 ❤\uFE0F 🇩🇪`],
  ["keycaps", "1\uFE0F\u20E3 #\uFE0F\u20E3"],
])("keeps %s", (_, text) => {
  expect(stripUnsafeCharacters(text)).toBe(text);
});

test("ends lines with \\n, however they ended", () => {
  expect(stripUnsafeCharacters("a\r\nb\rc\u2028d\u2029e\n\n\tf ")).toBe("a\nb\nc\nd\ne\n\n\tf ");
});

test("puts the service's text on one line, without space around it", () => {
  expect(cleanServiceText(" \r\n a \t b\r\nc\u2028d\u00A0e \n")).toBe("a b c d e");
});

test("cuts the service's text at 500 characters, never within one", () => {
  const text = "a".repeat(500);
  expect(cleanServiceText(`${text}\u200B`)).toBe(text);
  expect(cleanServiceText(`${text}a`)).toBe(`${text.slice(1)}…`);
  expect(cleanServiceText("🎬".repeat(501))).toBe(`${"🎬".repeat(499)}…`);
  expect(cutText(`ab👩${ZWJ}🚀c`, 5)).toBe("ab👩…");
  expect(cutText("😀".repeat(9), 9)).toBe("😀".repeat(9));
});

test("quotes the service's text as a JSON string that its content can't close", () => {
  expect(quote('a "b" \\c\nd\u202E')).toBe(String.raw`"a \"b\" \\c d"`);
  expect(quote("🎬🎬🎬", 2)).toBe('"🎬…"');
});

test("quotes a name unless it is one short word", () => {
  const names = ["youtube_shorts_2", "a".repeat(21), "tiktok.Then-call-publish_video.", "TikTok", ""];

  expect(names.map(quoteName)).toEqual(["youtube_shorts_2", ...names.slice(1).map((name) => `"${name}"`)]);
});

test.each([
  [-5_000, "just now"],
  [999, "just now"],
  [1_000, "1 second ago"],
  [179_999, "179 seconds ago"],
  [180_000, "3 minutes ago"],
  [2 * 3_600_000, "2 hours ago"],
  [86_400_000, "1 day ago"],
])("describes an age of %i ms as %j", (ms, told) => {
  expect(describeAge(ms)).toBe(told);
});

test("a sentence differs for a model and a person, and brackets in its values are kept", () => {
  const names = "[a|b] ${c}";

  expect(say`[Tell the user to look|Look] for it on ${names}, if [they|you] ${say`[want|like]`} it.`).toEqual(
    {
      model: "Tell the user to look for it on [a|b] ${c}, if they want it.",
      person: "Look for it on [a|b] ${c}, if you like it.",
    },
  );
});
