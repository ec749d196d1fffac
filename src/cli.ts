#!/usr/bin/env node
// The executable: argv, environment, signals and exit codes. The one file that touches process.

import { Console } from "node:console";
import { mkdirSync } from "node:fs";
import * as nodeModule from "node:module";
import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "./clock.ts";
import {
  type ClientName,
  type Command,
  type EntryOptions,
  parseCommandLine,
  UsageError,
} from "./command-line.ts";
import type { Server } from "./commands/serve.ts";
import type { TerminalUi } from "./commands/terminal-ui.ts";
import { type Config, type Flags, NO_FLAGS, readConfig } from "./config.ts";
import { errnoOf } from "./errors.ts";
import { IS_ON_NPM, VERSION } from "./version.ts";

const STREAMS = { input: process.stdin, output: process.stdout, isDumb: process.env["TERM"] === "dumb" };
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** How long the last answers may be flushed. The whole end must take less than 250 ms. */
const FLUSH_MS = 100;
/** Grace period for files and name lookups that hang at the end. */
const THREAD_POOL_MS = 90;
const LOOK_MS = 10;
/** How long a sent paid or public request may delay the end, which then takes less than 2 s in all. */
const PAID_REQUEST_GRACE_MS = 1_500;

/**
 * Each address of a host gets this long to connect, for the service, the database and downloads alike. Node's
 * own 250 ms are too short for distant hosts.
 */
const ADDRESS_ATTEMPT_MS = 2_000;

// A reader that has gone away is no reason for a stack trace.
let stdoutError: Error | undefined;
process.stdout.on("error", (error: Error) => {
  stdoutError = error;
});
process.stderr.on("error", () => {});
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);

try {
  void run(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`faceless-video-mcp: ${error.message}; see faceless-video-mcp --help\n`);
  process.exitCode = 2;
}

async function run(command: Command): Promise<void> {
  switch (command.name) {
    case "version":
      process.stdout.write(`${VERSION}\n`);
      return;
    case "help": {
      const { helpText } = await import("./commands/help.ts");
      if (command.of === "call") return runCallCommand(["--help"]);
      process.stdout.write(helpText(command.of, process.stdout.columns));
      return;
    }
    case "serve":
      return runServer(configOf(command.flags));
    case "demo":
      return runDemoCommand();
    case "call":
      return runCallCommand(command.argv);
    case "sandbox":
      return runSandboxCommand(command);
    case "doctor":
      return runDoctorCommand(command);
    case "history":
      return runHistoryCommand(command.json);
    case "config":
      return runConfigCommand(command.client, command.options);
  }
}

function configOf(flags: Flags): Config {
  return readConfig(process.env, flags, homeFolder());
}

