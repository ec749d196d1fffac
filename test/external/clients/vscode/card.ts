// The card in VS Code's chat, used as a user does: while its call is a task, and afterwards.

import type { FrameLocator } from "playwright-core";
import { startedAsTask } from "../outcome.ts";
import type { ServerRun } from "../wire.ts";
import { until, type Workbench } from "./workbench.ts";

/** Plays a clip while the call is a task that is under way, and then the final video. */
export async function watchCard(
  workbench: Workbench,
  serverRuns: () => Promise<readonly ServerRun[]>,
): Promise<void> {
  const { card } = workbench;
  await says(card, /^Rendering: [1-9]/);
  const runs = await serverRuns();
  if (!runs.some(hasTaskUnderWay)) throw new Error("The card shows a clip, but its call is no task.");
  await play(card, "Clip 1");
  await says(card, "Your video is ready.");
  await play(card, "The final video");
}

/** Publishes by the card's own button: the user first says no to the question that follows, and then yes. */
export async function publishInCard(workbench: Workbench): Promise<void> {
  const { card } = workbench;
  // The model has published on the first account.
  const platform = "YouTube";
  const publish = () => until(workbench.question, () => card.locator("#go").click());

  await card.getByRole("button", { name: platform }).click();
  await publish();
  await workbench.respond("Don't publish");
  const declined = card.locator("#outcome").filter({ hasText: /^Not posted:/ });
  await declined.waitFor();
  if (!(await workbench.isWithinCard(declined))) throw new Error("VS Code cuts off what the card says.");

  await publish();
  await workbench.respond(`Publish on ${platform}`);
  await card.getByRole("button", { name: `${platform}: posted` }).waitFor();
}

function says(card: FrameLocator, text: string | RegExp): Promise<void> {
  return card.locator("#status").filter({ hasText: text }).waitFor();
}

/** Resolves when it plays. */
async function play(card: FrameLocator, label: string): Promise<void> {
  await card.getByLabel(label, { exact: true }).evaluate((video) => Reflect.get(video, "play").call(video));
}

/** A task says in both protocols that it is completed before its result comes. */
function hasTaskUnderWay(run: ServerRun): boolean {
  return startedAsTask(run) && !run.some(({ result }) => result?.["status"] === "completed");
}
