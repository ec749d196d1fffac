// A Service that comes into being with the first call: the sandbox has to start first, or a setting is missing and every
// call has to say so.

import { BridgeError, toBridgeError } from "../errors.ts";
import type { SettingProblem } from "../settings.ts";
import type { Service } from "./client.ts";

/**
 * Calls `load` at the first operation, and again at a later one only if it failed. What it rejects with becomes a
 * BridgeError: nothing was sent.
 */
export function deferService(load: () => Promise<Service>): Service {
  let loading: Promise<Service> | undefined;
  let loaded: Service | undefined;
  let closed = false;
  const get = () =>
    (loading ??= load().then(
      (service) => {
        loaded = service;
        if (closed) service.close();
        return service;
      },
      (error: unknown) => {
        loading = undefined;
        throw toBridgeError(error, "not_sent");
      },
    ));
  return {
    generate: async (request, options) => (await get()).generate(request, options),
    getJob: async (jobId, options) => (await get()).getJob(jobId, options),
    publish: async (request, options) => (await get()).publish(request, options),
    listVideos: async (query, options) => (await get()).listVideos(query, options),
    listConnectedPlatforms: async (options) => (await get()).listConnectedPlatforms(options),
    listing: () => loaded?.listing() ?? { maxLimit: 100, canPage: false },
    backgroundWaitMs: () => loaded?.backgroundWaitMs() ?? 0,
    close() {
      closed = true;
      loaded?.close();
    },
  };
}

/** A Service that answers every call with what has to be set, and how. */
export function unconfiguredService(problems: readonly SettingProblem[]): Service {
  const list = problems.map(({ variable, problem }) => `${variable} ${problem}`).join("; ");
  const remedies = problems.map(({ variable, remedy }) => `${variable}: ${remedy}.`).join(" ");
  const error = new BridgeError({
    code: "not_configured",
    message: `This server is not set up: ${list}.`,
    nextStep: `${remedies} Then restart this server. To try it without an account, start it with --sandbox.`,
    outcome: "not_sent",
    retryable: false,
  });
  return deferService(() => Promise.reject(error));
}
