// A desk for paid requests on a journal in memory: what the tests of paid-requests.ts share.

import { BridgeError, type Outcome } from "../../src/errors.ts";
import { createJournal, type Journal } from "../../src/jobs/journal.ts";
import {
  type Arguments,
  createPaidRequests,
  type PaidRequest,
  type PaidRequests,
} from "../../src/jobs/paid-requests.ts";
import type { Generation, Publication } from "../../src/service/schemas.ts";

export const NOW = Date.UTC(2026, 10, 20);
export const MINUTE_MS = 60_000;
export const ARGS: Arguments = { topic: "Tides", style: "story", duration: 30 };
export const POST: Arguments = { jobId: "j", platforms: ["tiktok"] };
export const PUBLISHED: Publication = { results: [{ platform: "tiktok", ok: true }] };

export interface Desk {
  readonly paid: PaidRequests;
  readonly journal: Journal;
  readonly clock: { ms: number };
  /** As another process with the same journal has it, or one of another account. */
  another(account?: string): PaidRequests;
}

export function desk(): Desk {
  const clock = { ms: NOW };
  const now = () => clock.ms;
  const journal = createJournal({ folder: undefined, now, redact: (line) => line, onUnwritable: () => {} });
  const another = (account = "service key") => createPaidRequests({ journal, account, now });
  return { paid: another(), journal, clock, another };
}

export function video(send: () => Promise<Generation>, more: Partial<PaidRequest<Generation>> = {}) {
  return { args: ARGS, label: "Tides", confirmed: false, send, ...more };
}

export const job = (jobId: string) => async (): Promise<Generation> => ({ jobId, status: "processing" });
export const never = () => Promise.reject(new Error("It was sent."));
export const fail = (outcome: Outcome) => () => Promise.reject(failure(outcome));

export function failure(outcome: Outcome): BridgeError {
  return new BridgeError({ code: "network", message: "No.", nextStep: "Look.", outcome, retryable: false });
}

/** What is refused because of an earlier one. */
export function duplicate(minutes: number) {
  return {
    facts: {
      code: "duplicate",
      message: `A request for the same video was sent about ${minutes} min ago, and it is not known what became of it, so this one was not sent.`,
      nextStep:
        "Look with list_videos whether that video is there. Only if the person wants another one all the same, call again with confirmDuplicate: true.",
      outcome: "not_sent",
      retryable: false,
    },
  };
}
