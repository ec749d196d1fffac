// The service's operations. REST, MCP and the OpenAPI document are made from this one list. Written from the
// service's documentation, never from the client's schemas.

import { z } from "zod";
import type { Account } from "./account.ts";
import { ServiceError } from "./service-error.ts";

export interface Operation<Input extends z.ZodObject = z.ZodObject> {
  /** The name of the MCP tool. */
  readonly name: string;
  readonly summary: string;
  /** The body, or the parameters in path and query. */
  readonly input: Input;
  /** Absent if only MCP has the operation. */
  readonly endpoint?: Endpoint;
  // A method, so that operations of different inputs fit in one list.
  run(account: Account, input: z.output<Input>): object;
}

/** The path comes after /api/v1, with parameters in braces; the status is that of a successful answer. */
export type Endpoint = readonly [method: "GET" | "POST", path: string, status: number];

/** Binds the type of the input to that of `run`. */
function operation<Input extends z.ZodObject>(declared: Operation<Input>): Operation {
  return declared;
}

// The ids of native voices are not documented, so anything that looks like an id is accepted.
const VOICE_PATTERN = /^(?:clone:[A-Za-z0-9_-]+|[a-z0-9]+(?:[-_][a-z0-9]+)*)$/;
const PLATFORM_PATTERN = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;

export const OPERATIONS: readonly Operation[] = [
  operation({
    name: "generate_video",
    summary: "Start the generation of a video; costs one credit",
    input: z.strictObject({
      topic: z.string().refine((text) => text.trim() !== "", "must not be empty"),
      language: z
        .string()
        .regex(/^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i, "must be a BCP-47 language code, for example en or pt-BR")
        .default("en"),
      duration: z.number().min(10).max(90).default(30).describe("seconds"),
      style: z.enum(["story", "education", "documentary", "asmr", "brainrot", "ugc"]).default("story"),
      voice: z
        .string()
        .regex(VOICE_PATTERN, "must be a catalog id, a native voice's id, or clone:<id>")
        .default("charlotte")
        .describe(
          "adam, charlotte, will, audrey, bryan, jett, amber, vanessa, kai, a native voice, or clone:<id>",
        ),
      music: z.enum(["none", "cinematic", "upbeat", "educational", "dramatic"]).default("none"),
      pacing: z.enum(["slow", "normal", "fast"]).default("normal"),
    }),
    endpoint: ["POST", "/generate", 201],
    run: (account, input) => account.generate(input),
  }),
  operation({
    name: "get_video_status",
    summary: "The status and clips of a job",
    input: z.object({ jobId: z.string().min(1) }),
    endpoint: ["GET", "/status/{jobId}", 200],
    run: (account, { jobId }) => account.status(jobId),
  }),
  operation({
    name: "publish_video",
    summary: "Publish a completed video to connected platforms",
    input: z.strictObject({
      jobId: z.string().min(1),
      platforms: z
        .array(z.string().regex(PLATFORM_PATTERN, "must be a lowercase platform identifier"))
        .min(1),
    }),
    endpoint: ["POST", "/publish", 200],
    run: (account, input) => account.publish(input),
  }),
  operation({
    name: "list_videos",
    summary: "The account's videos, newest first",
    input: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(20),
      cursor: z.iso.datetime().optional().describe("nextCursor of the previous page"),
    }),
    endpoint: ["GET", "/videos", 200],
    run: (account, input) => account.videos(input),
  }),
  operation({
    name: "list_connected_platforms",
    summary: "The platforms that the account can publish to",
    input: z.object({}),
    run: (account) => account.platforms(),
  }),
];

/** Carries an operation out. Throws a 400 whose message begins with the name of the wrong field. */
export function carryOut({ input, run }: Operation, account: Account, given: unknown): object {
  const { success, data, error } = input.safeParse(given);
  if (success) return run(account, data);
  throw new ServiceError(400, "invalid_request", error.issues.map(describeIssue).join("; "));
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `${key}: unknown field`).join("; ");
  return `${issue.path.length > 0 ? issue.path.join(".") : "body"}: ${issue.message}`;
}
