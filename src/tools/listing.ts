// What a list of tools depends on, without the tools: the settings and the client. It is answered before those load.

import type { Config } from "../config.ts";
import type { Effect } from "../errors.ts";

/** Most clients give up on a call after 60 s, and the service's answer takes time in addition to the wait. */
export const USUAL_WAIT_SECONDS = 50;

/** The part of waitSeconds' schema that depends on the client. */
export function waitLimit(maxSeconds: number) {
  return { maximum: maxSeconds, description: `Seconds to wait; ${maxSeconds} works well` };
}

/** Leaves out the tools that the operator has hidden. */
export function offered<Of extends { readonly effect: Effect }>(
  tools: readonly Of[],
  { readOnly, noPublish }: Pick<Config, "readOnly" | "noPublish">,
): readonly Of[] {
  return tools.filter(
    ({ effect }) => effect === "reads" || (!readOnly && !(noPublish && effect === "publishes")),
  );
}
