// What a tool is: one declarative object in one file, and the one way to run it: refuse bad input before anything is sent,
// run, check the result once. Knows neither the SDK nor how the service is reached.

import type * as z from "zod";
import { BridgeError, type Effect } from "../errors.ts";
import type { JobReader } from "../jobs/job-reader.ts";
import type { PaidRequests } from "../jobs/paid-requests.ts";
import type { JobStore } from "../jobs/job-store.ts";
import type { Service } from "../service/client.ts";
import type { Job } from "../service/schemas.ts";
import type { GenerationLimit } from "./generation-limit.ts";

/** What the application lends to a tool. */
export interface ToolContext {
  readonly service: Service;
  readonly jobs: JobStore;
  readonly reader: JobReader;
  readonly paid: PaidRequests;
  readonly generationLimit: GenerationLimit;
  readonly signal: AbortSignal;
  /** Waits for a job to end, at the most so long; gives it back as it then stands. Reports progress to who called. */
  waitForEnd(job: Job, forMs: number, describe: (job: Job) => string): Promise<Job>;
  /**
   * Whether the person agrees: `unasked` where their client can't ask them. Throws to have them asked, whereupon the tool runs
   * again, and a BridgeError when they said no. `key` tells one question from another.
   */
  confirm(question: { readonly key: string; readonly message: string }): "yes" | "unasked";
}

export interface ToolOutcome<Result> {
  /** One plain sentence for the person or model. */
  readonly sentence: string;
  readonly result: Result;
}

export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  /** What a call that fails may have done. */
  readonly effect: Effect;
  /** Made when the first call needs it: a list of tools is answered without. */
  readonly input: () => Input;
  /** Loose: the service's extra fields pass through. */
  readonly output: () => Output;
  // A method, so that tools of different inputs fit in one list.
  run(input: z.output<Input>, context: ToolContext): Promise<ToolOutcome<z.input<Output>>>;
}

/** Binds the types of the schemas to those of `run`. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  return { ...tool, input: once(tool.input), output: once(tool.output) };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Runs a tool on arguments as they came. Throws a BridgeError for bad input, and whatever `run` throws. */
export async function runTool(
  tool: Tool,
  args: unknown,
  context: ToolContext,
): Promise<ToolOutcome<Record<string, unknown>>> {
  const parsed = tool.input().safeParse(args ?? {});
  if (!parsed.success) throw inputError(tool, parsed.error);
  const { sentence, result } = await tool.run(parsed.data, context);
  const checked = tool.output().safeParse(result);
  if (!checked.success)
    throw new TypeError(`${tool.name} made a result that its own schema refuses: ${checked.error.message}`);
  return { sentence, result: checked.data };
}

function inputError(tool: Tool, error: z.ZodError): BridgeError {
  const known = Object.keys(tool.input().shape);
  const problems = error.issues.map((issue) => {
    if (issue.code === "unrecognized_keys")
      return `${issue.keys.map((key) => JSON.stringify(key)).join(", ")} ${issue.keys.length === 1 ? "is no argument" : "are no arguments"} of ${tool.name} (its arguments: ${known.join(", ")})`;
    const where = issue.path.map(String).join(".");
    return where === "" ? issue.message : `${where}: ${issue.message}`;
  });
  return new BridgeError({
    code: "invalid_input",
    message: `The arguments of ${tool.name} can't be used: ${problems.join("; ")}.`,
    nextStep: "Correct them, then call again.",
    outcome: "not_sent",
    retryable: false,
  });
}
