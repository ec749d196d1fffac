// A process that writes to a journal: `journal-writer.ts FOLDER NAME COUNT`. Prints "ready", then waits for a line on stdin.

import { once } from "node:events";
import { createJournal } from "../../src/once/journal.ts";

const [folder = "", name = "", count = "0"] = process.argv.slice(2);
const journal = createJournal({
  folder,
  now: Date.now,
  redact: (line) => line,
  onUnwritable: (reason) => {
    throw new Error(reason);
  },
  pid: process.pid,
});
process.stdout.write("ready\n");
await once(process.stdin, "data");
for (let index = 0; index < Number(count); index++) {
  const id = await journal.begin({
    operation: "generate",
    account: name,
    label: "Tides",
    fingerprint: `${name}-${index}`,
  });
  await journal.settle(id, { outcome: "done", jobId: `job-${name}-${index}` });
}
process.exit(0);
