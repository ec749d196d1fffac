// docs/examples/backend: its own workers, pg-boss and a real Postgres, with a sandbox behind a faulty proxy.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { GENERATE, VIDEOS } from "../../fixtures/constants.ts";
import { makeFolder, removeFolder, temporaryFolder } from "../../fixtures/folder.ts";
import { freePort } from "../../fixtures/free-port.ts";
import { installed, npmProgram } from "../../fixtures/npm-tools.ts";
import { type Postgres, POSTGRES_SERVERS, startPostgres } from "../fixtures/postgres.ts";
import { run } from "../../fixtures/run.ts";
import {
  type Handler,
  type RecordedRequest,
  scriptedService,
  type ScriptedService,
} from "../../fixtures/scripted-service.ts";
import { until } from "../../fixtures/until.ts";

const EXAMPLE = fileURLToPath(new URL("../../../docs/examples/backend", import.meta.url));
const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) });
const orderSchema = z.object({
  order: z.string(),
  topic: z.string(),
  state: z.string(),
  jobId: z.string().optional(),
  finalVideoUrl: z.string().optional(),
  problem: z.string().optional(),
  candidates: z.array(z.object({ jobId: z.string() })).default([]),
});
type Order = z.infer<typeof orderSchema>;
/** The proxy withholds the service's answers to these. */
const UNANSWERED = ["[lost] one", "[lost] two", "[hold] one", "[499] one"];

let node: string;
let folder: string;
let postgres: Postgres;

beforeAll(async () => {
  node = await npmProgram("node", "node");
  folder = makeFolder();
  cpSync(EXAMPLE, folder, { recursive: true });
  const { "faceless-video-mcp": _, ...others } = manifestSchema.parse(
    JSON.parse(readFileSync(join(EXAMPLE, "package.json"), "utf8")),
  ).dependencies;
  cpSync(join(await installed(others), "node_modules"), join(folder, "node_modules"), { recursive: true });
  symlinkSync(BUILT_FILE, join(folder, "node_modules/.bin/faceless-video-mcp"));
  postgres = await startPostgres(POSTGRES_SERVERS[0]);
  return async () => {
    await postgres.close();
    removeFolder(folder);
  };
});

test("every order is paid for once despite lost answers and a killed worker", async () => {
  const { paid, jobOf, startWorker, add, orders, command, anHourLater } = await startBackend();
  const topics = Array.from({ length: 12 }, (_, index) => `Topic ${index}`);
  for (const topic of [...topics, ...UNANSWERED]) await add(topic);
  const isUnanswered = (topic: string) =>
    UNANSWERED.includes(topic) && paid.some((order) => order.topic === topic);
  const doomed = await startWorker();
  await until(() => paid.some(({ topic }) => topic.startsWith("[hold]")));
  doomed.kill("SIGKILL");
  await Promise.all([startWorker(), startWorker()]);

  const settled = (states: (order: Order) => boolean) =>
    expect
      .poll(async () => (await orders()).filter((order) => !states(order)), {
        timeout: 240_000,
        interval: 1_000,
      })
      .toEqual([]);
  // Each try of an order that is not answered waits for as long as an answer may come.
  await settled(({ state, topic }) => state === "completed" || (state === "waiting" && isUnanswered(topic)));
  await anHourLater();
  await settled(({ state }) => state === "completed" || state === "unanswered");
  // The worker may have been killed before or after it sent: a person looks whether there is a video.
  for (const { order, topic, state, problem = "", candidates } of await orders()) {
    if (state === "completed") continue;
    const jobId = jobOf(topic);
    expect(candidates).toSatisfy(
      (jobs: typeof candidates) => jobId === undefined || jobs.some((job) => job.jobId === jobId),
    );
    const code = /confirm: "(\w+)"/.exec(problem)?.[1] ?? "no code";
    const { stdout } = await (jobId === undefined
      ? command("send-again", order, code)
      : command("adopt", order, jobId));
    expect({ topic, stdout }).toEqual({ topic, stdout: '"done"\n' });
  }

  await expect.poll(async () => statesOf(await orders()), { timeout: 120_000 }).toEqual({ completed: 16 });
  expect((await orders()).filter((order) => order.finalVideoUrl === undefined)).toEqual([]);
  expect(paid.map(({ topic }) => topic).toSorted()).toEqual([...topics, ...UNANSWERED].toSorted());
});

test("an order that two workers carry out at once is paid for once", async () => {
  const { paid, startWorker, add, orders } = await startBackend();
  await Promise.all([startWorker(), startWorker()]);
  await Promise.all(Array.from({ length: 12 }, () => add("The same words")));

  await expect.poll(async () => statesOf(await orders()), { timeout: 120_000 }).toEqual({ completed: 12 });
  expect(new Set((await orders()).map(({ jobId }) => jobId))).toEqual(
    new Set(paid.map(({ jobId }) => jobId)),
  );
  expect(paid).toHaveLength(1);
});

