// A process that writes to a journal: `journal-writer.ts FOLDER NAME COUNT`. Prints "ready", then waits for a line on stdin.

import { once } from "node:events";
import { Journal } from "../../src/idempotency/journal.ts";
import { openDisk } from "../../src/idempotency/journal-files.ts";

const [folder = "", name = "", count = "0"] = process.argv.slice(2);
const journal = new Journal({
  disk: openDisk(folder),
  now: Date.now,
  machineMs: () => performance.now(),
  redact: (line) => line,
  onUnwritable: (reason) => {
    throw new Error(reason);
  },
});
process.stdout.write("ready\n");
await once(process.stdin, "data");
for (let index = 0; index < Number(count); index++) {
  const { id } = await journal.begin({
    operation: "generate",
    account: name,
    fingerprint: `${name}-${index}`,
    arguments: { topic: "Tides" },
  });
  await journal.recordOutcome(id, { outcome: "done", jobId: `job-${name}-${index}` });
}
process.exit(0);
