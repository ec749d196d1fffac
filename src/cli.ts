#!/usr/bin/env node
// The executable: argv, environment, signals and exit codes. The one file that touches process.

import { Console } from "node:console";
import { fileURLToPath } from "node:url";
import { parseCommandLine } from "./command-line.ts";
import type { Server } from "./commands/serve.ts";
import type { Command } from "./command-line.ts";
import type { Config } from "./config.ts";
import { VERSION } from "./version.ts";

/** Well within the 250 ms in which the process has to end. */
const FLUSH_MS = 100;
/** For a paid or public request that is on its way: with the rest still within 2 s. */
const PAID_PATIENCE_MS = 1_500;

// Nobody reads any longer what is printed: that is no reason for a stack trace.
let hasReader = true;
process.stdout.on("error", () => (hasReader = false));
process.stderr.on("error", () => {});

const commandLine = parseCommandLine(process.argv.slice(2), process.env);
if (commandLine.ok) void run(commandLine.command, commandLine.config);
else {
  process.stderr.write(`${commandLine.usageError}\n`);
  process.exitCode = 2;
}

async function run(command: Command, config: Config): Promise<void> {
  switch (command.name) {
    case "version":
      process.stdout.write(`${VERSION}\n`);
      return;
    case "help": {
      const { helpText } = await import("./commands/help.ts");
      process.stdout.write(helpText(VERSION));
      return;
    }
    case "sandbox":
      await runSandboxCommand(command.port, config);
      return;
    case "demo": {
      if (!isUsable(config)) return;
      const { runDemo } = await import("./commands/demo.ts");
      // Its reader is gone, so nobody watches it any longer.
      process.stdout.on("error", () => process.exit(1));
      process.exitCode = await runDemo({
        server: { command: process.execPath, args: [...process.execArgv, fileURLToPath(import.meta.url)] },
        renderSeconds: config.sandboxSeconds,
        input: process.stdin,
        output: process.stdout,
      });
      return;
    }
    case "doctor":
      await runDoctorCommand(command.json, config);
      return;
    case "config": {
      const { clientEntry } = await import("./commands/client-config.ts");
      const { text, notes } = clientEntry(command.client, command.form, config.service?.baseUrl);
      process.stdout.write(text);
      process.stderr.write(notes);
      return;
    }
    case "serve":
      await runServer(config);
      return;
  }
}

async function runServer(config: Config): Promise<void> {
  // Whatever a library prints must not reach stdout, which carries JSON-RPC alone.
  globalThis.console = new Console(process.stderr, process.stderr);
  let server: Server | undefined;
  let ending = false;
  const shutdown = (exitCode: number) => {
    if (ending) return;
    ending = true;
    // Whatever hangs, this ends it.
    setTimeout(() => process.exit(exitCode), PAID_PATIENCE_MS + FLUSH_MS);
    const ended = server?.end(PAID_PATIENCE_MS) ?? Promise.resolve();
    const leave = () => process.exit(exitCode);
    const flush = () => {
      // After an error the stream would never say that it has ended.
      if (!hasReader) leave();
      // What was answered must reach a client that still reads, but one that has stalled holds nothing up.
      setTimeout(leave, FLUSH_MS);
      process.stdout.end(leave);
    };
    void ended.then(flush, flush);
  };
  onSignals(() => shutdown(0));
  const fail = (error: unknown) => {
    // One line, without a stack and so without whatever a stack might hold.
    const name = error instanceof Error ? error.name : "unknown error";
    process.stderr.write(`faceless-video-mcp error: the bridge itself failed (${name}) and ends\n`);
    shutdown(1);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  const { serve } = await import("./commands/serve.ts");
  server = serve(
    config,
    {
      input: process.stdin,
      output: process.stdout,
      writeLog: (line) => void process.stderr.write(line),
    },
    () => shutdown(0),
  );
}

/** Says what is wrong with the settings of a command that needs them right; exit code 1. */
function isUsable({ problems }: Config): boolean {
  for (const { variable, problem, fix } of problems)
    process.stderr.write(`faceless-video-mcp: ${variable} ${problem}. ${fix}.\n`);
  if (problems.length > 0) process.exitCode = 1;
  return problems.length === 0;
}

async function runSandboxCommand(port: number, config: Config): Promise<void> {
  if (!isUsable(config)) return;
  const { runSandbox } = await import("./commands/sandbox.ts");
  try {
    const sandbox = await runSandbox({
      port,
      renderSeconds: config.sandboxSeconds,
      print: (line) => process.stdout.write(`${line}\n`),
    });
    onSignals(() => void sandbox.close().then(() => process.exit(0)));
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    process.stderr.write(`faceless-video-mcp: the sandbox can't listen on port ${port}: ${reason}\n`);
    process.exitCode = 1;
  }
}

async function runDoctorCommand(json: boolean, config: Config): Promise<void> {
  const { runDoctor } = await import("./commands/doctor.ts");
  const exitCode = await runDoctor({
    config,
    env: process.env,
    nodeVersion: process.versions.node,
    json,
    isTerminal: process.stdout.isTTY,
    print: (line) => void process.stdout.write(`${line}\n`),
    now: Date.now,
  });
  // A name that is still being looked up would hold the process back.
  process.stdout.write("", () => process.exit(exitCode));
}

function onSignals(end: () => void): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
}
