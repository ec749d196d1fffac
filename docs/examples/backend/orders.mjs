// node orders.mjs add "Why the sea is salty"    takes an order
// node orders.mjs list                          shows all orders
// node orders.mjs unanswered                    shows the orders that may or may not be paid for, and videos without an order
// node orders.mjs adopt ORDER JOB               the video of that job is this order's
// node orders.mjs send-again ORDER              there is no such video: send the order again

import { runProgram } from "./program.mjs";

const [name, ...args] = process.argv.slice(2);
const commands = {
  add: { needs: ["a topic"], run: (backend) => backend.order({ topic: args.join(" ") }) },
  list: { needs: [], run: (backend) => backend.orders() },
  unanswered: { needs: [], run: (backend) => backend.unanswered() },
  adopt: { needs: ["an order", "a job"], run: (backend) => backend.adopt(...args) },
  "send-again": { needs: ["an order"], run: (backend) => backend.sendAgain(...args) },
};

await runProgram(async (open) => {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new Error(`Commands: ${Object.keys(commands).join(", ")}.`);
  const { needs, run } = command;
  if (args.length < needs.length) throw new Error(`${name} needs ${needs.join(" and ")}.`);
  const backend = await open();
  console.log(JSON.stringify((await run(backend)) ?? "done", undefined, 2));
  await backend.close();
});
