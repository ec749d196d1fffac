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
