// The server from its source, with a higher limit of watched jobs.

import { homedir } from "node:os";
import { serve } from "../../src/commands/serve.ts";
import { readConfig } from "../../src/config.ts";

serve(
  readConfig(process.env, { sandbox: false, readOnly: false, noPublish: false }, homedir()),
  {
    input: process.stdin,
    output: process.stdout,
    writeLog: (line) => void process.stderr.write(line),
    machineMs: () => performance.now(),
  },
  () => process.exit(0),
  { maxWatched: 1_000 },
);
