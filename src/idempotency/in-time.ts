// Waits for a disk or a database, which may never answer.

import { type Clock, readWhatHasCome } from "../clock.ts";

/** Rejects if the work takes longer, with the reason. What has come by then is read first. */
export function inTime<Result>(
  clock: Pick<Clock, "after">,
  limitMs: number,
  reason: string,
  work: Promise<Result>,
  { progress, onLate = () => {} }: { progress?: () => unknown; onLate?: () => void } = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = async () => {
      await readWhatHasCome(progress);
      if (isOver) return;
      reject(new Error(`${reason} in ${limitMs / 1000} s`));
      onLate();
    };
    const cancel = clock.after(limitMs, () => void end());
    void work.then(resolve, reject).finally(() => {
      isOver = true;
      cancel();
    });
  });
}
