// Orders for videos in Postgres, and pg-boss's queue in the same database. Each order is paid for once at most, and none is lost:
//
// - An order and the job that carries it out are written in one transaction.
// - `sending` is committed before the request is sent. A retried job that finds it sends nothing: the attempt before it may have been paid
//   for.
// - Only what was provably not carried out goes back to `waiting`. All else is `unanswered`, and a person decides.
//
// waiting → sending → rendering → completed, failed
//           sending → waiting, refused, unanswered

import pg from "pg";
import { PgBoss } from "pg-boss";

const SCHEMA = `
  create table if not exists orders (
    id uuid primary key default gen_random_uuid(),
    request jsonb not null,
    state text not null default 'waiting' check (state in
      ('waiting', 'sending', 'rendering', 'completed', 'failed', 'refused', 'unanswered')),
    job_id text unique,
    final_video_url text,
    problem text,
    sent_at timestamptz,
    ordered_at timestamptz not null default now()
  );
  create index if not exists orders_open on orders (state) where state not in ('completed', 'failed', 'refused')`;

const DAY_SECONDS = 86_400;
/** No order is dropped for its number of attempts: each costs nothing until the service has accepted it. */
const GENERATE_QUEUE = {
  retryLimit: 100_000,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 300,
  retentionSeconds: 90 * DAY_SECONDS,
  expireInSeconds: 300,
  // A worker that was killed is noticed that soon.
  heartbeatSeconds: 15,
};
/** `stately`: one is queued and one runs, however many workers ask. */
const LOOK_QUEUE = { ...GENERATE_QUEUE, policy: "stately", expireInSeconds: 60 };
const LOOK_EVERY_SECONDS = 5;
const REQUEST_MS = 30_000;
/** Older videos than the newest hundred, each of which costs a request. */
const MAX_STATUS_REQUESTS = 10;
/** Until then the request may still be on its way. */
const MAY_BE_UNDER_WAY = "10 minutes";

export async function openBackend({ databaseUrl, service }) {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  const boss = new PgBoss({
    connectionString: databaseUrl,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
  });
  boss.on("error", (error) => console.error(String(error)));
  pool.on("error", (error) => console.error(String(error)));
  await boss.start().catch((error) => {
    // Of an address with several, pg gives one error for each.
    const { message, code } = error.errors?.[0] ?? error;
    throw new Error(`The database of DATABASE_URL can't be used: ${message || code}.`, { cause: error });
  });
  await boss.createQueue("generate", GENERATE_QUEUE);
  await boss.createQueue("look", LOOK_QUEUE);
  await inTransaction(pool, async (client) => {
    // Two processes that create the same table at the same moment would fail.
    await client.query("select pg_advisory_xact_lock(hashtext('orders'))");
    await client.query(SCHEMA);
  });

  return {
    /** Takes an order. It is carried out even if this process ends now. */
    async order(request) {
      return inTransaction(pool, async (client) => {
        const { rows } = await client.query("insert into orders (request) values ($1) returning id", [
          request,
        ]);
        await boss.send("generate", { orderId: rows[0].id }, { db: asDatabase(client) });
        return rows[0].id;
      });
    },

    /** Carries out orders until the process ends. */
    async work() {
      await boss.work("generate", { localConcurrency: 4, pollingIntervalSeconds: 1 }, async ([job]) =>
        generate(pool, service, job.data.orderId),
      );
      await boss.work("look", { pollingIntervalSeconds: 1 }, async () => {
        await look(pool, service);
        await boss.send("look", null, { startAfter: LOOK_EVERY_SECONDS });
      });
      await boss.send("look");
    },

    async orders() {
      return (await pool.query("select * from orders order by ordered_at, id")).rows;
    },

    /** The orders of which nobody knows whether they are paid for, and the service's videos that belong to no order. */
    async unanswered() {
      const videos = await service.videos();
      const { rows } = await pool.query("select * from orders where state in ('sending', 'unanswered')");
      const known = await pool.query("select job_id from orders where job_id = any($1)", [
        videos.map(({ jobId }) => jobId),
      ]);
      const owned = new Set(known.rows.map(({ job_id }) => job_id));
      return { orders: rows, videos: videos.filter(({ jobId }) => !owned.has(jobId)) };
    },

    /** A person has seen that this video is the order's. */
    async adopt(orderId, jobId) {
      const { rowCount } = await pool.query(
        "update orders set state = 'rendering', job_id = $2, problem = null where id = $1 and state = 'unanswered'",
        [orderId, jobId],
      );
      if (rowCount !== 1) throw new Error("Only an unanswered order can be given a video.");
    },

    /** A person has seen that the service has no video of this order. */
    async sendAgain(orderId) {
      await inTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `update orders set state = 'waiting', problem = null
           where id = $1 and state = 'unanswered' and sent_at < now() - interval '${MAY_BE_UNDER_WAY}'`,
          [orderId],
        );
        if (rowCount !== 1)
          throw new Error(
            `Only an unanswered order can be sent again, ${MAY_BE_UNDER_WAY} after it was sent.`,
          );
        await boss.send("generate", { orderId }, { db: asDatabase(client) });
      });
    },

    async close() {
      await boss.stop();
      await pool.end();
    },
  };
}

/** Carries out one order. pg-boss runs it again if it throws, and if its process dies. */
async function generate(pool, service, orderId) {
  await service.ready();
  // Begins before the order is claimed: a process that is held up after that sends nothing.
  const signal = AbortSignal.timeout(REQUEST_MS);
  const claimed = await pool.query(
    "update orders set state = 'sending', sent_at = now() where id = $1 and state = 'waiting' returning request",
    [orderId],
  );
  if (claimed.rowCount === 0) {
    // An attempt before this one got as far as sending, and did not live to say how it ended.
    await pool.query(
      "update orders set state = 'unanswered', problem = 'the worker ended' where id = $1 and state = 'sending'",
      [orderId],
    );
    return;
  }
  const { outcome, jobId, problem } = await service.generate(claimed.rows[0].request, signal);
  const state = { started: "rendering", rejected: "waiting", refused: "refused", unanswered: "unanswered" }[
    outcome
  ];
  // `unanswered` too: a second attempt may have given this one up too early.
  await pool.query(
    "update orders set state = $2, job_id = $3, problem = $4 where id = $1 and state in ('sending', 'unanswered')",
    [orderId, state, jobId ?? null, problem ?? null],
  );
  if (outcome === "rejected") throw new Error(`Not carried out: ${problem}.`);
}

/** Brings the orders that render up to date: one request for the newest hundred. */
async function look(pool, service) {
  const { rows } = await pool.query(
    "select id, job_id from orders where state = 'rendering' order by sent_at",
  );
  if (rows.length === 0) return;
  const videos = new Map((await service.videos()).map((video) => [video.jobId, video]));
  let statusRequests = 0;
  for (const { id, job_id: jobId } of rows) {
    const video = videos.get(jobId);
    if (video === undefined && (statusRequests += 1) > MAX_STATUS_REQUESTS) continue;
    const status = video?.status ?? (await service.status(jobId));
    if (status !== "completed" && status !== "failed") continue;
    await pool.query(
      "update orders set state = $2, final_video_url = $3 where id = $1 and state = 'rendering'",
      [id, status, video?.finalVideoUrl ?? null],
    );
  }
}

async function inTransaction(pool, run) {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await run(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

/** Lets pg-boss write its job in our transaction. */
function asDatabase(client) {
  return { executeSql: (text, values) => client.query(text, values) };
}
