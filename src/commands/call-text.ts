// The result of a tool in words, as `call` prints it without --json. The service's words stand in one line,
// cut and quoted unless they are a link or one word, so that they can't be taken for ours. Pure.

import { accountName, platformTitle, reasonOf } from "../service/platforms.ts";
import { inSentences, textFor } from "../sentences.ts";
import { quote, quoteName } from "../text.ts";
import type { ToolResult } from "../tools/tool.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The lists that are printed, with a line for each item. */
const LINES: Readonly<Record<string, (item: Fields) => string>> = {
  videos: ({ jobId, status, topic, finalVideoUrl }) => inColumns(jobId, status, topic, finalVideoUrl),
  results: describePost,
  publishedTo: describePost,
  platforms: accountTitle,
};

/** Summary and next step for a person, a line for each item of a list, and the job's id. */
export function asText({ summary, nextStep = "", fields: { jobId, ...rest } }: ToolResult): string {
  const lines = Object.entries(LINES).flatMap(([list, line]) => {
    const items: unknown = rest[list];
    if (!Array.isArray(items)) return [];
    return items.map((item: unknown) => `  ${line({ ...(typeof item === "object" && item) })}`);
  });
  const guidance = [summary, nextStep].map((text) => textFor("person", text));
  return [...guidance, ...lines, typeof jobId === "string" && `Job ${shown(jobId)}`]
    .filter(Boolean)
    .join("\n");
}

function accountTitle({ platform, ...others }: Fields): string {
  const account = accountName({ platform, ...others });
  const title = platformTitle(String(platform));
  return account === undefined ? title : `${title} (${quote(account, 60)})`;
}

/** Says what became of a post on one platform. */
export function describePost({ ok = true, unknown, alreadyPublished, at, url, ...others }: Fields): string {
  const reason = reasonOf(others);
  const posted = alreadyPublished === true ? POSTED_BEFORE : POSTED;
  const outcome =
    ok === true
      ? inColumns(unknown === true ? UNKNOWN : posted, at, url)
      : inSentences("not posted", reason !== undefined && `(the service says ${quote(reason, 200)})`);
  return `${accountTitle(others)}: ${outcome}`;
}

export function inColumns(...values: readonly unknown[]): string {
  return values
    .filter((value) => typeof value === "string" && value !== "")
    .map((value) => shown(String(value)))
    .join("  ");
}

const [POSTED, POSTED_BEFORE, UNKNOWN] = ["posted", "posted before", "sent, outcome not known"];
const OWN_WORDS = new Set([POSTED, POSTED_BEFORE, UNKNOWN, "ordered before"]);

/** Leaves a link, a time or an id as it is, and quotes anything else unless it is one word. */
function shown(text: string): string {
  const isPlain = OWN_WORDS.has(text) || /^(?:https?:\/\/[!-~]+|[\w.:+-]{1,64})$/i.test(text);
  return isPlain ? text : text.includes(" ") ? quote(text, 80) : quoteName(text);
}
