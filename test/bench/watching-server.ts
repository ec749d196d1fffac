// The server from its source, but for the limit on how many jobs are watched at once.

import { serve } from "../../src/commands/serve.ts";
import { parseCommandLine } from "../../src/command-line.ts";

const commandLine = parseCommandLine([], process.env);
if (!commandLine.ok) throw new Error(commandLine.usageError);
serve(
  commandLine.config,
  {
    input: process.stdin,
    output: process.stdout,
    writeLog: (line) => void process.stderr.write(line),
  },
  () => process.exit(0),
  { maxWatched: 1_000 },
);
