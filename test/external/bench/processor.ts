// Reads the processor time of a server, which the load of the machine doesn't change as much as the clock's.

import { once } from "node:events";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { RawServer } from "../../fixtures/raw-server.ts";

/** Starts a server so that its processor time can be read. */
export const MEASURED = {
  nodeArgs: ["--require", fileURLToPath(new URL("processor.cjs", import.meta.url))],
  ipc: true,
} as const;

const timesSchema = z.object({ listed: z.number(), total: z.number() });

/** Milliseconds of all threads: until the tools were listed, and until now. */
export async function processorTime({ child }: RawServer): Promise<z.infer<typeof timesSchema>> {
  const answer = once(child, "message");
  child.send("processor time");
  const [times]: unknown[] = await answer;
  return timesSchema.parse(times);
}
