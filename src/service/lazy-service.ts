// A Service that is made by its first call: the sandbox has to start before it, or a setting is missing and every call has to
// say so.

import { BridgeError, toBridgeError } from "../errors.ts";
import { lazy } from "../lazy.ts";
import type { ConfigProblem } from "../config.ts";
import type { Service } from "./client.ts";

/** Calls `load` at the first operation, and again after a failure, which becomes a BridgeError: nothing was sent. */
export function lazyService(load: () => Promise<Service>): Service {
  let loaded: Service | undefined;
  let closed = false;
  const get = lazy(async () => {
    try {
      loaded = await load();
    } catch (error) {
      throw toBridgeError(error, "not_sent");
    }
    if (closed) loaded.close();
    return loaded;
  });
  return {
    generate: async (request, options) => (await get()).generate(request, options),
    getJob: async (jobId, options) => (await get()).getJob(jobId, options),
    publish: async (request, options) => (await get()).publish(request, options),
    listVideos: async (query, options) => (await get()).listVideos(query, options),
    listNewestVideos: async (options) => (await get()).listNewestVideos(options),
    listConnectedPlatforms: async (options) => (await get()).listConnectedPlatforms(options),
    origin: async () => (await get()).origin(),
    backgroundWaitMs: () => loaded?.backgroundWaitMs() ?? 0,
    hasSpareRequests: () => loaded?.hasSpareRequests() ?? true,
    close() {
      closed = true;
      loaded?.close();
    },
  };
}

/** A Service that answers every call with what has to be set, and how. */
export function unconfiguredService(problems: readonly ConfigProblem[]): Service {
  const list = problems.map(({ variable, problem }) => `${variable} ${problem}`).join("; ");
  const fixes = problems.map(({ variable, fix }) => `${variable}: ${fix}.`).join(" ");
  const error = new BridgeError({
    code: "not_configured",
    message: `This server is not set up: ${list}.`,
    nextStep: `${fixes} Then restart this server. To try it without an account, start it with --sandbox.`,
    outcome: "not_sent",
    retryable: false,
    failsAgain: true,
  });
  return lazyService(() => Promise.reject(error));
}
