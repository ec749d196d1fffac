// A server whose client asks its user before each order, in either protocol. The user says yes, yes to a series, no, or
// nothing, and this keeps what they said: no order may be sent without a yes to it or to a series that lasts.

import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernPipes } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyPipes } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import type { Random } from "../../fixtures/durations.ts";

const HANG_MS = 60_000;
const MAX_ANSWER_MS = 1_000;
/** The server knows of an answer a moment later. */
const GRACE_MS = 1_000;
const formSchema = z.object({
  message: z.string(),
  requestedSchema: z.object({
    properties: z.object({
      decision: z.object({ enum: z.tuple([z.string(), z.string()]).rest(z.string()) }),
    }),
  }),
});
const resultSchema = z.looseObject({
  isError: z.boolean().optional(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
});

type Choice = "yes" | "series" | "no" | "decline" | "cancel" | "nothing";

/** The times at which a yes to a series was given and ended. */
interface Series {
  readonly fromMs: number;
  toMs: number;
}

export type AskingClient = Awaited<ReturnType<typeof connectAskingClient>>;

export async function connectAskingClient(
  era: "legacy" | "modern",
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  random: Random,
) {
  const answers: { readonly message: string; readonly choice: Choice; readonly atMs: number }[] = [];
  const series: Series[] = [];
  const endSeries = () => {
    const last = series.at(-1);
    if (last !== undefined) last.toMs = Math.min(last.toMs, performance.now());
  };
  const user = async (params: unknown) => {
    const { message, requestedSchema } = formSchema.parse(params);
    const [no, yes, all = yes] = requestedSchema.properties.decision.enum;
    await sleep(random() * MAX_ANSWER_MS);
    const luck = random();
    const choice: Choice =
      luck < 0.3
        ? "yes"
        : luck < 0.55
          ? "series"
          : luck < 0.7
            ? "no"
            : luck < 0.8
              ? "decline"
              : luck < 0.9
                ? "cancel"
                : "nothing";
    answers.push({ message, choice, atMs: performance.now() });
    if (choice !== "yes" && choice !== "series") endSeries();
    // A repeat offers no series.
    else if (choice === "series" && all !== yes) series.push({ fromMs: performance.now(), toMs: Infinity });
    const accept = (decision: string) => ({ action: "accept" as const, content: { decision } });
    const nothing = { action: "accept" as const, content: {} };
    const given = { yes: accept(yes), series: accept(all), no: accept(no), nothing };
    return choice === "decline" || choice === "cancel" ? { action: choice } : given[choice];
  };
  const [program, ...args] = [...command, BUILT_FILE] as const;
  const start = {
    command: program,
    args,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stderr: "ignore" as const,
  };
  const info = { name: "stress", version: "1" };
  const capabilities = { elicitation: {} };
  const connect = async () => {
    if (era === "modern") {
      const client = new ModernClient(info, { versionNegotiation: { mode: "auto" }, capabilities });
      client.setRequestHandler("elicitation/create", ({ params }) => user(params));
      await client.connect(new ModernPipes(start));
      return client;
    }
    const client = new LegacyClient(info, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => user(params));
    await client.connect(new LegacyPipes(start));
    return client;
  };
  const client = await connect();
  return {
    /** The result's fields; undefined if the call failed. */
    async call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown> | undefined> {
      const options = { timeout: HANG_MS };
      const params = { name, arguments: args };
      const called =
        client instanceof ModernClient
          ? client.callTool(params, options)
          : client.callTool(params, undefined, options);
      const { isError = false, structuredContent } = resultSchema.parse(await called);
      return isError ? undefined : structuredContent;
    },
    /**
     * Why an order with these first words, begun and sent at these times, must not have been sent; undefined if it may.
     * A series covers no repeat.
     */
    faultOf(title: string, begunMs: number, sentMs: number, isRepeat: boolean): string | undefined {
      const own = answers.filter(
        ({ message, atMs }) => message.includes(title) && atMs >= begunMs && atMs <= sentMs,
      );
      if (own.some(({ choice }) => choice === "yes" || choice === "series")) return undefined;
      const [first] = own;
      if (first !== undefined) return `sent after the user's answer "${first.choice}"`;
      const isCovered = series.some(({ fromMs, toMs }) => fromMs <= sentMs && toMs + GRACE_MS >= begunMs);
      return isCovered && !isRepeat ? undefined : "sent though the user was not asked and no series lasted";
    },
    close: () => client.close(),
  };
}
