import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanServiceText, createRedact, SERVICE_TEXT_LIMIT } from "../src/text.ts";

const ESC = "\u001B";

/** At least 4 MB of the piece. */
function fill(piece: string): string {
  return piece.repeat(Math.ceil((4 * 1024 * 1024) / piece.length));
}

describe("the service's text", () => {
  test.each([
    ["control characters", "a\u0000b\u0007c\u0008d\u007Fe", "abcde"],
    ["C1 controls", "a\u0080b\u0085c\u0099d\u009Ce", "abcde"],
    ["colours (CSI)", `a${ESC}[31;1mb${ESC}[0mc`, "abc"],
    ["cursor movements (CSI)", `a${ESC}[2K${ESC}[1;1H${ESC}[?25lb`, "ab"],
    ["CSI with intermediate characters", `a${ESC}[1 qb`, "ab"],
    ["8-bit CSI", "a\u009B31mb", "ab"],
    ["an unfinished CSI", `a${ESC}[31`, "a31"],
    ["a window title (OSC, ended by BEL)", `a${ESC}]0;evil\u0007b`, "ab"],
    ["a link (OSC, ended by ST)", `a${ESC}]8;;https://evil.example${ESC}\\b`, "ab"],
    ["8-bit OSC, ended by 8-bit ST", "a\u009D0;evil\u009Cb", "ab"],
    ["DCS", `a${ESC}Pq#0evil${ESC}\\b`, "ab"],
    ["8-bit DCS", "a\u0090evil\u009Cb", "ab"],
    ["SOS, PM and APC", `a${ESC}Xevil${ESC}\\b${ESC}^evil${ESC}\\c${ESC}_evil\u0007d`, "abcd"],
    ["two-character sequences", `a${ESC}cb${ESC}(0c${ESC}7d`, "abcd"],
    ["a sequence cut off before its last character", `a${ESC}(日b${ESC}(`, "a日b"],
    ["one escape after the other", `a${ESC}${ESC}${ESC}[31mb${ESC}`, "ab"],
    ["a sequence that another one would complete", `a${ESC}${ESC}[0m[31mb`, "a[31mb"],
    ["bidi controls", "a\u202Ab\u202Ec\u2066d\u2069e\u200Ef\u061Cg", "abcdefg"],
    ["zero-width characters", "a\u200Bb\u200Cc\u200Dd\u2060e\uFEFFf\u00ADg", "abcdefg"],
    ["tags", "a\u{E0001}\u{E0069}\u{E0067}\u{E007F}b", "ab"],
    ["variation selectors", "a\uFE00b\uFE0Fc\u{E0100}d\u{E01EF}e\u180Bf", "abcdef"],
    ["fillers and blanks", "a\u034Fb\u115Fc\u3164d\uFFA0e\u2800f\u17B5g", "abcdefg"],
    ["reserved invisible characters", "a\u2065b\uFFF0c\u{E0FFF}d", "abcd"],
    ["interlinear and musical formatting", "a\uFFF9b\uFFFBc\u{1D173}d", "abcd"],
    ["lone surrogates", "a\uD800b\uDFFFc", "abc"],
  ])("loses %s", (_, text, clean) => {
    expect(cleanServiceText(text)).toBe(clean);
  });

  test.each([
    ["plain text", "No credits left: add some, then try again (code 402)."],
    ["other scripts", "日本語 العربية עברית हिन्दी ไทย"],
    ["accents and emoji", "Crème brûlée 🎬👩🏽 e\u0301"],
    ["markup", '<b>"quoted"</b> & {json: [1]} \\n'],
  ])("keeps %s as it is", (_, text) => {
    expect(cleanServiceText(text)).toBe(text);
  });

  test("is on one line, without space around it", () => {
    expect(cleanServiceText(" \r\n a \t b\r\nc\rd\u2028e\u2029f\u00A0g \n")).toBe("a b c d e f g");
  });

  test("loses nothing but the first characters of a string sequence that has no end", () => {
    expect(cleanServiceText(`No credits ${ESC}]0;left. Add some.`)).toBe("No credits 0;left. Add some.");
    // A curly quote that was read in the wrong encoding.
    expect(cleanServiceText("\u00E2\u0080\u009DNo credits left")).toBe("\u00E2No credits left");
  });

  test("of 500 characters stays whole, and one more is cut with a sign of it", () => {
    expect(SERVICE_TEXT_LIMIT).toBe(500);
    expect(cleanServiceText("a".repeat(500))).toBe("a".repeat(500));
    expect(cleanServiceText("a".repeat(501))).toBe(`${"a".repeat(499)}…`);
  });

  test("is counted in code points, so that no character is cut in two", () => {
    expect(cleanServiceText("🎬".repeat(500))).toBe("🎬".repeat(500));
    expect(cleanServiceText("🎬".repeat(501))).toBe(`${"🎬".repeat(499)}…`);
    expect(cleanServiceText("🎬🎬🎬", 2)).toBe("🎬…");
  });

  test("is counted when it is clean, and says so where most of it was not even looked at", () => {
    expect(cleanServiceText(`${"\u200B".repeat(600)}text`)).toBe("text");
    expect(cleanServiceText(`text${"\u200B".repeat(20_000)}more`)).toBe("text…");
  });

  test.each([
    ["plain", "fl_canary/0123456789"],
    ["in a header", "Bearer fl_canary0123456789"],
    ["in base64", Buffer.from("fl_canary0123456789").toString("base64")],
    ["in base64 of a header", Buffer.from("user:fl_canary0123456789").toString("base64")],
    ["in base64 of another header", Buffer.from("Bearer fl_canary0123456789").toString("base64")],
  ])("loses a key that the cut goes through, %s: redaction could not find the rest", (_, key) => {
    const firstCharacters = /can|Y2Fu|Nhbm|jYW5/;
    for (let length = 450; length < 500; length++) {
      const clean = cleanServiceText(`${"a".repeat(length)} ${key} and more`);
      expect(clean).toMatch(/^a{450}/);
      expect(clean.replace(key, "")).not.toMatch(firstCharacters);
    }
  });

  test.each([
    ["The key fl_0ldkey_of-somebody is not valid.", "The key [redacted] is not valid."],
    ['{"key":"fl_live_0123456789/+=~"} fl_abcdefghijklmnopqrstuvwx', '{"key":"[redacted] [redacted]'],
    [
      "fl_example fl_your_key_of_the_account fl_studio12",
      "fl_example fl_your_key_of_the_account fl_studio12",
    ],
    // A cursor in base64url, a file.
    ["dGhlfl_0123456789abcdef dGhl-fl_0123456789abcdef", "dGhlfl_0123456789abcdef dGhl-fl_0123456789abcdef"],
    ["https://cdn.example/fl_0123456789abcdef.mp4", "https://cdn.example/fl_0123456789abcdef.mp4"],
  ])("loses what looks like a key, whoever's, and nothing that only resembles one: %j", (text, clean) => {
    expect(cleanServiceText(text)).toBe(clean);
  });

  test("loses of a cut text no more than the key that is cut", () => {
    const text = `fl_studio Zmxf ${"a".repeat(470)}`;
    expect(cleanServiceText(`${text} fl_canary/0123456789`)).toBe(`${text} …`);
  });

  test("holds nothing unseen and no second line whatever comes, and is clean when cleaned again", () => {
    const nasty = fc.constantFrom(
      ESC,
      "[",
      "]",
      "31m",
      "\u009B",
      "\u009D",
      "\u0007",
      "\u202E",
      "\u200B",
      "\n",
      "\uD83C",
      "a",
      " ",
    );
    const text = fc.array(fc.oneof(nasty, fc.string({ unit: "binary" }))).map((parts) => parts.join(""));

    fc.assert(
      fc.property(text, (dirty) => {
        const clean = cleanServiceText(dirty);
        expect(clean).not.toMatch(/\p{Cc}|\p{Cf}|\p{Cs}|\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u);
        expect(Array.from(clean).length).toBeLessThanOrEqual(500);
        expect(cleanServiceText(clean)).toBe(clean);
      }),
    );
  });

  test.each([ESC, `${ESC}]`, `${ESC}[`, "\u009D", "\u009B1", "\u200B", " x", "fl_"])(
    "of 4 MB of %j is cleaned in no time",
    (piece) => {
      const text = fill(piece);
      const startedMs = performance.now();
      cleanServiceText(text);
      expect(performance.now() - startedMs).toBeLessThan(5_000);
    },
  );
});

