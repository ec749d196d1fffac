// npm run clients: real applications from npm do a whole job with the entry that `config` prints, the
// sandbox and a scripted model. Writes docs/CLIENTS.md. `-- codex gemini` runs only those and writes nothing,
// `-- --latest` takes their latest versions, `-- --render 180` has renders take as long as the service's. Linux only.

import { mkdtemp } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { entryOf, printDocument } from "../../../src/commands/client-config.ts";
import { FORMATS } from "../../../src/commands/client-formats.ts";
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

type Variables = Readonly<Record<string, string>>;

/** Long enough that the client has to wait for the video. */
const RENDER_SECONDS = "6";
const LIMIT_MS = 420_000;
/** As `config CLIENT --sandbox` prints it once the package is on npm. */
const ENTRY = { windows: false, sandbox: true };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    latest: { type: "boolean", default: false },
    render: { type: "string", default: RENDER_SECONDS },
  },
});
const wanted = APPLICATIONS.filter(({ client }) => positionals.length === 0 || positionals.includes(client));

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
  const desktop = { title: "Claude Desktop, Cursor, Windsurf, Zed", version: "" };
  const all = [...rows, { ...desktop, notRun: "desktop applications that are not on npm" }];
  if (positionals.length === 0) await report("docs/CLIENTS.md", "runs", reportTable(all));
  if (!rows.every(isGood)) process.exitCode = 1;
} finally {
  server?.close();
  removeFolder(folder);
}

async function rowOf(application: Application, server: ServedPackage): Promise<Row> {
  const { title, npmPackage } = application;
  try {
    const version = values.latest ? latestVersion(npmPackage) : VERSIONS[npmPackage];
    // Some build modules for the Node that npm runs on.
    const env = { PATH: [dirname(await npmProgram("node", "node")), process.env["PATH"]].join(delimiter) };
    const bin = join(await installed({ [npmPackage]: version }, env), "node_modules/.bin");
    const start = { command: join(bin, application.executable), env };
    const once = (more: Variables) => runOnce(application, server, start, more);
    const first = await once({});
    const unasked = first.refusedByItself ? await once({ FACELESS_CONFIRM_PUBLISH: "off" }) : undefined;
    return { title, version, first, unasked };
  } catch (error) {
    return { title, version: "", notRun: String(error).split("\n")[0] ?? "" };
  }
}

async function runOnce(
  application: Application,
  server: ServedPackage,
  { command, env }: Pick<Start, "command" | "env">,
  more: Variables,
): Promise<Outcome> {
  const home = await mkdtemp(join(folder, `${application.client}-`));
  const place = await makePlace(home, server, {
    FACELESS_SANDBOX_SECONDS: application.renderSeconds ?? values.render,
    ...more,
  });
  const model = await startScriptedModel(fromTopicToPublished);
  const start = {
    command,
    cwd: place.project,
    env: { ...env, HOME: home, TERM: "xterm-256color" },
  };
  const given = {
    ...place,
    // npx gets the recording server from the registry on loopback.
    entry: printDocument(FORMATS[application.client], entryOf(application.client, ENTRY, "")),
    modelUrl: model.url,
    ask: (...args: readonly string[]) => runToEnd({ ...start, args }, LIMIT_MS),
  };
  try {
    const { args, env: own } = await application.prepare(given);
    const job = { ...start, args, env: { ...start.env, ...own } };
    const output = application.use === undefined ? await runToEnd(job, LIMIT_MS) : undefined;
    // A step that a user could not do is a finding like any other.
    const use = application.use?.(job, given, AbortSignal.timeout(LIMIT_MS));
    const failure = await use?.then(() => undefined, String);
    const outcome = outcomeOf(model.turns, await place.serverRuns(), await leftProcesses(home), failure);
    if (failure !== undefined || !(outcome.published || outcome.refusedByItself))
      process.stderr.write(
        `${application.title}: ${failure ?? output}\nUnknown requests: ${model.unknown.join(", ")}\n`,
      );
    return outcome;
  } finally {
    stop(await leftProcesses(home));
    await model.close();
  }
}
