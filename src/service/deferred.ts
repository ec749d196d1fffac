// A Service that comes into being with the first call: the sandbox has to start first, or a setting is missing and every
// call has to say so.

import { BridgeError } from "../errors.ts";
import type { SettingProblem } from "../settings.ts";
import type { Service } from "./client.ts";

/** Calls `load` once, at the first operation. */
export function deferService(load: () => Promise<Service>): Service {
  let loading: Promise<Service> | undefined;
  let closed = false;
  const get = () =>
    (loading ??= load().then((service) => {
      if (closed) service.close();
      return service;
    }));
  return {
    generate: async (request, options) => (await get()).generate(request, options),
    getJob: async (jobId, options) => (await get()).getJob(jobId, options),
    publish: async (request, options) => (await get()).publish(request, options),
    listVideos: async (query, options) => (await get()).listVideos(query, options),
    listConnectedPlatforms: async (options) => (await get()).listConnectedPlatforms(options),
    close() {
      closed = true;
      void loading?.then(
        (service) => service.close(),
        () => {},
      );
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
