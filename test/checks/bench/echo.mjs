// The least that a process over stdio can be: it answers every request with the same result.

import { createInterface } from "node:readline";

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}\n`);
});
