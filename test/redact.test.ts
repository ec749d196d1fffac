import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createRedact } from "../src/redact.ts";
import { anyCharacter } from "./fixtures/any-character.ts";

const KEY = "fl_Canary+/=?&%0123";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const lowerCaseCodes = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

type Spelling = readonly [name: string, write: (key: string) => string];

const SPELLINGS: readonly Spelling[] = [
  ["as it is", (key) => key],
  ["in JSON", inJson],
  ["in JSON in JSON", (key) => inJson(inJson(key))],
  ["in JSON that escapes slashes", (key) => key.replaceAll("/", String.raw`\/`)],
  ["as part of a URL", encodeURIComponent],
  ["as part of a URL, in small letters", (key) => lowerCaseCodes(encodeURIComponent(key))],
  ["as part of a URL in a URL", (key) => encodeURIComponent(encodeURIComponent(key))],
  ["as a URL", encodeURI],
  ["as a form field", (key) => new URLSearchParams({ key }).toString().slice("key=".length)],
  ["in hex", (key) => Buffer.from(key).toString("hex")],
  ["in hex, in capitals", (key) => Buffer.from(key).toString("hex").toUpperCase()],
];
const BASE64_SPELLINGS: readonly Spelling[] = [
  ["at the first alignment", base64],
  ["at the second alignment", (key) => base64(`x${key}`)],
  ["at the third alignment", (key) => base64(`xx${key}`)],
  ["of a text with more in it", (key) => base64(`user:${key}:${key} and more`)],
  ["of a header", (key) => base64(`Authorization: Bearer ${key}\r\n`)],
  ["of JSON", (key) => base64(JSON.stringify({ apiKey: key, n: 1 }))],
  ["in the alphabet of URLs", (key) => Buffer.from(`x${key}`).toString("base64url")],
];

const redact = createRedact(KEY);

test.each(SPELLINGS)("the key is removed %s, and the text around it stays", (_, write) => {
  expect(redact(`before (${write(KEY)}), after`)).toBe("before ([redacted]), after");
  expect(redact(`${write(KEY)}${write(KEY)}`)).toBe("[redacted][redacted]");
});

test.each(BASE64_SPELLINGS)("the key is removed in base64 %s", (_, write) => {
  const clean = redact(`before (${write(KEY)}), after`);

  expect(clean).toMatch(/^before \(\S*\[redacted\]\S*\), after$/);
  // Eight characters of base64 contain at least five bytes of the key: no such piece may remain.
  for (let at = 0; at + 6 <= KEY.length; at++)
    for (const piece of [0, 1, 2].map((lead) =>
      base64("x".repeat(lead) + KEY.slice(at)).slice(lead + 1, lead + 9),
    ))
      expect(clean).not.toContain(piece);
});

test("the key is removed completely if one spelling begins like another", () => {
  expect(createRedact("fl_abc%")("fl_abc% fl_abc%25 fl_abc%2525 fl_abc%x")).toBe(
    "[redacted] [redacted] [redacted] [redacted]x",
  );
});

test("the key is removed however short it is, with little else", () => {
  expect(createRedact("fl_a")('{"key":"fl_a","flag":"fl_b","n":"flora fl a_fl_","b":"ZmxnYQ=="}')).toBe(
    '{"key":"[redacted]","flag":"fl_b","n":"flora fl a_fl_","b":"ZmxnYQ=="}',
  );
  // Fewer than four characters of base64 reveal nothing.
  expect(createRedact("fl_")(`${base64("fl_")} ${base64("xfl_")} ${base64("xxfl_")}`)).toBe(
    `[redacted] ${base64("xfl_")} ${base64("xxfl_")}`,
  );
});

test.each([
  ["a form feed", '"\\fl_canary"', '"[redacted]"'],
  ["a control character", '"\\u000fl_canary"', '"[redacted]"'],
  ["a control character in JSON in JSON", '"\\\\u000fl_canary"', '"[redacted]"'],
  ["a backslash", String.raw`"C:\\fl_canary"`, '"C:[redacted]"'],
  ["two backslashes", String.raw`"C:\\\\fl_canary"`, '"C:[redacted]"'],
  ["a backslash and itself", String.raw`"fl_canary\\fl_canary"`, '"[redacted][redacted]"'],
  ["a quotation mark", String.raw`"\"fl_canary\""`, String.raw`"\"[redacted]\""`],
  ["a line break", String.raw`"\nfl_canary\n"`, String.raw`"\n[redacted]\n"`],
  [
    "a character that it seems to complete",
    `"\\u00${Buffer.from("fl_canary").toString("hex")}"`,
    '"[redacted]"',
  ],
])("the key after %s is removed so that the JSON can still be parsed", (_, json, clean) => {
  expect(createRedact("fl_canary")(json)).toBe(clean);
  expect(JSON.parse(clean)).toContain("[redacted]");
});

