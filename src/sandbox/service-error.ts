// A refusal of the service: an HTTP status, and the code and message of the documented error envelope.
// Knows neither node:http nor MCP: REST and MCP each turn it into an answer of their own.

export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  readonly code: string;
  /** Extra response headers, such as Retry-After. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  envelope() {
    return { error: { code: this.code, message: this.message } };
  }
}

export function rateLimited(waitMs: number): ServiceError {
  const seconds = Math.ceil(waitMs / 1000);
  const unit = seconds === 1 ? "second" : "seconds";
  const message = `Too many requests. Try again in ${seconds} ${unit}.`;
  return new ServiceError(429, "rate_limited", message, { "Retry-After": String(seconds) });
}