test("an order waits for a service that can't be reached, and is then paid for once", async () => {
  const { paid, startProxy, startWorker, add, orders } = await startBackend({ isReachable: false });
  await add("Patience");
  await startWorker();
  await expect
    .poll(async () => (await orders()).map(({ state, problem }) => ({ state, problem })), { timeout: 60_000 })
    .toEqual([{ state: "waiting", problem: expect.stringContaining("ECONNREFUSED") }]);

  await startProxy();

  await expect.poll(async () => statesOf(await orders()), { timeout: 120_000 }).toEqual({ completed: 1 });
  expect(paid.map(({ topic }) => topic)).toEqual(["Patience"]);
});

test("an order is sent again by hand only when the first request can no longer be under way", async () => {
  const { paid, startWorker, add, command, orders } = await startBackend();
  await add("[lost] one");
  await startWorker();
  await expect
    .poll(async () => (await orders()).map(({ state, problem }) => ({ state, problem })), {
      timeout: 120_000,
    })
    .toEqual([
      { state: "waiting", problem: expect.stringContaining("It is not known whether a video was started") },
    ]);
  const [order] = await orders();

  expect((await command("send-again", order?.order ?? "")).stdout).toBe(
    '"Only an unanswered order can be adopted or sent again."\n',
  );
  expect(paid).toHaveLength(1);
});

// Postgres does not run as root.
test.runIf(process.getuid?.() === 0)("the page's commands make a database", async () => {
  const [commands = ""] =
    /(?<=```sh\n).*?(?=```)/s.exec(readFileSync(join(EXAMPLE, "README.md"), "utf8")) ?? [];
  // Other users may enter it, unlike the tests' own folder.
  const home = `/tmp/faceless-backend-${process.pid}`;
  mkdirSync(home);
  onTestFinished(() => removeFolder(home));
  chownSync(home, 65_534, 65_534);
  const script = `set -e; ${commands} trap 'pg_ctl --pgdata=postgres stop' EXIT; psql "$DATABASE_URL" -c 'select 1'`;
  const asNobody = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "sh", "-c", script];

  expect(await run("setpriv", asNobody, { cwd: home })).toMatchObject({ code: 0 });
});

/** A database, a sandbox and a proxy of its own, and the example's programs for them. */
async function startBackend({ isReachable = true } = {}) {
  const database = `test_${randomUUID().replaceAll("-", "")}`;
  await postgres.sql(`create database ${database}`);
  const sandbox = await startSandbox({ renderSeconds: 2, credits: 100, requestsPerMinute: 1_000 });
  onTestFinished(() => sandbox.close());
  const paid: { readonly topic: string; readonly jobId: string }[] = [];
  const forward = ({ method, path, headers: { authorization = "" }, body }: RecordedRequest) =>
    fetch(`${sandbox.url}${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body !== "" && { body }),
    });
  /** Loses the answer to a topic with [lost], withholds that to [hold], and makes that to [499] a 499. */
  const generate: Handler = async (request) => {
    const answer = await forward(request);
    if (!answer.ok) return answer;
    const { topic } = z.object({ topic: z.string() }).parse(request.json);
    const json = z.looseObject({ jobId: z.string() }).parse(await answer.json());
    paid.push({ topic, jobId: json.jobId });
    proxy?.on(`GET /api/v1/status/${json.jobId}`, forward);
    if (topic.includes("[lost]")) return "hang up";
    if (topic.includes("[hold]")) return "hang";
    return topic.includes("[499]") ? { status: 499 } : { json };
  };
  const port = await freePort();
  let proxy: ScriptedService | undefined;
  const startProxy = async () => {
    proxy = await scriptedService({ [GENERATE]: generate, [VIDEOS]: forward }, { port });
  };
  if (isReachable) await startProxy();
  const env = {
    DATABASE_URL: postgres.url("postgres", database),
    FACELESS_BASE_URL: `http://127.0.0.1:${port}`,
    FACELESS_API_KEY: sandbox.apiKey,
  };
  const command = (...args: string[]) => run(node, [join(folder, "orders.mjs"), ...args], { env });
  const ask = async (...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await command(...args);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  };
  return {
    paid,
    jobOf: (topic: string) => paid.find((one) => one.topic === topic)?.jobId,
    startProxy,
    command,
    add: (topic: string) => ask("add", topic),
    /** Ages every journal entry by an hour, so that no request is under way any more. */
    anHourLater: () =>
      postgres.sql(
        `update public.faceless_journal set line =
          regexp_replace(line, '"atMs":\\d+', '"atMs":' || substring(line from '"atMs":(\\d+)')::bigint - 3600000)`,
        database,
      ),
    orders: async () => z.array(orderSchema).parse(await ask("list")),
    async startWorker(): Promise<ChildProcess> {
      const child = spawn(node, [join(folder, "worker.mjs")], {
        env: { ...env, HOME: temporaryFolder() },
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      await once(child.stdout, "data");
      return child;
    },
  };
}

function statesOf(orders: readonly Order[]): Record<string, number> {
  const states = orders.map(({ state }) => state);
  return Object.fromEntries(states.map((state) => [state, states.filter((other) => other === state).length]));
}
