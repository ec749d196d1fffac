// What the calls of two processes do in the model.

import type { Client, Run } from "./types.ts";
import type { Scenario } from "./world.ts";

const generate = (client: Client) => client.generate("Tides");
const publish =
  (...platforms: readonly string[]) =>
  (client: Client) =>
    client.publish(platforms);

/** Calls again with the code that the first answer gave, if it gave one. */
const generateWithCode = async (client: Client) => {
  const code = await client.generate("Tides");
  if (code !== undefined) await client.generate("Tides", code);
};
const publishWithCode =
  (...platforms: readonly string[]) =>
  async (client: Client) => {
    const code = await client.publish(platforms);
    if (code !== undefined) await client.publish(platforms, code);
  };

function scenario(name: string, calls: readonly (readonly [string, Run])[]): Scenario {
  return { name, calls: calls.map(([process, run]) => ({ process, run })) };
}

/** Two calls, of one process and of two, with a code and without. */
export const PAIRS: readonly Scenario[] = [
  scenario("the same video twice from one process", [
    ["P", generate],
    ["P", generate],
  ]),
  scenario("the same video from two processes", [
    ["P", generate],
    ["Q", generateWithCode],
  ]),
  scenario("overlapping platforms from two processes", [
    ["P", publish("a")],
    ["Q", publishWithCode("a", "b")],
  ]),
];

/** Two calls of each process. */
export const FOURS: readonly Scenario[] = [
  scenario("the same video twice from each of two processes", [
    ["P", generate],
    ["P", generateWithCode],
    ["Q", generate],
    ["Q", generateWithCode],
  ]),
  scenario("overlapping platforms twice from each of two processes", [
    ["P", publish("a")],
    ["P", publishWithCode("a", "b")],
    ["Q", publish("b")],
    ["Q", publishWithCode("a", "b")],
  ]),
];
