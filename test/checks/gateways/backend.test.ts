// docs/examples/backend: its own workers, pg-boss and a real Postgres, with a sandbox behind a faulty proxy.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, symlink } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { GENERATE, VIDEOS } from "../../fixtures/constants.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { installed, npmProgram } from "../../fixtures/npm-tools.ts";
import { run } from "../../fixtures/run.ts";
import { type Handler, type RecordedRequest, scriptedService } from "../../fixtures/scripted-service.ts";
import { until } from "../../fixtures/until.ts";
import { freePort } from "../../fixtures/free-port.ts";

const EXAMPLE = fileURLToPath(new URL("../../../docs/examples/backend", import.meta.url));
const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) });
const orderSchema = z.object({
  id: z.string(),
  request: z.object({ topic: z.string() }),
  state: z.string(),
  job_id: z.string().nullable(),
  final_video_url: z.string().nullable(),
  problem: z.string().nullable(),
});
const unansweredSchema = z.object({
  orders: z.array(orderSchema),
  videos: z.array(z.object({ jobId: z.string() })),
});
const postgresSchema = z.object({
  PGHOST: z.string(),
  PGPORT: z.string(),
  PGUSER: z.string(),
  PGPASSWORD: z.string(),
});
type Order = z.infer<typeof orderSchema>;
/** The proxy withholds the service's answers to these. */
const UNANSWERED = ["[lost] one", "[lost] two", "[hold] one", "[499] one"];

const hasPostgres = spawnSync("pg_virtualenv", ["-h"]).error === undefined;
if (!hasPostgres)
  process.stdout.write(
    "SKIPPED: the backend example, because Debian's Postgres is not installed (apt-get install postgresql).\n",
  );

