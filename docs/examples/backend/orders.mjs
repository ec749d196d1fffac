// node orders.mjs add TOPIC ['{"language":"ja"}'] takes an order; the JSON has other arguments of generate_video
// node orders.mjs list                           shows all orders
// node orders.mjs adopt ORDER JOB                the video of that job is this unanswered order's
// node orders.mjs send-again ORDER [CODE]        there is no such video: order it once more, with the code in its problem

import { randomUUID } from "node:crypto";
import { openQueue, ORDERS } from "./queue.mjs";

const [command, ...args] = process.argv.slice(2);
const boss = await openQueue();
const COMMANDS = { add, list, adopt: resolve, "send-again": resolve };
const run = COMMANDS[command] ?? (() => `Commands: ${Object.keys(COMMANDS).join(", ")}.`);
console.log(JSON.stringify(await run(...args), undefined, 2));
await boss.stop();

async function add(topic, options = "{}") {
  const order = randomUUID();
  await boss.send(ORDERS, { ...JSON.parse(options), order, topic });
  return order;
}

async function list() {
  const jobs = await boss.findJobs(ORDERS);
  // What a person decided is a newer job of the same order.
  const newest = new Map(jobs.sort((a, b) => a.createdOn - b.createdOn).map((job) => [job.data.order, job]));
  return [...newest.values()].map(({ data, output }) => {
    const { order, topic, jobId: _, confirm: __, ...options } = data;
    const { status, jobId, finalVideoUrl, candidates, problem = output?.message } = output ?? {};
    return { order, topic, options, state: status ?? "waiting", jobId, finalVideoUrl, problem, candidates };
  });
}

async function resolve(order, decision) {
  const { topic, options } =
    (await list()).find((one) => one.order === order && one.state === "unanswered") ?? {};
  if (topic === undefined) return "Only an unanswered order can be adopted or sent again.";
  await boss.send(ORDERS, {
    ...options,
    order,
    topic,
    [command === "adopt" ? "jobId" : "confirm"]: decision,
  });
  return "done";
}
