// A refusal of the service: an HTTP status, and the code and message of the documented error envelope.
// Knows neither node:http nor MCP: REST and MCP each turn it into an answer of their own.

export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  readonly code: string;
  /** Extra response headers, such as Retry-After or Allow. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export function envelope({ code, message }: ServiceError) {
  return { error: { code, message } };
}

export function rateLimited(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    429,
    "rate_limited",
    `Too many requests. Try again in ${retryAfterSeconds} ${retryAfterSeconds === 1 ? "second" : "seconds"}.`,
    { "Retry-After": String(retryAfterSeconds) },
  );
}
