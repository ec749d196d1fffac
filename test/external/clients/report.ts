// The table of docs/CLIENTS.md.

import { table } from "../../../scripts/markdown.ts";
import type { Outcome } from "./outcome.ts";

/** From topic to published, with a render of three minutes, in a client that gives up on a call after one. */
const MAX_CALLS = 7;

/** One application after its runs. */
export interface Row {
  readonly title: string;
  readonly version: string;
  readonly mode: string;
  readonly date: string;
  /** False: nothing was to be ordered. */
  readonly isAllowed: boolean;
  /** The run with the entry as it is printed; absent if the application could not be run. */
  readonly first?: Outcome;
  /** A run in which this server asks nothing, if the client had answered a question by itself. */
  readonly unasked?: Outcome | undefined;
  readonly notRun?: string;
}

/** True if the job ended as it should, and no server but Codex's was left running. */
export function isGood({ first, unasked, isAllowed }: Row): boolean {
  if (first === undefined || first.failure !== undefined) return false;
  const { published, calls } = unasked ?? first;
  if (!isAllowed && !published) return true;
  const told = unasked === undefined || isReferred(first);
  return published && told && calls <= MAX_CALLS;
}

/** True if the model was referred to the document for the user, and not told the setting itself. */
function isReferred({ lastShown }: Outcome): boolean {
  return lastShown.includes("docs/ERRORS.md") && !lastShown.includes("FACELESS_CONFIRM");
}

/** Looks at the server's executable and file: other programs may have its name in their paths. */
const isServer = ({ command }: { readonly command: string }) =>
  /npm exec|faceless-video-mcp('|\s|$)|faceless-video-mcp\/dist\//.test(command);

export function reportTable(rows: readonly Row[]): string {
  return table(
    [
      "client",
      "run in",
      "protocol",
      "the model is shown",
      "before an order",
      "before a post",
      "result",
      "longest wait",
      "progress shown",
      "key of the 1st, 2nd session",
      "left running",
      "measured",
    ],
    rows.map(cells),
  );
}

function cells({ title, version, mode, date, first, unasked, notRun }: Row): string[] {
  const name = `${title} ${version}`.trim();
  if (first === undefined) return [name, mode, "", "", "", "", `not run: ${notRun}`, "", "", "", "", date];
  const last = unasked ?? first;
  const { asTask, longestWaitSeconds, seen } = last;
  return [
    name,
    mode,
    first.protocol,
    last.shown === "nothing" ? "" : last.shown,
    askedBefore("generate_video", "order", first),
    first.ordered ? askedBefore("publish_video", "post", first) : "",
    resultOf(first, unasked),
    asTask ? "a task" : longestWaitSeconds === 0 ? "" : `${longestWaitSeconds} s`,
    seen === undefined ? "" : seen.progress === undefined ? "none" : `\`${seen.progress}\``,
    seen === undefined ? "" : seen.keys.map((arrived) => (arrived ? "yes" : "**no**")).join(", "),
    leftOf([...first.left, ...(unasked?.left ?? [])]),
    date,
  ];
}

/** Who asks the user: the client, this server, or nobody. */
function askedBefore(
  tool: string,
  about: "order" | "post",
  { seen, answers, failure, ordered, refusedByItself }: Outcome,
): string {
  if (!ordered && !refusedByItself) return "the client refuses";
  const answer = answers?.find((one) => one.about === about);
  const byServer =
    answer === undefined
      ? []
      : [
          answer.action === "accept"
            ? "this server"
            : `this server: ${answer.action}${answer.afterMs < 100 ? " at once" : ""}`,
        ];
  const byClient = seen?.approved.includes(tool) === true ? ["the client"] : [];
  const by = [...byClient, ...byServer];
  return by.length > 0 ? by.join(", ") : failure === undefined ? "nobody" : "";
}

function resultOf(first: Outcome, unasked: Outcome | undefined): string {
  if (first.failure !== undefined) return `**failed**: ${first.failure.split("\n")[0]}`;
  if (first.published) return "published";
  if (unasked?.published === true) return "published with `off` for both questions; else nothing is ordered";
  return first.ordered ? "ordered, not published" : "nothing is ordered";
}

function leftOf(left: Outcome["left"]): string {
  if (left.length === 0) return "nothing";
  const server = left.some(isServer);
  const own = left.some((one) => !isServer(one));
  return [...(server ? ["**this server**"] : []), ...(own ? ["its own daemon"] : [])].join(", ");
}
