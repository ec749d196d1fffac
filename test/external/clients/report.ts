// The table of docs/CLIENTS.md.

import { TOOLS } from "../../fixtures/tools.ts";
import { table } from "../../../scripts/markdown.ts";
import type { Outcome } from "./outcome.ts";

/** From topic to published, with a render of three minutes, in a client that gives up on a call after one. */
const MAX_CALLS = 7;

/** One application after its runs. */
export interface Row {
  readonly title: string;
  readonly version: string;
  /** The run with the entry as it is printed; absent if the application could not be run. */
  readonly first?: Outcome;
  /** A run with FACELESS_CONFIRM_PUBLISH=off, if the client had answered the question by itself. */
  readonly unasked?: Outcome | undefined;
  readonly notRun?: string;
}

/** True if the job ended as it should, with the tools in the first turn and no server left running. */
export function isGood({ first, unasked }: Row): boolean {
  if (first === undefined || first.failure !== undefined) return false;
  const { published, tools, calls } = unasked ?? first;
  const told = unasked === undefined || isReferred(first);
  const left = [...first.left, ...(unasked?.left ?? [])];
  return published && told && tools === TOOLS.length && calls <= MAX_CALLS && !left.some(isServer);
}

/** True if the model was told where the user reads what to do, and not which setting would do it. */
function isReferred({ lastShown }: Outcome): boolean {
  return lastShown.includes("docs/ERRORS.md") && !lastShown.includes("FACELESS_CONFIRM_PUBLISH");
}

/** Looks at the server's executable and file: other programs may have its name in their paths. */
const isServer = ({ command }: { readonly command: string }) =>
  /npm exec|faceless-video-mcp('|\s|$)|faceless-video-mcp\/dist\//.test(command);

export function reportTable(rows: readonly Row[]): string {
  return table(
    [
      "client",
      "protocol",
      "tools in the first turn",
      "the model is shown",
      "asked before publishing",
      "calls",
      "result",
      "left running",
    ],
    rows.map(cells),
  );
}

function cells({ title, version, first, unasked, notRun }: Row): string[] {
  const name = `${title} ${version}`;
  if (first === undefined) return [name.trim(), "", "", "", "", "", `not run: ${notRun}`, ""];
  const { protocol, tools, shown, elicitation } = first;
  return [
    name,
    protocol,
    `${tools} of ${TOOLS.length}`,
    shown,
    elicitation,
    String((unasked ?? first).calls),
    resultOf(first, unasked),
    leftOf([...first.left, ...(unasked?.left ?? [])]),
  ];
}

function resultOf(first: Outcome, unasked: Outcome | undefined): string {
  if (first.failure !== undefined) return `**failed**: ${first.failure.split("\n")[0]}`;
  if (first.published) return first.asTask ? "published, after a task" : "published";
  if (unasked?.published === true)
    return `published with \`FACELESS_CONFIRM_PUBLISH=off\`; else not, and the model is ${isReferred(first) ? "referred to [ERRORS.md](ERRORS.md)" : "**told something else**"}`;
  return "**not published**";
}

function leftOf(left: Outcome["left"]): string {
  if (left.length === 0) return "nothing";
  const server = left.some(isServer);
  const own = left.some((one) => !isServer(one));
  return [...(server ? ["**this server**"] : []), ...(own ? ["its own daemon"] : [])].join(", ");
}
