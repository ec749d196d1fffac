// A render's course as a pure function of the time since it began: no timers, so a test's clock decides everything.
// Knows nothing of jobs, URLs or HTTP.

export interface RenderPlan {
  readonly clips: number;
  readonly renderMs: number;
  readonly fails: boolean;
}

export interface RenderState {
  readonly status: "processing" | "completed" | "failed";
  /** How many clips are ready; they finish in order. */
  readonly clipsDone: number;
  readonly clipsFailed: number;
  readonly voiceDone: boolean;
}

// Shares of the whole render time. The last clip is ready a little before the assembled video.
const voiceDoneAt = 0.15;
const firstClipBeginsAt = 0.2;
const lastClipDoneAt = 0.9;
const failsAt = 0.5;

export function planRender(
  request: { readonly topic: string; readonly duration: number },
  renderSeconds: number,
): RenderPlan {
  const slowness = request.topic.includes("[slow]") ? 5 : 1;
  return {
    clips: Math.min(6, Math.max(2, Math.round(request.duration / 7.5))),
    renderMs: renderSeconds * 1000 * slowness,
    fails: request.topic.includes("[fail]"),
  };
}

export function renderStateAt(plan: RenderPlan, elapsedMs: number): RenderState {
  const share = plan.renderMs > 0 ? Math.max(0, elapsedMs / plan.renderMs) : 1;
  const reached = plan.fails ? Math.min(share, failsAt) : share;
  const clipsShare = (reached - firstClipBeginsAt) / (lastClipDoneAt - firstClipBeginsAt);
  const failed = plan.fails && share >= failsAt;
  const completed = !plan.fails && share >= 1;
  return {
    status: failed ? "failed" : completed ? "completed" : "processing",
    clipsDone: Math.min(plan.clips, Math.max(0, Math.floor(clipsShare * plan.clips))),
    clipsFailed: failed ? 1 : 0,
    voiceDone: reached >= voiceDoneAt,
  };
}
