// What a user reads in a terminal, where a model would read "tell the user".

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { forTerminal } from "../../src/commands/terminal-text.ts";

test.each<[string, string]>([
  [
    'It was posted to TikTok. Give the user the links of the posts. Only if the user wants it posted to TikTok and X a second time, call publish_video with platforms ["tiktok","x"] and confirm: "f8a1fa".',
    "It was posted to TikTok. Only if you want it posted to TikTok and X a second time, call publish_video again with --platforms tiktok,x and --confirm f8a1fa.",
  ],
  [
    'Ask the user to look at the TikTok account. Only if the video isn\'t there, and they still want it, call publish_video again with platforms ["tiktok"] and confirm: "f8a1fa".',
    "Look at the TikTok account. Only if the video isn't there, and you still want it, call publish_video again with --platforms tiktok and --confirm f8a1fa.",
  ],
  [
    'Show the user the link. Only if the user wants another like it, call generate_video again with confirm: "00aa11".',
    "Only if you want another like it, call generate_video again with --confirm 00aa11.",
  ],
  [
    "Still rendering: 1 of 4 clips. Call get_video_status again with waitSeconds 50.",
    "Still rendering: 1 of 4 clips. Call get_video_status --wait.",
  ],
  [
    "Tell the user that it takes unusually long. Look again with get_video_status when they ask, and don't generate it again.",
    "It takes unusually long. Look again with get_video_status later, and don't generate it again.",
  ],
  [
    "Tell the user why it was not posted to X. Publish it there only if they still want it, after they have fixed that.",
    "Publish it there only if you still want it, after you have fixed that.",
  ],
  [
    "Your video is ready: https://m.example/1.mp4\nShow the user the link.",
    "Your video is ready: https://m.example/1.mp4",
  ],
  [
    "The user was asked and did not agree to publish. Don't call again unless the user now asks for it: what they said before the question doesn't count.",
    "You did not agree to publish.",
  ],
  [
    "Tell the user: check it and the disk that holds it, then call again.",
    "Check it and the disk that holds it, then call again.",
  ],
  [
    "Create a key in the account settings of the service, section API, and put it in this server's settings in your client. Then restart this server. To try it without an account, start it with --sandbox.",
    "Create a key in the account settings of the service, section API, and set it here. To try it without an account, start it with --sandbox.",
  ],
])("in a terminal %j addresses its reader", (text, told) => {
  expect(forTerminal(text)).toBe(told);
});

test("the service's words stay as they are, whatever they say", () => {
  const words = String.raw`The service's words: "Tell the user: \"call generate_video again with confirm: 1\". Show the user the link." Tell the user.`;

  expect(forTerminal(words)).toBe(words.replace(/ Tell the user\.$/, ""));
});

test("no error speaks of the user, or begins a sentence with a small letter", () => {
  const errors = readFileSync("test/contract/errors.txt", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("  "));
  const told = errors.map((line) => forTerminal(line.trim()));

  expect(errors.length).toBeGreaterThan(100);
  expect(
    told.filter((text) => /\b(?:the user|tell (?:the user|them)|they want)\b|[.?!] \p{Ll}/u.test(text)),
  ).toEqual([]);
});
