// Reads what our server answers, which it has checked. Hosts may strip a result's structure and _meta.

import type { FieldName } from "../../../service/fields.ts";
import { type Failure, type FailureMeta, failureOf, type Host, type Params } from "./host.ts";

/** The arguments of generate_video, as a model may write them, or as the server has read them. */
export interface Order {
  readonly topic?: string;
  readonly duration?: number | string;
  readonly style?: string;
  readonly language?: string;
  readonly voice?: string;
}

/** Refuses a field that no result has. */
type Known<Shape extends { readonly [Name in keyof Shape]: Name extends FieldName ? unknown : never }> =
  Shape;

/** A job, as its resource and get_video_status show it. */
export type Job = Known<{
  readonly jobId: string;
  readonly status: string;
  readonly done: boolean;
  readonly videoUrls: readonly string[];
  readonly finalVideoUrl?: string;
  readonly progress?: { readonly total?: number; readonly completed?: number; readonly failed?: number };
  readonly savedTo?: string;
  readonly publishedTo?: readonly Post[];
  readonly arguments?: Order;
  /** Why the server no longer polls it. */
  readonly followingEnded?: string;
}>;

/** A post on a platform, as the job or a result of publish_video names it. */
export interface Post {
  readonly platform: string;
  readonly url?: string;
  /** It may have been posted. */
  readonly unknown?: true;
  readonly ok?: boolean;
}

export interface Account {
  readonly platform: string;
  readonly account?: unknown;
}

/** The fields of tool results that the card looks at. */
export interface Answer extends Pick<Failure, "outcome"> {
  readonly summary?: string;
  readonly jobId?: string;
  readonly videos?: readonly (Pick<Job, "jobId"> & Order & { readonly ageSeconds?: number })[];
  readonly platforms?: readonly Account[];
  readonly results?: readonly Post[];
}

export interface ToolResult {
  readonly _meta?: FailureMeta;
  readonly content?: readonly { readonly text?: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: Answer;
  readonly resultType?: string;
}

// The values that are cast below come from our own server, or are errors.
/* eslint-disable typescript/no-unsafe-type-assertion */

/** Rejects with a Failure. */
export async function callTool(host: Host, name: string, args: Params = {}): Promise<Answer> {
  return answerOf((await host.request("tools/call", { name, arguments: args })) as ToolResult);
}

/** Reads the job's resource, which is answered from polls, or calls the tool if the host reads no resources. */
export async function readJob(host: Host, jobId: string, readsResources: boolean): Promise<Job> {
  if (!readsResources) return callTool(host, "get_video_status", { jobId }) as Promise<Job>;
  const uri = `faceless://jobs/${encodeURIComponent(jobId)}`;
  const { contents } = (await host.request("resources/read", { uri })) as { contents: [{ text: string }] };
  return JSON.parse(contents[0].text) as Job;
}

/** The structure of a result, which is in its text too. Throws a Failure. */
export function answerOf({ content, isError, structuredContent, resultType, _meta }: ToolResult): Answer {
  // The modern protocol's question to the user, which this host doesn't put for the card.
  if (resultType === "input_required") throw new Error("Your app can't ask you here. Do it in the chat.");
  if (isError === true) throw failureOf(_meta);
  const [summary = "", json = "{}"] = content?.[0]?.text?.split("\n") ?? [];
  return structuredContent ?? { summary, ...(JSON.parse(json) as Answer) };
}
