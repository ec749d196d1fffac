import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

/**
 * What users of the bundle have no use for: variables, options and the configuration of a client. Of variables that the page lacks,
 * only those are told of that are set.
 */
const FOREIGN =
  /FACELESS_(?!POLL_|SANDBOX_|WEBHOOK_)|--[a-z]|in your client|this server's settings(?! page)|restart th/;

test("no text that the server can show names a variable, an option or a client's configuration", () => {
  const src = fileURLToPath(new URL("../../src/", import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    // The commands are not in the bundle, and the tables are for --help and docs/.
    (name) => name.endsWith(".ts") && !/^(commands|sandbox)\b|^(cli|command-line)\.ts$/.test(name),
  );
  const literals = files.flatMap((name) => {
    const text = readFileSync(join(src, name), "utf8");
    const code = text.replace(/^export const (ERRORS|VARIABLES) = [^]*?^[}\]] as const/gm, "");
    return code.match(/"(?:\\.|[^"\\\n])+"|`(?:\\.|[^`\\])+`/g) ?? [];
  });
  const sentences = literals.filter((literal) => FOREIGN.test(literal) && /\w \w/.test(literal));

  expect(sentences.length).toBeGreaterThan(10);
  expect(sentences.map(inBundleWords).filter((sentence) => FOREIGN.test(sentence))).toEqual([]);
});
