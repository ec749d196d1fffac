#!/usr/bin/env node
// The executable: argv, environment, signals and exit codes. The one file that touches process.

import { Console } from "node:console";
import { once } from "node:events";
import * as nodeModule from "node:module";
import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "./clock.ts";
import { type Command, parseCommandLine, UsageError } from "./command-line.ts";
import type { Host } from "./commands/host.ts";
import type { Server } from "./commands/serve.ts";
import { type Config, readConfig } from "./config.ts";
import { errnoOf } from "./errors.ts";
import { IS_ON_NPM, VERSION } from "./version.ts";

/** The folder of this server's files. */
const FILES = fileURLToPath(new URL(".", import.meta.url));
const STREAMS = { input: process.stdin, output: process.stdout, errors: process.stderr };
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const FAULTS = ["uncaughtException", "unhandledRejection"] as const;
/** How long the last answers may be flushed. The whole end must take less than 250 ms. */
const FLUSH_MS = 100;
/** Grace period for files and name lookups that hang at the end. */
const THREAD_POOL_MS = 90;
const LOOK_MS = 10;
/** How long a sent paid or public request may delay the end, which then takes less than 2 s in all. */
const PAID_REQUEST_GRACE_MS = 1_500;

/** npx hands on the Ctrl-C that the terminal has sent here, too. */
const SAME_INTERRUPT_MS = 500;

/** How long each address of a host may take to connect. Node's own 250 ms are too short for distant hosts. */
const ADDRESS_ATTEMPT_MS = 2_000;

const NO_HOME = new Error("this user has no home folder. Set HOME to a folder that this user can write to.");

// A reader that has gone away is not a reason for a stack trace.
let stdoutError: Error | undefined;
process.stdout.on("error", (error: Error) => {
  stdoutError = error;
});
process.stderr.on("error", () => {});
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);

// The one catch of all commands: it reports any failure in a line. A server ends in its own way.
for (const event of FAULTS) process.on(event, failCommand);
void run();

async function run(): Promise<void> {
  const command = parseCommandLine(process.argv.slice(2));
  if (command.name === "version") process.stdout.write(`${VERSION}\n`);
  else if (command.name === "serve") await runServer(readConfig(process.env, command.flags, findHome()));
  else if (command.name === "help") {
    const { HELP_WIDTH, helpLines } = await import("./commands/help.ts");
    const { TerminalUi } = await import("./commands/terminal-ui.ts");
    new TerminalUi({ ...STREAMS, env: process.env }, HELP_WIDTH).print(helpLines(command.of).join("\n"));
  } else {
    // Neither the timers of requests nor the sandbox keep the process alive.
    setInterval(() => {}, 1_000);
    endWhenWritten(await runCommand(command));
  }
}

function failCommand(error: unknown): void {
  // The process may end before the line is written.
  process.exitCode = 1;
  if (error instanceof UsageError) void failUsage(error.message);
  else process.stderr.write(`faceless-video-mcp: ${describeFault(error)}\n`, () => process.exit(1));
}

async function failUsage(problem: string): Promise<void> {
  const { commandOf } = await import("./commands/server-entry.ts");
  const help = commandOf("--help", { files: FILES, isOnNpm: IS_ON_NPM });
  process.stderr.write(`faceless-video-mcp: ${problem}; see ${help}\n`, () => process.exit(2));
}

/** Only the system's own messages are shown: another one, or the stack, might hold anything. */
function describeFault(error: unknown): string {
  if (error === NO_HOME) return NO_HOME.message;
  const name = error instanceof Error && "syscall" in error ? error.message : nameOf(error);
  return `this program itself failed (${name}). Please report it with the command that you ran`;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown error";
}

type LocalCommand = Exclude<Command, { name: "version" | "help" | "serve" }>;

/** Returns the exit code, or ends by the signal that has interrupted the command. */
async function runCommand(command: LocalCommand): Promise<number> {
  const [interrupt, secondInterrupt] = [new AbortController(), new AbortController()];
  let interruptedAtMs = 0;
  onSignals((signal) => {
    if (!interrupt.signal.aborted) {
      interruptedAtMs = performance.now();
      interrupt.abort(signal);
    } else if (performance.now() - interruptedAtMs > SAME_INTERRUPT_MS) secondInterrupt.abort(signal);
  });
  const { signal } = interrupt;
  const interrupted = once(signal, "abort").then(() => 0);
  const ended = startCommand(command, {
    ...STREAMS,
    env: process.env,
    platform: process.platform,
    homeDir: findHome(),
    workingDir: process.cwd(),
    temporaryDir: tmpdir(),
    node: process.execPath,
    nodeVersion: process.versions.node,
    files: FILES,
    isOnNpm: IS_ON_NPM,
    clock: systemClock,
    interrupted: signal,
    interruptedAgain: secondInterrupt.signal,
  });
  // These two end in their own way.
  const isWaitedFor = command.name === "call" || command.name === "sandbox";
  const exitCode = await (isWaitedFor ? ended : Promise.race([ended, interrupted]));
  return signal.aborted && command.name !== "sandbox" ? endBySignal(String(signal.reason)) : exitCode;
}

