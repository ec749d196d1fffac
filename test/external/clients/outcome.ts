// The outcome of a run: from what the model was offered and shown, and from the messages.

import { ownName } from "./job.ts";
import type { LeftProcess } from "./processes.ts";
import type { Turn } from "./scripted-model.ts";
import {
  type Answer,
  answersOf,
  canAsk,
  longestWaitSeconds,
  protocolOf,
  type ServerRun,
  toolCalls,
} from "./wire.ts";

/** What was seen in a terminal. */
export interface Seen {
  /** The tools before which the client itself asked its user. */
  readonly approved: readonly string[];
  /** What it showed of the progress while it waited. */
  readonly progress: string | undefined;
  /** True if the first session's key arrived in it; the same for the second session. */
  readonly keys: readonly [boolean, boolean];
}

export interface Outcome {
  readonly protocol: string;
  /** How many of this server's tools the first turn offered. */
  readonly tools: number;
  readonly shown: string;
  /** True if the video was started as a task, which the client follows by itself. */
  readonly asTask: boolean;
  /** How this server's questions were answered; undefined if the client can't ask. */
  readonly answers: readonly Answer[] | undefined;
  /** True if the client answered a question by itself, and no user did. */
  readonly refusedByItself: boolean;
  readonly ordered: boolean;
  readonly longestWaitSeconds: number;
  readonly seen: Seen | undefined;
  readonly published: boolean;
  /** From topic to published. */
  readonly calls: number;
  readonly lastShown: string;
  readonly left: readonly LeftProcess[];
  /** The error of a step that the user could not do. */
  readonly failure: string | undefined;
}

export function outcomeOf(
  turns: readonly Turn[],
  runs: readonly ServerRun[],
  left: readonly LeftProcess[],
  { failure, seen }: { readonly failure?: string | undefined; readonly seen?: Seen | undefined },
): Outcome {
  const run = runs.find((one) => toolCalls(one).length > 0) ?? runs[0] ?? [];
  const offered = (turns[0]?.tools ?? []).filter((tool) => ownName(tool) !== undefined);
  const answers = canAsk(run) ? answersOf(run) : undefined;
  return {
    protocol: protocolOf(run),
    tools: offered.length,
    shown: shownOf(turns, run),
    asTask: startedAsTask(run),
    answers,
    refusedByItself: answers?.some(({ action }) => action !== "accept") === true,
    ordered: isOrdered(run),
    longestWaitSeconds: longestWaitSeconds(run),
    seen,
    published: isPublished(run),
    calls: toolCalls(run).length,
    lastShown: turns.at(-1)?.calls.at(-1)?.shown ?? "",
    left,
    failure,
  };
}

/** Compares a result, which has both forms, with what the model was shown of it. */
function shownOf(turns: readonly Turn[], run: ServerRun): string {
  const tool = "list_connected_platforms";
  const shown = turns.flatMap(({ calls }) => calls).find((call) => ownName(call.tool) === tool)?.shown;
  const result = toolCalls(run).find((call) => call.tool === tool)?.result;
  if (shown === undefined || result === undefined) return "nothing";
  const plain = unescaped(shown);
  const [sentences = ""] = result.content[0]?.text?.split("\n") ?? [];
  const summary = String(result.structuredContent?.["summary"]);
  const hasText = plain.includes(`${unescaped(sentences)}\n{`);
  const hasStructure = plain.includes(`"summary":"${unescaped(summary)}`);
  if (hasText && hasStructure) return "text and structure";
  return hasText ? "text" : hasStructure ? "structure" : "neither";
}

/** Some clients show JSON within JSON. */
function unescaped(text: string): string {
  return text.replaceAll(/\\+n/g, "\n").replaceAll("\\", "");
}

export function startedAsTask(run: ServerRun): boolean {
  const call = toolCalls(run).find(({ tool }) => tool === "generate_video");
  return call?.result?.["resultType"] === "task" || call?.result?.["task"] !== undefined;
}

function isOrdered(run: ServerRun): boolean {
  return toolCalls(run).some(
    ({ tool, result }) =>
      tool === "generate_video" && (result?.structuredContent?.["jobId"] !== undefined || startedAsTask(run)),
  );
}

function isPublished(run: ServerRun): boolean {
  return toolCalls(run).some(({ tool, result }) => {
    const results = JSON.stringify(result?.structuredContent?.["results"] ?? []);
    return tool === "publish_video" && results.includes('"ok":true');
  });
}
