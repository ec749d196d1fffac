// A process of its own that writes to a journal: `node --import tsx journal-writer.ts FOLDER NAME COUNT TOPIC_LENGTH`.

import { createJournal } from "../../src/jobs/journal.ts";

const [folder, name = "", count, length] = process.argv.slice(2);
const journal = createJournal({
  folder,
  now: Date.now,
  redact: (line) => line,
  onUnwritable: (reason) => {
    process.stderr.write(reason);
  },
});
process.stdout.write("ready\n");
process.stdin.once("data", () => {
  for (let index = 0; index < Number(count); index++) {
    const id = journal.begin({
      operation: "generate",
      fingerprint: `${name}-${index}`,
      account: name,
      label: "😀".repeat(Number(length)),
    });
    journal.settle(id, "done", `job-${name}-${index}`);
  }
});
