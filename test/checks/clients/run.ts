// npm run test:clients: real applications from npm do a whole job with the entry that `config` prints for them, against the sandbox and a
// scripted model on loopback. Writes the table of docs/CLIENTS.md. `-- codex gemini` runs only those and writes nothing, `-- --latest` takes
// their latest versions, `-- --cache FOLDER` keeps what was installed. Names the folder of VS Code's screenshots. Linux only.

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { run } from "../../fixtures/run.ts";
import { report } from "../report.ts";
import { type Application, APPLICATIONS, NOT_RUN } from "./applications.ts";
import { install, type Installation } from "./installation.ts";
import { fromTopicToPublished } from "./job.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { installServer, makePlace } from "./place.ts";
import { leftProcesses, runToEnd, stop } from "./processes.ts";
import { isGood, reportTable, type Row } from "./report.ts";
import { startScriptedModel } from "./scripted-model.ts";

/** Long enough that the client has to wait for the video. */
const RENDER_SECONDS = "6";
const LIMIT_MS = 300_000;
const PICTURES = join(tmpdir(), "faceless-clients-pictures");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { latest: { type: "boolean", default: false }, cache: { type: "string" } },
});
const wanted = APPLICATIONS.filter(({ client }) => positionals.length === 0 || positionals.includes(client));

const folder = makeFolder();
try {
  const packages = { folder: values.cache ?? join(folder, "packages"), latest: values.latest };
  const server = await installServer(folder);
  const node = await install("node", packages);
  const rows: Row[] = [];
  for (const application of wanted) {
    // eslint-disable-next-line no-await-in-loop -- one after the other: some don't like a busy machine
    const row = await rowOf(application, server, node, packages);
    process.stdout.write(`${reportTable([row]).split("\n")[2]}\n`);
    rows.push(row);
  }
  const notRun = NOT_RUN.map(({ title, why }) => ({ title, version: "", notRun: why }));
  if (positionals.length === 0) await report("CLIENTS.md", "runs", reportTable([...rows, ...notRun]));
  if (!rows.every(isGood)) process.exitCode = 1;
} finally {
  removeFolder(folder);
}

async function rowOf(
  application: Application,
  server: string,
  node: Installation,
  packages: Parameters<typeof install>[1],
): Promise<Row> {
  const { title } = application;
  try {
    const installation = await install(application.npmPackage, packages);
    const once = (env: Readonly<Record<string, string>>) =>
      runOnce(application, { server, node, installation, env });
    const first = await once({});
    const unasked = first.refusedByItself ? await once({ FACELESS_CONFIRM_PUBLISH: "off" }) : undefined;
    return { title, version: installation.version, first, unasked };
  } catch (error) {
    return { title, version: "", notRun: String(error).split("\n")[0] ?? "" };
  }
}

async function runOnce(
  application: Application,
  used: {
    readonly server: string;
    readonly node: Installation;
    readonly installation: Installation;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<Outcome> {
  const home = await mkdtemp(join(folder, `${application.client}-`));
  const place = await makePlace(home, used.server, {
    FACELESS_SANDBOX_SECONDS: application.renderSeconds ?? RENDER_SECONDS,
    ...used.env,
  });
  const model = await startScriptedModel(fromTopicToPublished);
  const start = {
    command: join(used.installation.bin, application.executable),
    cwd: place.project,
    env: {
      HOME: home,
      PATH: [used.node.bin, process.env["PATH"]].join(delimiter),
      TERM: "xterm-256color",
    },
  };
  const given = {
    ...place,
    entry: await entryOf(application),
    modelUrl: model.url,
    pictures: join(PICTURES, application.client),
    ask: (...args: readonly string[]) => runToEnd({ ...start, args }, LIMIT_MS),
  };
  try {
    const { args, env } = await application.prepare(given);
    const job = { ...start, args, env: { ...start.env, ...env } };
    let output: string | undefined;
    let failure: string | undefined;
    if (application.use === undefined) output = await runToEnd(job, LIMIT_MS);
    else failure = await failureOf(application.use(job, given, AbortSignal.timeout(LIMIT_MS)));
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

/** It is a finding like any other. */
async function failureOf(used: Promise<void>): Promise<string | undefined> {
  return used.then(() => undefined, String);
}

async function entryOf({ client }: Application): Promise<string> {
  const { code, stdout, stderr } = await run(process.execPath, [BUILT_FILE, "config", client, "--sandbox"]);
  if (code !== 0) throw new Error(stderr.trim());
  return stdout;
}