const KEY = "fl_Canary+/=?&0123";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const upperEscapes = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

/** Every way of writing a key that may not leave the process. */
const WRITINGS: readonly (readonly [string, (key: string) => string])[] = [
  ["as it is", (key) => key],
  ["in JSON", inJson],
  ["in JSON in JSON", (key) => inJson(inJson(key))],
  ["in JSON in JSON in JSON", (key) => inJson(inJson(inJson(key)))],
  ["in JSON that escapes slashes", (key) => inJson(key).replaceAll("/", String.raw`\/`)],
  [
    "in JSON that escapes everything",
    (key) => Array.from(key, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  ],
  [
    "in JSON that escapes everything in capitals",
    (key) =>
      Array.from(key, (c) => `\\u${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(""),
  ],
  ["as part of a URL", encodeURIComponent],
  ["as part of a URL, escapes in small letters", (key) => upperEscapes(encodeURIComponent(key))],
  ["as part of a URL in a URL", (key) => encodeURIComponent(encodeURIComponent(key))],
  ["as a URL", encodeURI],
  ["as a form field", (key) => new URLSearchParams({ key }).toString().slice("key=".length)],
  [
    "with every character percent-encoded",
    (key) => Array.from(key, (c) => `%${c.charCodeAt(0).toString(16)}`).join(""),
  ],
  ["as part of a URL in JSON", (key) => inJson(encodeURI(key))],
];
const BASE64_WRITINGS: readonly (readonly [string, (key: string) => string])[] = [
  ["in base64", (key) => base64(key)],
  ["in base64, a byte behind", (key) => base64(`x${key}`)],
  ["in base64, two bytes behind", (key) => base64(`xx${key}`)],
  ["in base64 amid other text", (key) => base64(`user:${key}:${key} and more`)],
  ["in base64 of a header", (key) => base64(`Authorization: Bearer ${key}\r\n`)],
  ["in base64 of JSON", (key) => base64(JSON.stringify({ apiKey: key }))],
  ["in base64 of JSON that holds more", (key) => base64(JSON.stringify({ header: `key ${key} of mine` }))],
  ["in base64url", (key) => Buffer.from(`x${key}`).toString("base64url")],
  ["in base64 in a URL", (key) => encodeURIComponent(base64(key))],
  ["in base64 in JSON that escapes slashes", (key) => base64(key).replaceAll("/", String.raw`\/`)],
];

describe("the key", () => {
  const redact = createRedact(KEY);

  test.each(WRITINGS)("written %s is taken out, and what stands around it stays", (_, write) => {
    expect(redact(`before (${write(KEY)}), after`)).toBe("before ([redacted]), after");
    expect(redact(`${write(KEY)}${write(KEY)}`)).toBe("[redacted][redacted]");
  });

  test.each(BASE64_WRITINGS)("written %s is taken out but for the bits of its edges", (_, write) => {
    const clean = redact(`before (${write(KEY)}), after`);

    expect(clean).toMatch(/^before \(\S*\[redacted\]\S*\), after$/);
    // Six characters hold four bytes and more: what is left around them is not the key's.
    for (let at = 0; at + 6 <= KEY.length; at++)
      for (const piece of [0, 1, 2].map((lead) =>
        base64("x".repeat(lead) + KEY.slice(at)).slice(lead + 1, lead + 9),
      ))
        expect(clean).not.toContain(piece);
  });

  test.each(["Bearer", "bearer", "BEARER  ", "Authorization: Bearer\t"])(
    "after %j is taken out",
    (prefix) => {
      const clean = redact(`${prefix} ${KEY}!`);

      expect(clean).toMatch(/bearer\s+\[redacted\]!$/i);
      expect(clean).not.toContain("Canary");
    },
  );

  test("is taken out of names, of nested text and of every line", () => {
    expect(redact(`{"${KEY}":1}\nx=${KEY}\n\tkey: '${KEY}'`)).toBe(
      `{"[redacted]":1}\nx=[redacted]\n\tkey: '[redacted]'`,
    );
  });

  test("is not known where there is none, and another credential after Bearer goes all the same", () => {
    for (const none of [createRedact(undefined), createRedact("")]) {
      expect(none(`fl_other Zmxf \\u0066l_`)).toBe(`fl_other Zmxf \\u0066l_`);
      expect(none("Authorization: Bearer eyJhbGciOi1.x-y_z==, Bearer \t eyJhbGciOi1, ok")).toBe(
        "Authorization: Bearer [redacted], Bearer [redacted], ok",
      );
    }
  });

  test("is not seen in other words, and prose about bearers is left alone", () => {
    const text =
      "fl_Canar fl_canary+/=?&0123 FL_CANARY The bearer walked on; the ring bearer remembers everything. Bearer of news 2026.";
    expect(redact(text)).toBe(text);
  });

  test("however short is gone, and little else is", () => {
    expect(createRedact("fl_a")('{"key":"fl_a","flag":"fl_b","n":"flora fl a_fl_","b":"ZmxnYQ=="}')).toBe(
      '{"key":"[redacted]","flag":"fl_b","n":"flora fl a_fl_","b":"ZmxnYQ=="}',
    );
    // In base64 four characters of it are needed, or many a word would go.
    expect(createRedact("fl_")(`${base64("fl_")} ${base64("xfl_")} ${base64("xxfl_")}`)).toBe(
      `[redacted] ${base64("xfl_")} ${base64("xxfl_")}`,
    );
  });

  test.each([
    ["a form feed", '"\\fl_canary"', '"[redacted]"'],
    ["a control character", '"\\u000fl_canary"', '"[redacted]"'],
    ["a backslash", String.raw`"C:\\fl_canary"`, '"C:[redacted]"'],
    ["two backslashes", String.raw`"C:\\\\fl_canary"`, '"C:[redacted]"'],
    ["what is no escape", String.raw`"C:\\u0zzfl_canary"`, String.raw`"C:\\u0zz[redacted]"`],
    ["itself and a backslash", String.raw`"fl_canary\\fl_canary"`, '"[redacted][redacted]"'],
    ["a quote", String.raw`"\"fl_canary\""`, String.raw`"\"[redacted]\""`],
    ["a line break", String.raw`"\nfl_canary\n"`, String.raw`"\n[redacted]\n"`],
    [
      "a backspace that begins Bearer",
      String.raw`"\bearer fl_canary \bearer abc_12345"`,
      String.raw`"\bearer [redacted] \bearer abc_12345"`,
    ],
  ])("behind %s leaves JSON that can be read", (_, json, clean) => {
    expect(createRedact("fl_canary")(json)).toBe(clean);
    expect(JSON.parse(clean)).toContain("[redacted]");
  });

  test.each([
    ['fl_",', { a: "fl_", b: 'fl_",' }, { a: "fl_", b: "[redacted]" }],
    ['fl_"', { 'fl_"': ["fl_", 'x fl_" y'] }, { "[redacted]": ["fl_", "x [redacted] y"] }],
    ['fl_":{"', { fl_: { x: 1 }, 'fl_":{"': 2 }, { fl_: { x: 1 }, "[redacted]": 2 }],
    ["fl_\\", { a: 'fl_"', b: "fl_\\", c: "fl_\n" }, { a: 'fl_"', b: "[redacted]", c: "fl_\n" }],
  ])("%j, which looks like JSON itself, leaves the JSON around it as it is", (key, message, expected) => {
    expect(JSON.parse(createRedact(key)(JSON.stringify(message)))).toEqual(expected);
  });

  test("that looks like JSON itself leaves a message without it as it was written", () => {
    const json = String.raw`{ "a": "A\/", "b": 1.0 }`;
    expect(createRedact('fl_"')(json)).toBe(json);
  });
});

// Printable ASCII without the space, as settings.ts admits it; the characters that mean something somewhere more often.
const keyCharacter = fc.oneof(
  fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  fc.constantFrom(...Array.from("\"\\/%+$&'*.?()[]{}|^u0")),
);
const arbitraryKey = fc
  .array(keyCharacter, { minLength: 1, maxLength: 40 })
  .map((characters) => `fl_${characters.join("")}`);
const longKey = fc
  .array(keyCharacter, { minLength: 12, maxLength: 40 })
  .map((characters) => `fl_${characters.join("")}`);
// Words that can't complete a key that was taken out of them.
const around = fc.string({ unit: "binary" }).filter((text) => !/fl|\\|%|66/i.test(text));

describe("for any key", () => {
  test("no plain, JSON or URL form of it survives in any text", () => {
    fc.assert(
      fc.property(arbitraryKey, around, around, (key, before, after) => {
        const redact = createRedact(key);
        for (const [name, write] of WRITINGS) {
          const clean = redact(`${before}${write(key)}${after}`);
          expect([name, WRITINGS.filter(([, again]) => clean.includes(again(key)))]).toEqual([name, []]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("no base64 form of it survives", () => {
    fc.assert(
      fc.property(longKey, (key) => {
        const redact = createRedact(key);
        for (const [name, write] of BASE64_WRITINGS) {
          const written = write(key);
          const clean = redact(written);
          expect([name, clean.includes("[redacted]"), clean.includes(written)]).toEqual([name, true, false]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("no more of a base64 form is left than the characters that it shares with what stands around", () => {
    fc.assert(
      fc.property(longKey, fc.constantFrom("", "x", "xx"), (key, before) => {
        const redact = createRedact(key);
        for (const encoding of ["base64", "base64url"] as const) {
          const clean = redact(Buffer.from(before + key).toString(encoding));
          expect(clean).toMatch(/^[\w+/-]{0,3}\[redacted\][\w+/-]?=*$/);
        }
      }),
    );
  });

  test("a message that holds it stays JSON of the same shape, on one line, and loses it everywhere", () => {
    fc.assert(
      fc.property(arbitraryKey, fc.string({ unit: "binary" }), fc.jsonValue(), (key, text, extra) => {
        const nested = JSON.stringify({ echo: key, text });
        const message = {
          jsonrpc: "2.0",
          id: 1,
          result: {
            content: [{ type: "text", text: nested }],
            [`x-${key}`]: text,
            key: `${text} ${key}`,
            extra,
          },
        };
        const clean = createRedact(key)(JSON.stringify(message));
        const strings: string[] = [];
        const parsed: unknown = JSON.parse(clean, (name, value: unknown) => {
          strings.push(name);
          if (typeof value === "string") strings.push(value);
          return value;
        });

        expect(strings.filter((string) => string.includes(key) || string.includes(inJson(key)))).toEqual([]);
        expect(parsed).toMatchObject({ result: { content: [{ type: "text" }] } });
        expect(clean).not.toContain("\n");
      }),
      { numRuns: 500 },
    );
  });

  test("without quote and backslash, JSON in a message's text stays JSON too", () => {
    const plainKey = arbitraryKey.filter((key) => !/["\\]/.test(key));

    fc.assert(
      fc.property(plainKey, fc.string({ unit: "binary" }), (key, text) => {
        const nested = JSON.stringify({ echo: key, again: text + key, [key]: `\f${key.slice(1)}` });
        const message: unknown = JSON.parse(createRedact(key)(JSON.stringify({ text: nested })));
        const inner = Object(JSON.parse(String(Object(message).text)));

        expect({ names: Object.keys(inner), echo: inner.echo }).toEqual({
          names: ["echo", "again", "[redacted]"],
          echo: "[redacted]",
        });
        expect(inner.again).toMatch(/\[redacted\]$/);
      }),
      { numRuns: 500 },
    );
  });

  test("a message that doesn't hold it stays as it is", () => {
    fc.assert(
      fc.property(longKey, fc.jsonValue(), (key, value) => {
        const json = JSON.stringify(value);
        expect(createRedact(key)(json)).toBe(json);
      }),
    );
  });
});

describe("a message of 4 MB", () => {
  const nearly = String.raw`fl_\"\"\\"`;
  test.each([
    [KEY, "\\"],
    [KEY, "\\f"],
    [KEY, "f\\\\"],
    [KEY, "\\u006"],
    [KEY, "%25"],
    [KEY, KEY.slice(0, -1)],
    [KEY, "Bearer "],
    [KEY, "Bearer aaaaaaaaa"],
    [KEY, " "],
    [KEY, '"'],
    [`${nearly}x`, nearly],
    [`${nearly}x`, inJson(nearly)],
    [`fl_${"\\".repeat(20)}x`, "fl_\\\\\\\\"],
    [`fl_${'"'.repeat(500)}`, 'fl_"'],
  ])("for the key %j is searched in no time though it is made of %j", (key, piece) => {
    const json = JSON.stringify({ text: fill(piece), key });
    const redact = createRedact(key);
    const startedMs = performance.now();
    const clean = redact(json);

    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(Object.keys(Object(JSON.parse(clean)))).toEqual(["text", "key"]);
  });

  test("for a key as long as one may be is searched too", () => {
    for (const characters of ["a", '"', "\\", '%\\"~', "+/"]) {
      const key = `fl_${characters.repeat(509).slice(0, 509)}`;
      const clean = createRedact(key)(JSON.stringify({ key, nested: JSON.stringify({ key }) }));
      expect(JSON.parse(clean)).toMatchObject({ key: "[redacted]" });
      expect(clean).not.toContain(inJson(key));
    }
  });
});
