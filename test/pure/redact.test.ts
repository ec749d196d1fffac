import { expect, test } from "vitest";
import { createRedact } from "../../src/redact.ts";

const KEY = "fl_Canary+/=?&%0123";

test.each<readonly [string, (key: string) => string]>([
  ["as it is", (key) => key],
  ["JSON-escaped", (key) => JSON.stringify(key).slice(1, -1)],
  ["JSON-escaped with its slashes", (key) => key.replaceAll("/", String.raw`\/`)],
  ["percent-encoded", encodeURIComponent],
  ["percent-encoded as a URL", encodeURI],
  [
    "percent-encoded in lower case",
    (key) => encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase()),
  ],
])("redacts the key %s and keeps the text around it", (_, write) => {
  expect(createRedact(KEY)(`before (${write(KEY)}), ${write(KEY)}after`)).toBe(
    "before ([redacted]), [redacted]after",
  );
});

test.each([
  ["as it is", String.raw`p"w\d'ö`],
  ["JSON-escaped", String.raw`p\"w\\d'ö`],
  ["JSON-escaped in ASCII", String.raw`p\"w\\d'\u00f6`],
  ["percent-encoded", "p%22w%5Cd'%C3%B6"],
  ["percent-encoded with its apostrophe", "p%22w%5Cd%27%C3%B6"],
])("redacts a password with quotation marks and letters %s", (_, written) => {
  expect(createRedact(String.raw`p"w\d'ö`)(`(${written})`)).toBe("([redacted])");
});

test("redacts the longest spelling if a shorter one is its prefix", () => {
  expect(createRedact("fl_abc%")("fl_abc% fl_abc%25 fl_abc%x")).toBe("[redacted] [redacted] [redacted]x");
});

test("keeps a message JSON of the same shape", () => {
  const clean = createRedact(KEY)(JSON.stringify({ nested: JSON.stringify({ [KEY]: `${KEY}"` }) }));

  expect(JSON.parse(JSON.parse(clean).nested)).toEqual({ "[redacted]": '[redacted]"' });
});

test("redacts nothing else, and not the sandbox's public key", () => {
  const text = "fl_Canar fl_canary+/=?&%0123 Bearer abc_12345 fl_sandbox";

  expect(createRedact(KEY)(text)).toBe(text);
  expect(createRedact(undefined)(text)).toBe(text);
  expect(createRedact("fl_sandbox")(text)).toBe(text);
});
