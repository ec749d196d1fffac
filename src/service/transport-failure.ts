// How a request can fail before there is a whole answer. Apart from http.ts, so that knowing it loads no undici.

export type FailureKind = "timeout" | "cancelled" | "too_large" | "network";

/** No usable answer. `sent` is false only where no byte of the request can have left. */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";
  readonly kind: FailureKind;
  readonly sent: boolean;
  /** The status line, where one had arrived before the body failed. */
  readonly status: number | undefined;
  /** What the network said, such as ECONNREFUSED. */
  readonly reason: string;

  constructor(
    facts: { kind: FailureKind; sent: boolean; reason: string; status?: number | undefined },
    cause?: unknown,
  ) {
    super(`${facts.kind}: ${facts.reason}`, { cause });
    this.kind = facts.kind;
    this.sent = facts.sent;
    this.reason = facts.reason;
    this.status = facts.status;
  }
}

/** In words for a person. Says nothing of whether the request had left: the same codes occur before and after that. */
export function describeNetworkError(error: unknown): [FailureKind, string] {
  if (!(error instanceof Error)) return ["network", "unknown failure"];
  // Node's own errors and undici's carry a string; a DOMException carries a number.
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  switch (code) {
    case "UND_ERR_CONNECT_TIMEOUT":
      return ["timeout", "no connection within 5 s"];
    case "UND_ERR_HEADERS_TIMEOUT":
      return ["timeout", "no answer in time"];
    case "UND_ERR_BODY_TIMEOUT":
      return ["timeout", "the answer stopped arriving"];
    case "UND_ERR_RES_EXCEEDED_MAX_SIZE":
      return ["too_large", "the answer is larger than 4 MB"];
    case "UND_ERR_HEADERS_OVERFLOW":
      return ["too_large", "the headers of the answer are larger than 16 kB"];
    case "UND_ERR_ABORTED":
      return ["network", "the proxy refused the connection"];
    case "ERR_PROXY_DROPPED":
      return ["network", "the proxy broke the connection off"];
    case "ECONNREFUSED":
      return ["network", "connection refused (ECONNREFUSED)"];
    case "ECONNRESET":
    case "UND_ERR_SOCKET":
      return ["network", `the connection was broken off (${code})`];
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return ["network", `the host name could not be resolved (${code})`];
    default:
      if (error.name === "HTTPParserError") return ["network", "the answer is no HTTP"];
      return [
        "network",
        /CERT|SSL|TLS|ALTNAME|SIGNATURE|EPROTO/.test(code)
          ? `TLS failed (${code})`
          : `the connection failed (${code})`,
      ];
  }
}
