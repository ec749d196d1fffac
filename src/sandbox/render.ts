// A render's progress as a pure function of the time since its start: no timers, so tests can set the clock.
// Knows nothing of accounts, URLs or HTTP.

export type RenderPlan = ReturnType<typeof planRender>;
export type RenderState = ReturnType<typeof renderStateAt>;

// Shares of the whole render time. The last clip is ready a little before the final video.
const VOICE_DONE_AT = 0.15;
const FIRST_CLIP_BEGINS_AT = 0.2;
const LAST_CLIP_DONE_AT = 0.9;
const FAILS_AT = 0.5;

export function planRender(
  request: { readonly topic: string; readonly duration: number },
  renderSeconds: number,
) {
  const fails = request.topic.includes("[fail]");
  const renderMs = renderSeconds * 1000 * (request.topic.includes("[slow]") ? 5 : 1);
  return {
    clips: Math.min(6, Math.max(2, Math.round(request.duration / 7.5))),
    renderMs,
    fails,
    endsAfterMs: fails ? renderMs * FAILS_AT : renderMs,
  };
}

/** The state of a render after this time. Clips finish in order. */
export function renderStateAt(plan: RenderPlan, elapsedMs: number) {
  const share = plan.renderMs > 0 ? Math.max(0, elapsedMs / plan.renderMs) : 1;
  const reached = plan.fails ? Math.min(share, FAILS_AT) : share;
  const clipsShare = (reached - FIRST_CLIP_BEGINS_AT) / (LAST_CLIP_DONE_AT - FIRST_CLIP_BEGINS_AT);
  const end = plan.fails ? ("failed" as const) : ("completed" as const);
  const hasEnded = share >= (plan.fails ? FAILS_AT : 1);
  return {
    status: hasEnded ? end : ("processing" as const),
    clipsDone: Math.min(plan.clips, Math.max(0, Math.floor(clipsShare * plan.clips))),
    clipsFailed: hasEnded && plan.fails ? 1 : 0,
    voiceDone: reached >= VOICE_DONE_AT,
  };
}
