import { expect, test } from "vitest";
import { isLoopback } from "../../src/settings/loopback.ts";

test.each(["localhost", "LocalHost.", "a.localhost", "[::1]", "127.0.0.1", "127.0.0.1."])(
  "this computer is %s",
  (hostname) => {
    expect(isLoopback(hostname)).toBe(true);
  },
);

test.each([
  "",
  "127.0.0.1.evil.com",
  "1127.0.0.1",
  "127x0.0.1",
  "notlocalhost",
  "[::2]",
  "[::ffff:7f00:1]",
  "0.0.0.0",
])("this computer is not %j", (hostname) => {
  expect(isLoopback(hostname)).toBe(false);
});
