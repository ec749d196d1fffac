// node orders.mjs add "Why the sea is salty"    takes an order
// node orders.mjs list                          shows all orders
// node orders.mjs unanswered                    shows the orders that may or may not be paid for, and videos without an order
// node orders.mjs adopt ORDER JOB               the video of that job is this order's
// node orders.mjs send-again ORDER              there is no such video: send the order again

import { openBackend } from "./backend.mjs";
import { createService } from "./service.mjs";

const { DATABASE_URL: databaseUrl, FACELESS_BASE_URL: baseUrl, FACELESS_API_KEY: apiKey } = process.env;
const [command, ...args] = process.argv.slice(2);
const backend = await openBackend({ databaseUrl, service: createService({ baseUrl, apiKey }) });
try {
  const commands = {
    add: () => backend.order({ topic: args.join(" ") }),
    list: () => backend.orders(),
    unanswered: () => backend.unanswered(),
    adopt: () => backend.adopt(args[0], args[1]),
    "send-again": () => backend.sendAgain(args[0]),
  };
  const run = commands[command];
  if (run === undefined) throw new Error(`Commands: ${Object.keys(commands).join(", ")}.`);
  console.log(JSON.stringify((await run()) ?? "done", undefined, 2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await backend.close();
}