/** Resolves to the exit code. */
async function startCommand(command: LocalCommand, host: Host): Promise<number> {
  switch (command.name) {
    case "demo":
      process.stdout.on("error", () => process.exit(1));
      return (await import("./commands/demo.ts")).runDemo(host);
    case "call":
      return (await import("./commands/call.ts")).runCall(command.argv, host);
    case "sandbox":
      return (await import("./commands/sandbox.ts")).runSandbox(command, host);
    case "doctor":
      if (command.client !== undefined) requireHome(host);
      return (await import("./commands/doctor.ts")).runDoctor(command, host);
    case "history":
      return (await import("./commands/history.ts")).runHistory(command.json, host);
    case "config":
      requireHome(host);
      return (await import("./commands/client-config.ts")).runConfig(command, host);
  }
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
    process.stderr.write(`faceless-video-mcp error: this server itself failed (${nameOf(error)}) and ends\n`);
    shutdown(1);
  };
  for (const event of FAULTS) process.off(event, failCommand).on(event, fail);
  const keepCompiledCode = await useCompileCache(config);
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

/** Node 22.8 and newer keep compiled code between starts. Returns what writes it down. */
async function useCompileCache({ stateDir, makesStateDir, problems }: Config): Promise<() => void> {
  const { enableCompileCache, flushCompileCache = () => {} }: CompileCache = nodeModule;
  // A folder that the user has set may lie in a project, whose files must not be run.
  const isUsable = makesStateDir && stateDir !== undefined && problems.length === 0;
  if (enableCompileCache === undefined || !isUsable) return () => {};
  try {
    const { makeFolder } = await import("./disk.ts");
    await makeFolder(stateDir, 0o700);
  } catch {
    // The journal says what is wrong.
    return () => {};
  }
  enableCompileCache(join(stateDir, "compiled"));
  return flushCompileCache;
}

/** The types are those of the lowest Node that we support. */
interface CompileCache extends Pick<typeof nodeModule, "createRequire"> {
  readonly enableCompileCache?: (folder: string) => unknown;
  readonly flushCompileCache?: () => void;
}

/** Ends by the signal, once all is written, so that a script that started this ends too. */
function endBySignal(signal: string): Promise<never> {
  process.removeAllListeners(signal);
  process.stdout.write("", () => process.kill(process.pid, signal));
  return new Promise(() => {});
}

/** Ends with 1 if the output could not be written, unless the reader has read enough, as `head` has. */
function endWhenWritten(exitCode: number): void {
  process.stdout.write("", () => {
    // A failed write is reported in a later turn.
    setImmediate(() => {
      const isWritten = stdoutError === undefined || errnoOf(stdoutError) === "EPIPE";
      endProcess(isWritten && process.exitCode === undefined ? exitCode : 1);
    });
  });
}

/** `process.exit` waits for the thread pool, even for what hangs there: that is killed after `patienceMs`. */
function endProcess(exitCode: number, patienceMs = THREAD_POOL_MS): void {
  if (!process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo)/.test(name)))
    process.exit(exitCode);
  if (patienceMs <= 0) process.kill(process.pid, "SIGKILL");
  setTimeout(() => endProcess(exitCode, patienceMs - LOOK_MS), LOOK_MS);
}

/** Empty if there is none: service managers set HOME to nothing, and the system may not know this user. */
function findHome(): string {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const home = find();
      if (isAbsolute(home)) return home;
    } catch {
      // The system doesn't know this user.
    }
  }
  return "";
}

/** Throws if there is no home folder, which holds the files of clients. */
function requireHome({ homeDir }: Host): void {
  if (homeDir === "") throw NO_HOME;
}

function onSignals(end: (signal: NodeJS.Signals) => void): void {
  for (const signal of SIGNALS) process.on(signal, end);
}
