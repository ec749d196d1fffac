// The calls of two processes in the model.

import type { Client, Run, Scenario } from "./types.ts";

const generate =
  (topic = "Tides") =>
  (client: Client) =>
    client.generate(topic);
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

/** Makes two calls, one after the other. */
const again = (first: Run, second: Run) => async (client: Client) => {
  await first(client);
  await second(client);
};

/** Two calls, of one process and of two, with a code and without. */
export const PAIRS: readonly Scenario[] = [
  { name: "the same video twice from one process", calls: { P: [generate(), generate()] } },
  { name: "the same video from two processes", calls: { P: [generate()], Q: [generateWithCode] } },
  {
    name: "overlapping platforms from two processes",
    calls: { P: [publish("a")], Q: [publishWithCode("a", "b")] },
  },
  {
    name: "a platform under another name from two processes",
    calls: { P: [publish("all")], Q: [publishWithCode("b")] },
  },
  {
    name: "the same two platforms from two processes",
    calls: { P: [publish("a", "b")], Q: [publishWithCode("b", "a")] },
  },
  {
    name: "two videos from two processes where one is the limit",
    calls: { P: [generate()], Q: [generate("The moon")] },
    maxGenerations: 1,
  },
  {
    name: "the same video from a call that awaits its answer and from a server",
    calls: { P: [generate()], Q: [generateWithCode] },
    patient: ["P"],
  },
  {
    name: "overlapping platforms from two calls that await their answers",
    calls: { P: [publish("a")], Q: [publishWithCode("a", "b")] },
    patient: ["P", "Q"],
  },
  {
    name: "the same video from the sandbox and from the service",
    calls: { Q: [generateWithCode], S: [generate()] },
  },
  {
    name: "the same video again in a sandbox that forgets its jobs",
    calls: { S: [again(generate(), generate()), generateWithCode] },
  },
  {
    name: "two videos at once from a process whose user is asked",
    calls: { P: [generate(), generate("The moon")] },
    asking: ["P"],
  },
  {
    name: "a video, a repeat and another video from a process whose user is asked",
    calls: { P: [again(again(generate(), generateWithCode), generate("The moon"))] },
    asking: ["P"],
  },
  {
    name: "the same video from two processes whose users are asked",
    calls: { P: [generate()], Q: [generateWithCode] },
    asking: ["P", "Q"],
  },
  {
    name: "the same platform from the sandbox and from the service",
    calls: { Q: [publishWithCode("a")], S: [publish("a")] },
  },
];

/** Two calls of one process, which share what it has read and awaits, beside one of another process. */
export const THREES: readonly Scenario[] = [
  {
    name: "the same video twice from one process and once from another",
    calls: { P: [generate(), generateWithCode], Q: [generateWithCode] },
  },
  {
    name: "overlapping platforms twice from one process and once from another",
    calls: { P: [publish("a"), publishWithCode("a", "b")], Q: [publishWithCode("b", "a")] },
  },
];

/** Two calls of each of two processes. */
export const FOURS: readonly Scenario[] = [
  {
    name: "the same video twice from each of two processes",
    calls: { P: [generate(), generateWithCode], Q: [generate(), generateWithCode] },
  },
  {
    name: "overlapping platforms twice from each of two processes",
    calls: {
      P: [publish("a"), publishWithCode("a", "b")],
      Q: [publish("b"), publishWithCode("b", "a")],
    },
  },
];
