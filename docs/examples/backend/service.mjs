// The service's REST API, as far as the backend needs it. Says of each request for a video whether it was carried out.

/** Failures of a connection that was never made: nothing was sent over it. */
const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** The service can ask for no longer pause. A timer of more than 24 days would end at once. */
const MAX_PAUSE_SECONDS = 3_600;
/** The service has read the request and can't do what it asks for. */
const REFUSED = new Set([400, 413, 422]);

/** @param {{ baseUrl: string, apiKey: string }} options */
export function createService({ baseUrl, apiKey }) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  let pausedUntilMs = 0;

  /** After a 429 nothing is sent for as long as the service says. */
  const ready = async () => {
    while (Date.now() < pausedUntilMs) await sleep(pausedUntilMs - Date.now());
  };

  const send = async (path, init) => {
    const response = await fetch(`${baseUrl}/api/v1${path}`, { ...init, headers, redirect: "error" });
    if (response.status === 429) {
      const seconds = Number(response.headers.get("retry-after") ?? 60);
      pausedUntilMs = Date.now() + 1_000 * Math.min(seconds > 0 ? seconds : 60, MAX_PAUSE_SECONDS);
    }
    return response;
  };

  const read = async (path) => {
    await ready();
    const response = await send(path, { signal: AbortSignal.timeout(20_000) }).catch((error) => {
      throw new Error(`The service at ${baseUrl} can't be reached (${failureCode(error)}).`, {
        cause: error,
      });
    });
    if (!response.ok)
      throw Object.assign(new Error(`The service answered ${response.status}.`), { status: response.status });
    return response.json();
  };

  return {
    ready,

    /**
     * Asks for a video, once.
     *
     * - started: it is paid for and rendering.
     * - rejected: it was not carried out, and may be asked for again.
     * - refused: it was not carried out, and never will be.
     * - unanswered: nobody knows. It may be paid for, so it must not be asked for again.
     */
    async generate(request, signal) {
      let response;
      try {
        response = await send("/generate", { method: "POST", body: JSON.stringify(request), signal });
      } catch (error) {
        const code = failureCode(error);
        return { outcome: NOT_SENT.has(code) ? "rejected" : "unanswered", problem: code };
      }
      const body = await response.json().catch(() => undefined);
      const problem = `${response.status} ${body?.error?.code ?? ""}`.trim();
      if (response.ok && typeof body?.jobId === "string") return { outcome: "started", jobId: body.jobId };
      if (REFUSED.has(response.status)) return { outcome: "refused", problem };
      // Of a 408, a 499 or a 5xx nobody knows what came before it.
      const isKnown =
        response.status >= 400 && response.status < 500 && ![408, 499].includes(response.status);
      return { outcome: isKnown ? "rejected" : "unanswered", problem };
    },

    /** The newest videos: a hundred, or as many as the service gives where it refuses that limit. */
    async videos() {
      const page = await read("/videos?limit=100").catch((error) => {
        if (!REFUSED.has(error.status)) throw error;
        return read("/videos");
      });
      return page.videos;
    },

    /** One that is no longer among them. */
    async status(jobId) {
      return (await read(`/status/${jobId}`)).status;
    },
  };
}

function failureCode(error) {
  return String(error.cause?.code ?? error.name);
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