test.each([createRedact(undefined), createRedact(""), createRedact(KEY)])(
  "the credential of another account after Bearer is taken out",
  (redact) => {
    expect(redact("Authorization: Bearer eyJhbGciOi1.x-y_z==, BEARER \t eyJhbGciOi1, ok")).toBe(
      "Authorization: Bearer [redacted], Bearer [redacted], ok",
    );
    expect(redact(String.raw`"\bearer abc_12345"`)).toBe(String.raw`"\bearer abc_12345"`);
    expect(redact(`Bearer abc_1234 ${"a".repeat(9_000)}`)).toBe(`Bearer [redacted] ${"a".repeat(9_000)}`);
  },
);

test("the credential of another account is removed in addition to the key itself", () => {
  expect(createRedact(KEY)(`Bearer ${KEY}, Bearer abc_12345`)).toBe("Bearer [redacted], Bearer [redacted]");
});

test("prose and text that resembles the key stay", () => {
  const text =
    "fl_Canar fl_canary+/=?&%0123 FL_CANARY The bearer walked on; the ring bearer remembers everything. Bearer of news 2026. Bearer ab_1 [redacted] \\[redacted]";
  expect(createRedact(KEY)(text)).toBe(text);
  expect(createRedact(undefined)(`fl_other Zmxf ${KEY}`)).toBe(`fl_other Zmxf ${KEY}`);
});

// Printable ASCII without quotes and backslashes, as config.ts demands.
const key = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(...Array.from("/%+$&*.?()[]{}|^u0")),
    ),
    { minLength: 12, maxLength: 40 },
  )
  .map((characters) => `fl_${characters.join("").replace(/["'`\\]/g, "_")}`);

test("no spelling of any key remains", () => {
  fc.assert(
    fc.property(key, fc.string(), (key, text) => {
      const redact = createRedact(key);
      for (const [name, write] of [...SPELLINGS, ...BASE64_SPELLINGS]) {
        const clean = redact(`${text} ${write(key)} ${text}`);
        expect([name, clean.includes("[redacted]"), clean.includes(write(key))]).toEqual([name, true, false]);
      }
    }),
    { seed: 1, numRuns: 40 },
  );
});

test("a message with any key stays JSON of the same shape, and so does JSON in its text", () => {
  fc.assert(
    fc.property(key, fc.string({ unit: anyCharacter }), (key, text) => {
      const nested = JSON.stringify({ echo: key, again: text + key, [key]: `\f${key.slice(1)}` });
      const clean = createRedact(key)(JSON.stringify({ nested, [`x-${key}`]: 1 }));
      const message: unknown = JSON.parse(clean);
      const inner: unknown = JSON.parse(String(Object(message).nested));

      expect({ message, inner }).toEqual({
        message: { nested: expect.any(String), "x-[redacted]": 1 },
        inner: {
          echo: "[redacted]",
          again: expect.stringMatching(/\[redacted\]$/),
          "[redacted]": expect.any(String),
        },
      });
      expect(clean).not.toContain(key);
    }),
    { seed: 1, numRuns: 40 },
  );
});

test("a message without the key stays as it is", () => {
  fc.assert(
    fc.property(key, fc.jsonValue(), (key, value) => {
      const json = JSON.stringify(value);
      expect(createRedact(key)(json)).toBe(json);
    }),
    { seed: 1 },
  );
});

// Each of these would take minutes in quadratic time: the runner's own time limit is the test.
test.each(["fl_Canary", "\\", "\\u000", "Bearer ", "Bearer a", "[redacted]"])(
  "1 MB of %j are redacted in linear time",
  (piece) => {
    const text = piece.repeat(Math.ceil((1024 * 1024) / piece.length));
    expect(createRedact(KEY)(`${text}${KEY}`)).not.toContain(KEY);
  },
);