async function runServer(config: Config): Promise<void> {
  // stdout carries JSON-RPC only, whatever a library prints.
  globalThis.console = new Console(process.stderr, process.stderr);
  if (process.stdin.isTTY)
    process.stderr.write(
      "faceless-video-mcp: this is an MCP server, which your client starts. Try demo, doctor or --help; Ctrl+C ends it.\n",
    );
  let server: Server | undefined;
  let ending = false;
  const shutdown = (exitCode: number) => {
    if (ending) return;
    ending = true;
    const exit = () => endProcess(exitCode);
    // The process ends even if something below hangs.
    setTimeout(exit, PAID_REQUEST_GRACE_MS + FLUSH_MS);
    const ended = server?.end(PAID_REQUEST_GRACE_MS) ?? Promise.resolve();
    const flush = () => {
      // A stream that has failed never reports its end.
      if (stdoutError !== undefined) exit();
      // Answers must reach a client that still reads; one that has stalled must not hold up the end.
      setTimeout(exit, FLUSH_MS);
      process.stdout.end(exit);
    };
    void ended.then(flush, flush);
  };
  onSignals(() => shutdown(0));
  const fail = (error: unknown) => {
    // The stack might hold anything, so it is not shown.
    const name = error instanceof Error ? error.name : "unknown error";
    process.stderr.write(`faceless-video-mcp error: this server itself failed (${name}) and ends\n`);
    shutdown(1);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  const keepCompiledCode = useCompileCache(config);
  const { serve } = await import("./commands/serve.ts");
  server = serve(
    config,
    {
      input: process.stdin,
      output: process.stdout,
      writeLog: (line) => void process.stderr.write(line),
      // Many clients kill a server, and Node would keep the code only at its end.
      onListed: keepCompiledCode,
    },
    () => shutdown(0),
  );
}

/** Node 22.8 and newer keep compiled code between starts. Returns what writes down the code that was compiled until then. */
function useCompileCache({ stateDir, makesStateDir, problems }: Config): () => void {
  const { enableCompileCache, flushCompileCache = () => {} }: CompileCache = nodeModule;
  // A folder that the user has set may lie in a project, whose files must not be run.
  const isUsable = makesStateDir && stateDir !== undefined && problems.length === 0;
  if (enableCompileCache === undefined || !isUsable) return () => {};
  try {
    mkdirSync(stateDir, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") return () => {};
  }
  enableCompileCache(join(stateDir, "compiled"));
  return flushCompileCache;
}

/** The types are those of the lowest Node that we support. */
interface CompileCache extends Pick<typeof nodeModule, "createRequire"> {
  readonly enableCompileCache?: (folder: string) => unknown;
  readonly flushCompileCache?: () => void;
}

async function runDemoCommand(): Promise<void> {
  const { runDemo } = await import("./commands/demo.ts");
  process.stdout.on("error", () => process.exit(1));
  keepAlive();
  const exitCode = await runDemo({
    ...STREAMS,
    renderSeconds: readRenderSeconds(),
    temporaryFolder: tmpdir(),
    isAttended: process.stdout.isTTY && !process.env["CI"],
    writeLog: (line) => void process.stderr.write(line),
    clock: systemClock,
  });
  endWhenWritten(exitCode);
}

async function runCallCommand(argv: readonly string[]): Promise<void> {
  const { runCall } = await import("./commands/call.ts");
  const interrupt = new AbortController();
  onSignals((signal) => interrupt.abort(signal));
  keepAlive();
  const exitCode = await runCall(argv, {
    ...STREAMS,
    errors: process.stderr,
    readConfig: configOf,
    interrupted: interrupt.signal,
    clock: systemClock,
  });
  if (!interrupt.signal.aborted) return endWhenWritten(exitCode);
  // Ended by the signal, so that a script that started this ends too.
  const signal = String(interrupt.signal.reason);
  process.removeAllListeners(signal);
  process.stdout.write("", () => process.kill(process.pid, signal));
}

/** Neither the timers of requests nor the sandbox keep the process alive. */
function keepAlive(): void {
  setInterval(() => {}, 1_000);
}

async function runSandboxCommand({ port, webhookUrl }: Extract<Command, { name: "sandbox" }>): Promise<void> {
  const renderSeconds = readRenderSeconds();
  const { startSandbox } = await import("./sandbox/sandbox.ts");
  const ui = await openTerminal();
  const print = (line: string) => ui.print(line);
  const webhook = webhookUrl === undefined ? {} : { webhook: { url: webhookUrl, onAttempt: print } };
  try {
    const sandbox = await startSandbox({ port, renderSeconds, keepAlive: true, ...webhook });
    const { url, apiKey, webhookSecret } = sandbox;
    print(`The sandbox service is at ${url} and takes the key ${apiKey}. Ctrl+C ends it.`);
    if (webhookSecret !== undefined)
      print(
        `It delivers webhooks to ${webhookUrl}, signed as in Standard Webhooks with the secret ${webhookSecret}`,
      );
    // On one line, so that it can be pasted.
    process.stdout.write(
      `Try: curl -s -H 'Authorization: Bearer ${apiKey}' ${url}/api/v1/generate -H 'Content-Type: application/json' -d '{"topic":"Why the sea is salty"}'\n`,
    );
    onSignals(() => void sandbox.close().then(() => process.exit(0)));
  } catch (error) {
    const reason = errnoOf(error) ?? String(error);
    process.stderr.write(`faceless-video-mcp: the sandbox can't listen on port ${port}: ${reason}\n`);
    process.exitCode = 1;
  }
}

/** Reads the one setting of demo and sandbox: no other one can keep them from running. */
function readRenderSeconds(): number {
  const { sandboxSeconds, warnings } = configOf({ ...NO_FLAGS, sandbox: true });
  for (const { variable, problem, fix } of warnings)
    process.stderr.write(`faceless-video-mcp: ${variable} ${problem}. ${fix}.\n`);
  return sandboxSeconds;
}

async function runConfigCommand(client: ClientName, options: EntryOptions): Promise<void> {
  const { runConfig } = await import("./commands/client-config.ts");
  const { exitCode, before, entry, after } = await runConfig(client, options, {
    ...hostInfo(),
    node: process.execPath,
    files: fileURLToPath(new URL(".", import.meta.url)),
  });
  process.stderr.write(before);
  process.stdout.write(entry);
  process.stderr.write(after);
  process.exitCode = exitCode;
}

async function runDoctorCommand(command: Extract<Command, { name: "doctor" }>): Promise<void> {
  const { runDoctor } = await import("./commands/doctor.ts");
  const ui = await openTerminal();
  keepAlive();
  const exitCode = await runDoctor({
    ...command,
    ...hostInfo(),
    file: fileURLToPath(new URL("bin.cjs", import.meta.url)),
    nodeVersion: process.versions.node,
    isTerminal: process.stdout.isTTY,
    print: (text) => (command.json ? process.stdout.write(`${text}\n`) : ui.print(text)),
  });
  endWhenWritten(exitCode);
}

function hostInfo() {
  const { env, platform } = process;
  const [homeDir, workingDir] = [homeFolder(), process.cwd()];
  return { env, platform, homeDir, workingDir, clock: systemClock, isOnNpm: IS_ON_NPM };
}

async function runHistoryCommand(json: boolean): Promise<void> {
  const { runHistory } = await import("./commands/history.ts");
  const ui = await openTerminal();
  const exitCode = await runHistory(configOf(NO_FLAGS), json, ui, systemClock);
  endWhenWritten(exitCode);
}

async function openTerminal(): Promise<TerminalUi> {
  const { TerminalUi } = await import("./commands/terminal-ui.ts");
  return new TerminalUi(STREAMS);
}

/** Ends with 1 if the output could not be written, but for a reader that has read enough, such as head. */
function endWhenWritten(exitCode: number): void {
  process.stdout.write("", () => {
    // A failed write is told in a turn of its own.
    setImmediate(() =>
      endProcess(stdoutError === undefined || errnoOf(stdoutError) === "EPIPE" ? exitCode : 1),
    );
  });
}

/**
 * `process.exit` waits for the files and name lookups of the thread pool, even for those that hang. What has
 * not ended after `patienceMs` is given up with the whole process.
 */
function endProcess(exitCode: number, patienceMs = THREAD_POOL_MS): void {
  if (!process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo)/.test(name)))
    process.exit(exitCode);
  if (patienceMs <= 0) process.kill(process.pid, "SIGKILL");
  setTimeout(() => endProcess(exitCode, patienceMs - LOOK_MS), LOOK_MS);
}

/**
 * Node.js finds the home folder of a user that the system does not know only in HOME, and takes an empty one
 * as it is: the journal would then lie in whatever folder the client starts this in.
 */
function homeFolder(): string {
  let home = "";
  try {
    home = homedir();
  } catch {
    // There is none.
  }
  if (isAbsolute(home)) return home;
  process.stderr.write(
    "faceless-video-mcp: this user has no home folder, so nothing was started. Set HOME to a folder that this user can write to.\n",
  );
  return process.exit(1);
}

function onSignals(end: (signal: NodeJS.Signals) => void): void {
  for (const signal of SIGNALS) process.on(signal, end);
}
