import { expect, test } from "vitest";
import { inBundleWords } from "../../src/commands/bundle-words.ts";

test("texts for users of the bundle advise nothing that its settings page lacks", () => {
  expect(
    inBundleWords(
      "Tell the user: give this server the right to read that file, or set FACELESS_STATE_DIR to another folder and restart the server.",
    ),
  ).toBe("Tell the user: give this server the right to read that file.");
  expect(inBundleWords("Report this with the log of the server (FACELESS_LOG_LEVEL=debug).")).toBe(
    "Report this with the log of the server.",
  );
});

test("a text within JSON stays JSON", () => {
  const text = JSON.stringify({
    text: JSON.stringify({ nextStep: "Check FACELESS_API_KEY, or use --sandbox." }),
  });

  expect(JSON.parse(JSON.parse(inBundleWords(text)).text)).toEqual({
    nextStep: "Check “API key”, or use “Sandbox”.",
  });
});
