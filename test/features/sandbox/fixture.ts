// A sandbox for each test, on a clock that the test advances.

import { onTestFinished } from "vitest";
import { z } from "zod";
import { type SandboxOptions, startSandbox } from "../../../src/sandbox/sandbox.ts";

interface Init extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

export type TestSandbox = Awaited<ReturnType<typeof testSandbox>>;

export const startedAt = "2026-03-01T12:00:00.000Z";

export async function testSandbox(options: SandboxOptions = {}) {
  let nowMs = Date.parse(startedAt);
  const sandbox = await startSandbox({ now: () => nowMs, ...options });
  onTestFinished(() => sandbox.close());

  async function get(path: string, { headers, ...init }: Init = {}) {
    const withKey = { Authorization: `Bearer ${sandbox.apiKey}`, ...headers };
    const response = await fetch(sandbox.url + path, { ...init, headers: withKey });
    const body: unknown = await response.json();
    return { status: response.status, body, headers: response.headers };
  }

  function post(path: string, json: unknown, { headers, ...init }: Init = {}) {
    const typed = { "Content-Type": "application/json", ...headers };
    return get(path, { method: "POST", body: JSON.stringify(json), ...init, headers: typed });
  }

  return {
    ...sandbox,
    get,
    post,
    /** Advances the clock. */
    advance(seconds: number) {
      nowMs += seconds * 1000;
    },
    /** Starts a job and returns its id. */
    async generate(fields: object = {}): Promise<string> {
      const { body } = await post("/api/v1/generate", { topic: "The night train", ...fields });
      return z.object({ jobId: z.string() }).parse(body).jobId;
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