describe.skipIf(!hasPostgres)("the backend example", () => {
  let node: string;
  let folder: string;
  let postgres: Awaited<ReturnType<typeof startPostgres>>;

  beforeAll(async () => {
    node = await npmProgram("node", "node");
    folder = makeFolder();
    const { dependencies } = manifestSchema.parse(
      JSON.parse(await readFile(join(EXAMPLE, "package.json"), "utf8")),
    );
    await cp(EXAMPLE, folder, { recursive: true });
    await symlink(join(await installed(dependencies), "node_modules"), join(folder, "node_modules"));
    postgres = await startPostgres();
    return async () => {
      await postgres.close();
      removeFolder(folder);
    };
  });

  test("every order is paid for once despite lost answers and a killed worker", async () => {
    const { paid, jobOf, startWorker, add, orders, unanswered, command, anHourLater } = await startBackend();
    const topics = Array.from({ length: 12 }, (_, index) => `Topic ${index}`);
    for (const topic of [...topics, ...UNANSWERED]) await add(topic);
    const doomed = await startWorker();
    await until(() => paid.some(({ topic }) => topic.startsWith("[hold]")));
    doomed.kill("SIGKILL");
    await Promise.all([startWorker(), startWorker()]);

    // The worker may have been killed before or after it sent: a person looks whether there is a video.
    for (;;) {
      await expect
        .poll(async () => isSettled(await orders()), { timeout: 240_000, interval: 1_000 })
        .toBe(true);
      const open = await unanswered();
      const jobIds = open.orders.flatMap(({ request }) => jobOf(request.topic) ?? []);
      expect(new Set(open.videos.map(({ jobId }) => jobId))).toEqual(new Set(jobIds));
      if (open.orders.length === 0) break;
      await anHourLater();
      for (const { id, request } of open.orders) {
        const jobId = jobOf(request.topic);
        const { stderr } = await (jobId === undefined
          ? command("send-again", id)
          : command("adopt", id, jobId));
        expect(stderr).toBe("");
      }
    }

    expect(statesOf(await orders())).toEqual({ completed: 16 });
    expect((await orders()).filter((order) => order.final_video_url === null)).toEqual([]);
    expect(paid.map(({ topic }) => topic).toSorted()).toEqual([...topics, ...UNANSWERED].toSorted());
  });

  test("an order waits for a service that can't be reached, and is then paid for once", async () => {
    const { paid, startProxy, startWorker, add, orders } = await startBackend({ isReachable: false });
    await add("Patience");
    await startWorker();
    await expect
      .poll(async () => (await orders()).map(({ state, problem }) => ({ state, problem })), {
        timeout: 60_000,
      })
      .toEqual([{ state: "waiting", problem: "ECONNREFUSED" }]);

    await startProxy();

    await expect.poll(async () => statesOf(await orders()), { timeout: 120_000 }).toEqual({ completed: 1 });
    expect(paid.map(({ topic }) => topic)).toEqual(["Patience"]);
  });

  test("an order is sent again by hand only when the first request can no longer be under way", async () => {
    const { paid, startWorker, add, command, orders, unanswered } = await startBackend();
    await add("[lost] one");
    await startWorker();
    await expect.poll(async () => statesOf(await orders()), { timeout: 60_000 }).toEqual({ unanswered: 1 });
    const [order] = (await unanswered()).orders;

    const { code, stderr } = await command("send-again", order?.id ?? "");

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "Only an unanswered order can be sent again, 10 minutes after it was sent.\n",
    });
    expect(paid).toHaveLength(1);
  });

  /** A database, a sandbox and a proxy of its own, and the example's programs for them. */
  async function startBackend({ isReachable = true } = {}) {
    const { PGUSER, PGPASSWORD, PGHOST, PGPORT } = postgres.env;
    const database = `test_${randomUUID().replaceAll("-", "")}`;
    const sql = async (name: string, statement: string) => {
      const { code, stderr } = await run("psql", ["-d", name, "-c", statement], { env: postgres.env });
      if (code !== 0) throw new Error(stderr);
    };
    await sql("postgres", `create database ${database}`);
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
      if (topic.includes("[lost]")) return "hang up";
      if (topic.includes("[hold]")) return "hang";
      return topic.includes("[499]") ? { status: 499 } : { json };
    };
    const port = await freePort();
    const startProxy = () => scriptedService({ [GENERATE]: generate, [VIDEOS]: forward }, { port });
    if (isReachable) await startProxy();
    const env = {
      DATABASE_URL: `postgres://${PGUSER}:${PGPASSWORD}@${PGHOST}:${PGPORT}/${database}`,
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
      env,
      paid,
      jobOf: (topic: string) => paid.find((one) => one.topic === topic)?.jobId,
      startProxy,
      command,
      add: (topic: string) => ask("add", topic),
      /** Makes all orders an hour older: their requests may be under way for ten minutes. */
      anHourLater: () => sql(database, "update orders set sent_at = sent_at - interval '1 hour'"),
      orders: async () => z.array(orderSchema).parse(await ask("list")),
      unanswered: async () => unansweredSchema.parse(await ask("unanswered")),
      async startWorker(): Promise<ChildProcess> {
        const child = spawn(node, [join(folder, "worker.mjs")], {
          env,
          stdio: ["ignore", "pipe", "inherit"],
        });
        onTestFinished(() => void child.kill("SIGKILL"));
        await once(child.stdout, "data");
        return child;
      },
    };
  }
});

/** Starts Postgres with pg_virtualenv, Debian's tool for tests, which removes it when its command ends. */
async function startPostgres() {
  const child = spawn("pg_virtualenv", ["-t", "sh", "-c", "env; echo ready; cat"], {
    // Postgres may run as another user, who must be able to read this folder.
    env: { ...process.env, TMPDIR: "/tmp" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  await until(() => /^ready$/m.test(said));
  const env = Object.fromEntries(
    [...said.matchAll(/^(PG\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  return {
    env: postgresSchema.parse(env),
    async close() {
      child.stdin.end();
      await once(child, "close");
    },
  };
}

/** Whether nothing happens any more without a person. */
function isSettled(orders: readonly Order[]): boolean {
  return orders.every(({ state }) => state === "completed" || state === "unanswered");
}

function statesOf(orders: readonly Order[]): Record<string, number> {
  const states = orders.map(({ state }) => state);
  return Object.fromEntries(states.map((state) => [state, states.filter((other) => other === state).length]));
}
