// Defines a job: the form of its id and URI, and what the service's word for its status means. Pure.

/** Any UUID. Both cases are spelt out: the pattern is advertised as JSON Schema, which has no flags. */
export const JOB_ID = /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

const URI_PREFIX = "faceless://jobs/";

/** An RFC 6570 template. */
export const JOB_URI_TEMPLATE = `${URI_PREFIX}{jobId}`;

/** The ids of jobs in a text, each once, in lower case as services write UUIDs. */
export function jobIdsIn(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))];
}

/** The one job's id in a text such as a resource URI or a link. */
export function readJobId(text: string): string | undefined {
  const [jobId, ...others] = jobIdsIn(text);
  return others.length === 0 ? jobId : undefined;
}

/** The id in a service's answer. Upper and lower case mean the same job; callers write it in lower case. */
export function jobIdFrom(answered: string): string {
  return JOB_ID.test(answered) ? answered.toLowerCase() : answered;
}

export function jobUri(jobId: string): string {
  return `${URI_PREFIX}${encodeURIComponent(jobId)}`;
}

/** The job whose resource has this URI; undefined if it isn't a job's. */
export function jobIdOf(uri: string): string | undefined {
  const jobId = uri.startsWith(URI_PREFIX) ? uri.slice(URI_PREFIX.length) : "";
  return JOB_ID.test(jobId) ? readJobId(jobId) : undefined;
}

/** How long the service may neither list nor know a job that it has started. */
export const UNLISTED_MS = 10 * 60_000;

/** No render is that fast: a job that was completed earlier was started before. */
export const MIN_RENDER_MS = 60_000;

/** A job's state. `other` is an undocumented word: the job is still running. */
export type JobState = "rendering" | "ready" | "refunded" | "other";

/** The keys are the service's words, as it documents them. */
export const STATES: ReadonlyMap<string, JobState> = new Map([
  ["processing", "rendering"],
  ["completed", "ready"],
  ["failed", "refunded"],
]);

const IS_END: Readonly<Record<JobState, boolean>> = {
  rendering: false,
  ready: true,
  refunded: true,
  other: false,
};

/** The one place that knows the service's words for a job's state. */
export function stateOf(status: string): JobState {
  return STATES.get(status) ?? "other";
}

export function isEnded(status: string): boolean {
  return IS_END[stateOf(status)];
}
