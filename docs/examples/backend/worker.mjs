// node worker.mjs: carries out orders. Run as many as you like, on as many machines as you like.

import { runProgram } from "./program.mjs";

await runProgram(async (open) => {
  const backend = await open();
  await backend.work();
  console.log("working");
  for (const signal of ["SIGTERM", "SIGINT"])
    process.once(signal, () => void backend.close().then(() => process.exit(0)));
});
