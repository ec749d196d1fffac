// The host of the card: JSON-RPC over postMessage, as MCP Apps specifies it. The card calls our server through
// it, which has checked its answers. Hosts may strip a result's structure and _meta.

import type { FieldName } from "../../../service/fields.ts";
import { jobUri } from "../../../service/job.ts";

/** The parameters of a message; the receiver checks what it needs. */
type Params = Readonly<Record<string, unknown>>;

export interface Failure {
  readonly message: string;
  /** What became of the request; undefined if the host has stripped _meta. */
  readonly outcome?: "not_sent" | "rejected" | "unknown" | undefined;
}

type FailureMeta = Partial<{ "faceless/error": Partial<Failure>; "faceless/person": string }>;

/** A message of JSON-RPC, which a host is trusted to send. */
interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: unknown;
  readonly error?: { readonly data?: FailureMeta };
}

export type Host = ReturnType<typeof connectHost>;

/** Handles messages by their method's last part from now on. The host's requests get an empty result. */
export function connectHost(handlers: Readonly<Record<string, (params: Params) => void>>) {
  const pending = new Map<unknown, (message: Message) => void>();
  let lastId = 0;
  const post = (message: object) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  addEventListener("message", ({ source, data }: MessageEvent<Message | undefined>) => {
    if (source !== parent || data === undefined) return;
    const { id, method, params } = data;
    if (method !== undefined) {
      handlers[method.replace(/.*\//, "")]?.(params ?? {});
      if (id !== undefined) post({ id, result: {} });
    } else {
      pending.get(id)?.(data);
      pending.delete(id);
    }
  });

  return {
    /** Rejects with a Failure. */
    request: (method: string, params: Params) =>
      new Promise<unknown>((resolve, reject) => {
        lastId += 1;
        pending.set(lastId, ({ result, error }) => {
          if (error === undefined) resolve(result);
          else reject(failureOf(error.data));
        });
        post({ id: lastId, method, params });
      }),
    /** Takes the name without the prefix that all notifications share. */
    notify: (name: string, params: Params) => post({ method: `ui/notifications/${name}`, params }),
  };
}

/** A Failure in words for a person. Never in those for the model, which a host may pass on alone. */
function failureOf(meta: FailureMeta = {}): Error {
  const words = meta["faceless/person"] ?? "The call failed. Ask in the chat for the reason.";
  return Object.assign(new Error(words), meta["faceless/error"]);
}

/** The arguments of generate_video, as a model may write them, or as the server has read them. */
export type Order = Readonly<
  Partial<Record<"topic" | "style" | "language" | "voice", string> & { duration: number | string }>
>;

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

interface ToolResult {
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
  const read = await host.request("resources/read", { uri: jobUri(jobId) });
  const { contents } = read as { readonly contents: readonly [{ readonly text: string }] };
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
