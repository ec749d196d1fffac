// The server from its source, with a higher limit of watched jobs.

import { serve } from "../../src/commands/serve.ts";
import { parseConfig } from "../../src/config.ts";

const config = parseConfig([], process.env);
if (!config.ok) throw new Error(config.usageError);
serve(
  config.settings,
  {
    input: process.stdin,
    output: process.stdout,
    writeLog: (line) => void process.stderr.write(line),
  },
  () => process.exit(0),
  { maxWatched: 1_000 },
);
