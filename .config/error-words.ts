// What docs/ERRORS.md says of each error code: one that is missing here does not compile.

import type { ErrorCode } from "../src/errors.ts";

interface ErrorWords {
  readonly what: string;
  readonly why: string;
  readonly todo: string;
}

/** Markdown without a bar. */
export const ERROR_WORDS: Record<ErrorCode, ErrorWords> = {
  invalid_input: {
    what: "The arguments can't be used; nothing was sent",
    why: "One is missing, unknown or out of its bounds, or the service is known to allow less",
    todo: "Correct what the text names",
  },
  not_configured: {
    what: "The server is not set up; nothing was sent",
    why: "A setting is missing or unusable",
    todo: "Set what the text names and restart the server, or start it with `--sandbox`, which needs no settings",
  },
  limit_reached: {
    what: "A limit of this server forbids the call; nothing was sent",
    why: "`FACELESS_MAX_GENERATIONS` videos were started, or 200 jobs are watched",
    todo: "Videos: only the person can raise the limit. Jobs: end another subscription, or ask with `get_video_status`",
  },
  duplicate: {
    what: "A paid or public call was held back; nothing was sent",
    why: "The same one left in the last ten minutes, and nobody knows what became of it",
    todo: "Look with `list_videos`, or at the accounts. Another video: `confirmDuplicate: true`, only if the person wants it. Another post: after `retryAfterSeconds`",
  },
  declined: {
    what: "Nobody agreed to publish; nothing was sent",
    why: "The person said no or nothing, or their client turned the question down without showing it",
    todo: "Ask them what they would like. If it was the client, the text says so, and the same call again goes through; `FACELESS_CONFIRM_PUBLISH=off` ends the questions",
  },
  unauthorized: {
    what: "The service refused the key",
    why: "401: it does not accept the key. 403: the key may not do this",
    todo: "Check `FACELESS_API_KEY` in the account settings, section API, and restart the server",
  },
  out_of_credits: {
    what: "The service turned the call down",
    why: "The account has no credits left",
    todo: "Add credits, then call again",
  },
  not_found: {
    what: "The service has nothing there",
    why: "It knows no such job, or `FACELESS_BASE_URL` leads elsewhere",
    todo: "Take the `jobId` unchanged from `generate_video` or `list_videos`; check `FACELESS_BASE_URL`",
  },
  rate_limited: {
    what: "Too many requests for now",
    why: "The service said so (429), or its allowance is known to be used up and nothing was sent",
    todo: "Wait as long as `retryAfterSeconds` says, or a minute",
  },
  refused: {
    what: "The service said no",
    why: "Another 4xx, such as a video that is not ready to be published, or its MCP endpoint would not list the platforms",
    todo: "Change what the service's words object to",
  },
  service_failed: {
    what: "The service failed",
    why: "It, or a gateway before it, answered 408 or 5xx",
    todo: "A read: try again in a minute. A paid or public call: look first, as the text says",
  },
  redirected: {
    what: "The service answered with a redirect, which is never followed",
    why: "`FACELESS_BASE_URL` is not where the service is, and the key goes to one origin only",
    todo: "Set `FACELESS_BASE_URL` to the address that it really answers at. A paid or public call: look first",
  },
  bad_answer: {
    what: "The answer can't be used",
    why: "It is no JSON, not as documented, or larger than 4 MB: often another program's, at a wrong address",
    todo: "Check `FACELESS_BASE_URL`. A paid or public call: look first",
  },
  timeout: {
    what: "No answer in time",
    why: "The service or the network is slow, or no connection came about",
    todo: "A read, or a call that never left: try again. A paid or public call that left: look first",
  },
  network: {
    what: "No connection, or it broke",
    why: "The name, the proxy, TLS or the network failed; the text says which",
    todo: "Run `faceless-video-mcp doctor`. A paid or public call that left: look first",
  },
  paging_loop: {
    what: "The list would be continued by itself for ever",
    why: "The service gave back the cursor that was sent: it does not know the paging parameter",
    todo: "List without `cursor` and with a larger `limit`",
  },
  cancelled: {
    what: "The call ended without a result",
    why: "The caller withdrew it",
    todo: "Call again if it is still wanted. A paid or public call that left: look first",
  },
  internal: {
    what: "This bridge itself failed",
    why: "A fault in its code",
    todo: "Report it, with the log at `FACELESS_LOG_LEVEL=debug`",
  },
};
