// npm run clients: real applications from npm do a whole job with the entry that `config` prints, a sandbox and a
// scripted model, in a terminal (by tmux, as a user who says yes) and without one. Writes docs/CLIENTS.md.
// `-- codex gemini` runs only those and writes nothing, also with `--only terminal`. `-- --latest` takes their latest
// versions, and `-- --render 6` has renders take six seconds and not three minutes. Linux only. With PICTURE=FILE, VS
// Code's form is pictured: docs/vscode-form.png.

import { mkdtemp } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { entryOf, printDocument } from "../../../src/commands/client-config.ts";
import { addCommandOf, FORMATS } from "../../../src/commands/client-formats.ts";
import { EXAMPLE_KEY } from "../../../src/commands/server-entry.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { installed, npmProgram, VERSIONS } from "../../fixtures/npm-tools.ts";
import { latestVersion } from "../fixtures/npm-versions.ts";
import { report } from "../report.ts";
import { type Application, APPLICATIONS } from "./applications.ts";
import { fromTopicToPublished } from "./job.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { makePlace, type ServedPackage, serveServer } from "./place.ts";
import { leftProcesses, runToEnd, type Start, stop } from "./processes.ts";
import { isGood, reportTable, type Row } from "./report.ts";
import { startScriptedModel } from "./scripted-model.ts";
import { FIRST_KEY } from "./use-in-terminal.ts";

type Variables = Readonly<Record<string, string>>;

/** As long as the service takes, so that a wait shows how long the client is patient. */
const RENDER_SECONDS = "185";
const LIMIT_MS = 420_000;
/** Lets a client that asks nobody order and post. */
const UNASKED = { FACELESS_CONFIRM_GENERATE: "off", FACELESS_CONFIRM_PUBLISH: "off" };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    latest: { type: "boolean", default: false },
    render: { type: "string", default: RENDER_SECONDS },
    only: { type: "string", default: "" },
  },
});
const wanted = APPLICATIONS.filter(
  ({ client, mode }) =>
    mode.includes(values.only) && (positionals.length === 0 || positionals.includes(client)),
);

const folder = makeFolder();
let server: ServedPackage | undefined;
try {
  server = await serveServer(folder);
  const rows: Row[] = [];
  for (const application of wanted) {
    // eslint-disable-next-line no-await-in-loop -- one after the other: some don't like a busy machine
    const row = await rowOf(application, server);
    process.stdout.write(`${reportTable([row]).split("\n")[2]}\n`);
    rows.push(row);
  }
  if (wanted.length === APPLICATIONS.length) await report("docs/CLIENTS.md", "runs", reportTable(rows));
  if (!rows.every(isGood)) process.exitCode = 1;
} finally {
  server?.close();
  removeFolder(folder);
}

async function rowOf(application: Application, server: ServedPackage): Promise<Row> {
  const { title, mode, npmPackage, isAllowed = true } = application;
  const date = new Date().toISOString().slice(0, 10);
  try {
    const version = values.latest ? latestVersion(npmPackage) : VERSIONS[npmPackage];
    // Some build modules for the Node that npm runs on.
    const env = { PATH: [dirname(await npmProgram("node", "node")), process.env["PATH"]].join(delimiter) };
    const bin = join(await installed({ [npmPackage]: version }, env), "node_modules/.bin");
    const start = { command: join(bin, application.executable), env };
    const once = (more: Variables) => runOnce(application, server, start, more);
    const first = await once({});
    const unasked = first.refusedByItself ? await once(UNASKED) : undefined;
    return { title, version, mode, date, isAllowed, first, unasked };
  } catch (error) {
    return { title, version: "", mode, date, isAllowed, notRun: String(error).split("\n")[0] ?? "" };
  }
}

async function runOnce(
  application: Application,
  server: ServedPackage,
  { command, env }: Pick<Start, "command" | "env">,
  more: Variables,
): Promise<Outcome> {
  const { client, inSandbox = false, renderSeconds = values.render } = application;
  const home = await mkdtemp(join(folder, `${client}-`));
  const place = await makePlace(home, server, { FACELESS_SANDBOX_SECONDS: renderSeconds, ...more });
  const model = await startScriptedModel(fromTopicToPublished);
  const service = await startSandbox({ renderSeconds: Number(renderSeconds) });
  const start = {
    command,
    cwd: place.project,
    env: {
      ...env,
      HOME: home,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      SHELL: "/bin/sh",
      ...(!inSandbox && { FACELESS_API_KEY: FIRST_KEY }),
    },
  };
  // As printed once the package is on npm: npx gets the recording server from the registry on loopback.
  const entry = entryOf(client, { windows: false, sandbox: inSandbox }, service.url);
  const given = {
    ...place,
    entry: printDocument(FORMATS[client], entry).replaceAll(EXAMPLE_KEY, FIRST_KEY),
    addCommand: addCommandOf(FORMATS[client], entry) ?? [],
    modelUrl: model.url,
    ask: (...args: readonly string[]) => runToEnd({ ...start, args }, LIMIT_MS),
  };
  try {
    const { args, env: own } = await application.prepare(given);
    const job = { ...start, args, env: { ...start.env, ...own } };
    const output = application.use === undefined ? await runToEnd(job, LIMIT_MS) : undefined;
    // A step that a user could not do is a finding like any other.
    const use = application.use?.(job, given, AbortSignal.timeout(LIMIT_MS)) ?? Promise.resolve(undefined);
    const end = await use.then(
      (seen) => ({ seen, failure: undefined }),
      (error: unknown) => ({ seen: undefined, failure: String(error) }),
    );
    const outcome = outcomeOf(model.turns, await place.serverRuns(), await leftProcesses(home), end);
    if (end.failure !== undefined || !(outcome.published || outcome.refusedByItself))
      process.stderr.write(
        `${application.title}, ${application.mode}: ${end.failure ?? output}\nUnknown requests: ${model.unknown.join(", ")}\n`,
      );
    return outcome;
  } finally {
    stop(await leftProcesses(home));
    await model.close();
    await service.close();
  }
}
