// The queue of orders, pg-boss, in the database that also has the journal.
import { PgBoss } from "pg-boss";

export const ORDERS = "orders";
const RETENTION = { retentionSeconds: 90 * 86_400, deleteAfterSeconds: 90 * 86_400 };
/** No order is dropped for its number of attempts: an attempt alone costs nothing. */
const RETRIES = { retryLimit: 100_000, retryDelay: 2, retryBackoff: true, retryDelayMax: 300 };

export async function openQueue() {
  const { DATABASE_URL: connectionString } = process.env;
  if (!connectionString) throw new Error("DATABASE_URL is not set. README.md says to what.");
  const boss = new PgBoss({ connectionString, monitorIntervalSeconds: 5 });
  boss.on("error", (error) => console.error(error?.message ?? JSON.stringify(error)));
  await boss.start();
  // A worker that was killed is noticed when its heartbeat is missed.
  await boss.createQueue(ORDERS, { ...RETRIES, ...RETENTION, heartbeatSeconds: 15 });
  return boss;
}
