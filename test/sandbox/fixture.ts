// A sandbox for each test, on a clock that the test advances.

import { onTestFinished } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import type { Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";

interface Answer {
  readonly status: number;
  // JSON of any shape: the assertions compare whole objects.
  readonly body: unknown;
  readonly headers: Headers;
}

export interface TestSandbox extends Sandbox {
  /** Advances the clock. */
  advance(seconds: number): void;
  get(path: string, init?: RequestInit): Promise<Answer>;
  post(path: string, body: unknown, init?: RequestInit): Promise<Answer>;
  /** Starts a job and returns its id. */
  generate(fields?: Record<string, unknown>): Promise<string>;
}

export const startedAt = "2026-03-01T12:00:00.000Z";

export async function testSandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  let nowMs = Date.parse(startedAt);
  const sandbox = await startSandbox({ now: () => nowMs, ...options });
  onTestFinished(() => sandbox.close());

  async function call(path: string, init: RequestInit): Promise<Answer> {
    const headers = new Headers(init.headers);
    if (!headers.has("Authorization")) headers.set("Authorization", `Bearer ${sandbox.apiKey}`);
    const response = await fetch(sandbox.url + path, { ...init, headers });
    return { status: response.status, body: await response.json(), headers: response.headers };
  }

  function post(path: string, body: unknown, init: RequestInit = {}): Promise<Answer> {
    const headers = new Headers(init.headers);
    if (!headers.has("Content-Type")) headers.set("Content-Type", "application/json");
    return call(path, { method: "POST", body: JSON.stringify(body), ...init, headers });
  }

  return {
    ...sandbox,
    advance(seconds) {
      nowMs += seconds * 1000;
    },
    get: (path, init = {}) => call(path, init),
    post,
    async generate(fields = {}) {
      const { body } = await post("/api/v1/generate", { topic: "The night train", ...fields });
      if (typeof body === "object" && body !== null && "jobId" in body) return String(body.jobId);
      throw new Error(`The sandbox did not start a job: ${JSON.stringify(body)}`);
    },
  };
}

/** The documented envelope of an error. */
export function envelope(code: string, message: unknown): object {
  return { error: { code, message } };
}

/** A refused request. */
export function refusal(status: number, code: string, message: unknown): object {
  return { status, body: envelope(code, message) };
}
