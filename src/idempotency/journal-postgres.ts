// Keeps the journal's lines as rows of one table in a Postgres database, which servers on many computers share.
// Knows no meaning of a line and no policy. Its clock is the database's, so computers with wrong clocks agree.

import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Client, ClientConfig } from "pg";
import * as z from "zod";
import type { Clock } from "../clock.ts";
import { errnoOf } from "../errors.ts";
import { lazyValue } from "../lazy.ts";
import { isLoopback } from "../loopback.ts";
import { cleanServiceText } from "../text.ts";
import { MAX_DISK_MS } from "../time-budget.ts";
import { JournalError } from "./errors.ts";
import type { JournalStore } from "./journal.ts";

type OnLine = Parameters<JournalStore["readNew"]>[0];

/** An unused connection is closed: a database allows few, and networks forget those that are silent. */
const MAX_IDLE_MS = 60_000;
/** The pause before an outcome that could not be written is tried again. */
const RETRY_MS = 5_000;
const ROWS_PER_QUERY = 2_000;
const MAX_REASON_CHARACTERS = 200;
const [UNDEFINED_TABLE, UNDEFINED_COLUMN, READ_ONLY] = ["42P01", "42703", "25006"];
const FIX =
  "make sure that the database runs and can be reached from here, and that its user may select from this table and insert into it";

// The schema is named, since users may have different search paths. The lock is released once its transaction
// is visible, so rows become visible in the order of their positions. Its key is "faceless" in ASCII.
const TABLE = "public.faceless_journal";
const LOCK = "pg_advisory_xact_lock(x'666163656c657373'::bigint)";
const CREATE = `select ${LOCK};
  create table if not exists ${TABLE} (
    position bigint generated always as identity primary key,
    at timestamptz not null default clock_timestamp(),
    line text not null
  )`;
// One statement: a client that hangs between two would keep the lock. Those that wait for it give up some time.
const INSERT = `with locked as materialized (select set_config('lock_timeout', '3s', true), ${LOCK})
  insert into ${TABLE} (line) select $1 from locked`;
const NOW = "select extract(epoch from clock_timestamp())::float8 * 1000 as now";
// Gives the time even if there is no row.
const SELECT = `select * from (${NOW}) as clock left join lateral (
    select position, line from ${TABLE} where position >= $1 and at > now() - interval '90 days'
    order by position limit ${ROWS_PER_QUERY}
  ) as rows on true order by position`;
const RIGHTS = `select format('%I', current_user) as role, current_setting('transaction_read_only') = 'on' as "isReadOnly",
  has_schema_privilege('public', 'create') as "mayCreate",
  has_any_column_privilege(to_regclass('${TABLE}'), 'insert') as "mayInsert"`;

/** Made on first use, to keep the start fast. */
const schemas = lazyValue(() => {
  const row = z.object({
    now: z.number(),
    /** A 64-bit number. Null where there is no row. */
    position: z.string().nullish(),
    line: z.string().nullish(),
  });
  const rights = z.object({
    /** The user of the database, as SQL writes the name. */
    role: z.string(),
    isReadOnly: z.boolean(),
    mayCreate: z.boolean(),
    /** Null where the table is missing. */
    mayInsert: z.boolean().nullable(),
  });
  return { rows: z.tuple([row], row), rights };
});

interface Row {
  readonly position: string;
  readonly line: string;
}

interface Connection {
  readonly socket: Socket;
  readonly client: Promise<Client>;
}

export class JournalPostgres implements JournalStore {
  readonly place: string;
  readonly fix = FIX;
  readonly #address: ReturnType<typeof readAddress>;
  readonly #clock: Pick<Clock, "now" | "monotonicMs" | "after">;
  /** The database's clock minus the monotonic one. Undefined until the database has told the time. */
  #offsetMs: number | undefined;
  /** The row that was read last. */
  #last: Row | undefined;
  /** Looks run one after the other: two at once would both read what is new. */
  #looks: Promise<void> = Promise.resolve();
  /** Statements run one after the other. Never rejects. */
  #statements: Promise<void> = Promise.resolve();
  #connection: Connection | undefined;
  #cancelIdle = () => {};

  constructor(url: URL, clock: Pick<Clock, "now" | "monotonicMs" | "after">) {
    this.#address = readAddress(url);
    this.#clock = clock;
    this.place = `the table faceless_journal of ${this.#address.database} on ${this.#address.host}`;
  }

  now(): number {
    if (this.#offsetMs === undefined) return this.#clock.now();
    return Math.round(this.#clock.monotonicMs() + this.#offsetMs);
  }

  async append(line: string, isOutcome = false): Promise<void> {
    await this.#insert(line).catch((error: unknown) => {
      if (isOutcome) this.#insertLater(line);
      throw this.#toJournalError("written", error);
    });
  }

  /** Waits for the looks before it and shares their failure, so that no call waits for several. */
  readNew(onLine: OnLine): Promise<void> {
    const look = this.#looks.then(() => this.#look(onLine));
    this.#looks = look;
    const forget = () => {
      if (this.#looks === look) this.#looks = Promise.resolve();
    };
    look.then(forget, forget);
    return look;
  }

  /** What the user of the database may do. Throws a JournalError. */
  async rights() {
    const [row] = await this.#run(RIGHTS).catch((error: unknown) => {
      throw this.#toJournalError("read", error);
    });
    return schemas().rights.parse(row);
  }

  async #look(onLine: OnLine): Promise<void> {
    for (;;) {
      const last = this.#last;
      const rows = await this.#read(last?.position ?? "0");
      if (last !== undefined && rows[0]?.line !== last.line) {
        // The table was emptied or is another one, such as a backup's: positions mean other rows now.
        this.#last = undefined;
        continue;
      }
      for (const { line } of rows.slice(last === undefined ? 0 : 1)) onLine(line, this.place);
      this.#last = rows.at(-1);
      if (rows.length < ROWS_PER_QUERY) return;
    }
  }

  /** The row at this position and those after it. A missing table is an empty one. */
  async #read(position: string): Promise<Row[]> {
    try {
      const answer = schemas().rows.parse(
        await this.#run(SELECT, [position]).catch((error: unknown) => {
          if (errnoOf(error) !== UNDEFINED_TABLE) throw error;
          return this.#run(NOW);
        }),
      );
      this.#offsetMs = answer[0].now - this.#clock.monotonicMs();
      return answer.flatMap(({ position, line }) =>
        typeof line === "string" ? [{ position: String(position), line }] : [],
      );
    } catch (error) {
      throw this.#toJournalError(errnoOf(error) === UNDEFINED_COLUMN ? "understood" : "read", error);
    }
  }

  async #insert(line: string): Promise<void> {
    try {
      await this.#run(INSERT, [line]);
    } catch (error) {
      if (errnoOf(error) !== UNDEFINED_TABLE) throw error;
      await this.#run(CREATE);
      await this.#run(INSERT, [line]);
    }
  }

  /** Tries until it succeeds or the process ends. A line that is there twice counts once. */
  #insertLater(line: string): void {
    this.#clock.after(RETRY_MS, () => void this.#insert(line).catch(() => this.#insertLater(line)));
  }

  /** Runs a statement after those before it. Rejects when the time is over, the wait for these included. */
  #run(text: string, values: readonly string[] = []): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const cancel = this.#clock.after(MAX_DISK_MS, () => {
        isLate = true;
        // Those before this one are late, too.
        this.#connection?.socket.destroy();
        reject(new Error(`no answer in ${MAX_DISK_MS / 1000} s`));
      });
      this.#statements = this.#statements.then(async () => {
        if (!isLate) await this.#query(text, values).then(resolve, reject);
        cancel();
      });
    });
  }

  async #query(text: string, values: readonly string[]): Promise<unknown[]> {
    this.#cancelIdle();
    if (this.#connection?.socket.destroyed !== false) this.#connection = this.#connect();
    const { socket, client } = this.#connection;
    try {
      // Only a command that waits for an answer keeps the process running.
      socket.ref();
      const { rows }: { rows: unknown[] } = await (await client).query(text, [...values]);
      return rows;
    } catch (error) {
      // After a fail-over the connection may be to a replica, and another one to the new primary.
      if (errnoOf(error) === READ_ONLY) socket.destroy();
      throw error;
    } finally {
      socket.unref();
      this.#cancelIdle = this.#clock.after(MAX_IDLE_MS, () => void socket.destroy());
    }
  }

  #connect(): Connection {
    const socket = new Socket();
    destroyOnThrow(socket);
    const connect = async () => {
      const { Client } = await import("pg");
      const client = new Client({ ...this.#address, stream: () => socket });
      // Where the connection breaks, or can't be made, the next statement makes a new one.
      client.on("error", () => socket.destroy());
      client.connection.on("sslconnect", () => destroyOnThrow(client.connection.stream));
      await client.connect();
      return client;
    };
    const client = connect();
    client.catch(() => socket.destroy());
    return { socket, client };
  }

  #toJournalError(use: "read" | "written" | "understood", error: unknown): JournalError {
    // Where an address has several, their failures have no text of their own.
    const reason = (error instanceof Error && error.message) || String(errnoOf(error));
    // A server to which it was sent could repeat it. A short one is part of other words, whose gaps would tell it.
    const password = this.#address.password();
    const safe = password.length < 8 ? reason : reason.replaceAll(password, "[redacted]");
    return new JournalError(use, this.place, cleanServiceText(safe, MAX_REASON_CHARACTERS), FIX);
  }
}

/** The driver throws at a message that it doesn't know, such as a demand for Kerberos. */
function destroyOnThrow(stream: Duplex): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (event: string | symbol, ...values: unknown[]) => {
    try {
      return emit(event, ...values);
    } catch (error) {
      stream.destroy(error instanceof Error ? error : undefined);
      return true;
    }
  };
}

/** As libpq reads it. */
function readAddress({ hostname, port, username, password, pathname, searchParams }: URL) {
  const host = decode(hostname);
  const isSocket = host.startsWith("/");
  const mode = searchParams.get("sslmode") ?? (isSocket || isLoopback(host) ? "disable" : "verify-full");
  // Only `require` takes any certificate, and as with libpq not where the address asks for more.
  const asksForMore = ["sslrootcert", "channel_binding"].some((name) => searchParams.has(name));
  const user = decode(username);
  return {
    host: host.replace(/[[\]]/g, ""),
    port: Number(port === "" ? 5432 : port),
    ...(user !== "" && { user }),
    // The driver would look for an empty one elsewhere.
    password: () => decode(password),
    database: decode(pathname.slice(1)) || user || "postgres",
    ssl: mode === "disable" || isSocket ? false : { rejectUnauthorized: mode !== "require" || asksForMore },
    application_name: "faceless-video-mcp",
    keepAlive: true,
  } satisfies ClientConfig;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
