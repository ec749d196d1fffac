// Keeps the journal's lines as rows of a table in a Postgres database, which many computers share. Knows
// no meaning of a line and no policy. Its clock is the database's, so computers with wrong clocks agree.

import { promises as fs } from "node:fs";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Client, ClientConfig } from "pg";
import * as z from "zod";
import { type Clock, inTime } from "../clock.ts";
import { DATABASE_EXAMPLE, type DatabaseAddress } from "../settings/database-address.ts";
import { errnoOf } from "../errors.ts";
import { lazyValue } from "../lazy.ts";
import { createRedact } from "../redact.ts";
import { quote } from "../text.ts";
import { MAX_CONNECT_MS, MAX_DISK_MS } from "../service/time-budget.ts";
import { JournalError } from "./errors.ts";
import type { JournalStore, OnLine } from "./journal.ts";

/** An unused connection is closed: a database allows few, and networks forget those that are silent. */
const MAX_IDLE_MS = 60_000;
/** How long a connection that could not be made in time fails all statements. */
const KEPT_MS = 1_000;
const ROWS_PER_QUERY = 2_000;
const MAX_REASON_CHARS = 200;
const [UNDEFINED_TABLE, UNDEFINED_COLUMN] = ["42P01", "42703"];
const READ_ONLY = "25006";
/** The error that CHECK_TABLE raises. */
const DIVISION_BY_ZERO = "22012";

// The schema is named, since users may have different search paths.
const TABLE = "public.faceless_journal";
// Every message is a transaction that begins with this, so that no function, operator or type of another role
// is found. Neither a session nor startup options would do: poolers in transaction mode keep neither.
// CHECK_TABLE then fails if the table, or a view in its place, could run another role's code.
const SAFE_SETTINGS = "set local search_path = pg_catalog, pg_temp; set local lock_timeout = '3s'";
const CHECK_TABLE = `select 1 / (not relhastriggers and (
    pg_get_userbyid(relowner) = current_user or pg_has_role(relowner, datdba, 'usage')))::int
  from pg_class, pg_database where pg_class.oid = '${TABLE}'::regclass and datname = current_database()`;
// Released once its transaction is visible, so that rows are seen in the order of their positions.
// "faceless" in ASCII.
const LOCK = "select pg_advisory_xact_lock(x'666163656c657373'::bigint)";
const CREATE_TABLE = `create table if not exists ${TABLE} (
    position bigint generated always as identity primary key,
    at timestamptz not null default clock_timestamp(),
    line text not null
  )`;
const NOW = "select extract(epoch from clock_timestamp())::float8 * 1000 as now";
const NEWEST = `select line from ${TABLE} order by position desc limit 1`;

/** Lines are ASCII, so that no encoding mistakes part of a character for a quotation mark. */
function insert(lines: readonly string[]): string {
  const rows = lines.map((line) => `(E'${line.replace(/['\\]/g, "$&$&")}')`);
  return `insert into ${TABLE} (line) values ${rows.join(", ")}`;
}

const selectFrom = (position: string) =>
  `select position, line from ${TABLE} where position >= ${position} and at > now() - interval '90 days'
    order by position limit ${ROWS_PER_QUERY}`;

/** Made on first use, to keep the start fast. */
const schemas = lazyValue(() => ({
  results: z.array(z.object({ rows: z.array(z.unknown()) })),
  now: z.tuple([z.object({ now: z.number() })]),
  /** A position is a 64-bit number. */
  rows: z.array(z.object({ position: z.string().regex(/^\d+$/), line: z.string() })),
  newest: z.tuple([z.object({ line: z.string() })]),
}));

type Row = Readonly<Record<"position" | "line", string>>;

interface Connection {
  readonly socket: Socket;
  readonly client: Promise<Client>;
  /** True once it has given an answer. */
  hasAnswered: boolean;
  /** Until then no new connection is made, so that a call that reads several times waits once. */
  keptUntilMs: number;
}

export class JournalPostgres implements JournalStore {
  readonly place: string;
  /** Only a policy hides a row from the role that has added it. */
  readonly fixIfHidden = GRANT_RIGHTS;
  readonly #earlier: Pick<JournalStore, "readNew"> | undefined;
  readonly #address: DatabaseAddress;
  readonly #clock: Pick<Clock, "now" | "monotonicMs" | "after">;
  /** The database's clock minus the monotonic one. Undefined until the database has told the time. */
  #offsetMs: number | undefined;
  /** The row that was read last. */
  #last: Row | undefined;
  #connection: Connection | undefined;
  #cancelIdle = () => {};

  /** Orders and posts that the earlier store holds from before the database was set count too. */
  constructor(
    address: DatabaseAddress,
    clock: Pick<Clock, "now" | "monotonicMs" | "after">,
    earlier?: Pick<JournalStore, "readNew">,
  ) {
    this.#earlier = earlier;
    this.#address = address;
    this.#clock = clock;
    this.place = `the table faceless_journal of ${address.database} on ${address.host}`;
  }

  now(): number {
    if (this.#offsetMs === undefined) return this.#clock.now();
    return Math.round(this.#clock.monotonicMs() + this.#offsetMs);
  }

  async append(lines: readonly string[]): Promise<void> {
    await this.#insert(lines);
  }

  async readNew(onLine: OnLine): Promise<void> {
    await this.#earlier?.readNew(onLine);
    for (;;) {
      const last = this.#last;
      const rows = await this.#read(last?.position ?? "0");
      if (last !== undefined && rows[0]?.line !== last.line) {
        // The table was emptied or is another one, such as a backup's: positions mean other rows now.
        this.#last = undefined;
        continue;
      }
      for (const { position, line } of rows.slice(last === undefined ? 0 : 1))
        if (!onLine(line, this.place))
          throw new JournalError("read", this.place, `row ${position} is not an entry`, REMOVE_ROW);
      this.#last = rows.at(-1);
      if (rows.length < ROWS_PER_QUERY) return;
    }
  }

  async rehearse(): Promise<void> {
    const line = `{"rehearsal":"${crypto.randomUUID()}"}`;
    const results = await this.#insert([line], NEWEST, "rollback");
    const newest = schemas().newest.safeParse(results.at(-2));
    if (newest.data?.[0].line !== line)
      throw new JournalError("read", this.place, "what was written can't be seen", GRANT_RIGHTS);
  }

  reconnect(): void {
    this.#connection?.socket.destroy();
  }

  /** The row at this position and those after it. A missing table is an empty one. */
  async #read(position: string): Promise<Row[]> {
    try {
      const read = await this.#run(CHECK_TABLE, NOW, selectFrom(position)).catch(async (error: unknown) => {
        if (errnoOf(error) !== UNDEFINED_TABLE) throw error;
        return [...(await this.#run(NOW)), []];
      });
      const [now, rows] = read.slice(-2);
      this.#offsetMs = schemas().now.parse(now)[0].now - this.#clock.monotonicMs();
      return schemas().rows.parse(rows);
    } catch (error) {
      throw this.#toJournalError(errnoOf(error) === UNDEFINED_COLUMN ? "understood" : "read", error);
    }
  }

  /** Makes the table if it is missing. */
  #insert(lines: readonly string[], ...more: readonly string[]): Promise<readonly unknown[][]> {
    const statements = [CHECK_TABLE, LOCK, insert(lines), ...more];
    const results = this.#run(...statements).catch((error: unknown) => {
      if (errnoOf(error) !== UNDEFINED_TABLE) throw error;
      return this.#run(LOCK, CREATE_TABLE, ...statements);
    });
    return results.catch((error: unknown) => {
      throw this.#toJournalError("written", error);
    });
  }

  /** Runs the statements, and does so once more on a new connection if the kept one turns out to be dead. */
  async #run(...statements: readonly string[]): Promise<unknown[][]> {
    const kept = this.#connection;
    if (kept?.hasAnswered !== true || kept.socket.destroyed)
      return this.#runOn(this.#renew(MAX_CONNECT_MS), statements);
    try {
      return await this.#runOn(kept, statements);
    } catch (error) {
      if (!kept.socket.destroyed) throw error;
      // What was inserted may be there already: a line that is there twice counts once.
      return this.#runOn(this.#renew(MAX_CONNECT_MS - MAX_DISK_MS), statements);
    }
  }

  /** Gives the connection, or a new one if there is none or the last one is over. */
  #renew(limitMs: number): Connection {
    const { socket, keptUntilMs = 0 } = this.#connection ?? {};
    const isOver = socket?.destroyed !== false && this.#clock.monotonicMs() >= keptUntilMs;
    if (this.#connection === undefined || isOver) this.#connection = this.#connect(limitMs);
    return this.#connection;
  }

  /** Runs the statements as one message, and gives the rows of each. */
  async #runOn(connection: Connection, statements: readonly string[]): Promise<unknown[][]> {
    this.#cancelIdle();
    const { socket, client } = connection;
    // Only a command that waits for an answer keeps the process running.
    socket.ref();
    try {
      const query = (await client).query([SAFE_SETTINGS, ...statements].join("; "));
      // Close it, so that nothing else waits for it.
      const onLate = () => socket.destroy();
      const results = await inTime(this.#clock, MAX_DISK_MS, "no answer", query, {
        progress: () => socket.bytesRead,
        onLate,
      });
      connection.hasAnswered = true;
      return schemas()
        .results.parse(results)
        .map(({ rows }) => rows);
    } catch (error) {
      // After a fail-over the connection may be to a replica, and another one to the new primary.
      if (errnoOf(error) === READ_ONLY) socket.destroy();
      throw error;
    } finally {
      socket.unref();
      this.#cancelIdle();
      this.#cancelIdle = this.#clock.after(MAX_IDLE_MS, () => void this.#connection?.socket.destroy());
    }
  }

  #connect(limitMs: number): Connection {
    const socket = new Socket();
    destroyOnThrow(socket);
    const connect = async () => {
      const [{ Client }, config] = await Promise.all([import("pg"), clientConfigOf(this.#address)]);
      const client = new Client({ ...config, stream: () => socket });
      // If the connection breaks, or can't be made, the next statement makes a new one.
      client.on("error", () => socket.destroy());
      client.connection.on("sslconnect", () => destroyOnThrow(client.connection.stream));
      await client.connect();
      return client;
    };
    const client = inTime(this.#clock, limitMs, "no connection", connect(), {
      progress: () => socket.bytesRead,
      onLate: () => {
        connection.keptUntilMs = this.#clock.monotonicMs() + KEPT_MS;
      },
    });
    client.catch(() => socket.destroy());
    const connection: Connection = { socket, client, hasAnswered: false, keptUntilMs: 0 };
    return connection;
  }

  #toJournalError(use: "read" | "written" | "understood", error: unknown): JournalError {
    const code = errnoOf(error) ?? "";
    if (code === DIVISION_BY_ZERO) return new JournalError(use, this.place, UNTRUSTED_TABLE, RECREATE_TABLE);
    // If a name has several addresses, the error that joins their failures has no text of its own.
    const words = (error instanceof Error && error.message) || code;
    const { password } = this.#address;
    if (password === "" && (code === "28P01" || words.startsWith("SASL")))
      return new JournalError(use, this.place, "the database asks for a password, and none is set", PASSWORD);
    const [, fix] = FIXES.find(([pattern]) => pattern.test(`${code} ${words}`)) ?? [];
    // A server that got the password could repeat it in its error.
    const quoted = quote(createRedact(password)(words), MAX_REASON_CHARS);
    return new JournalError(use, this.place, quoted, use === "understood" ? undefined : fix);
  }
}

const GRANT_RIGHTS =
  "let the owner of the database make the table as docs/GATEWAYS.md shows and grant its user select and insert on it, with a policy for both if row-level security is on";
const UNTRUSTED_TABLE = "another role of the database could run its own code in it";
const RECREATE_TABLE =
  "let the owner of the database look at this table, and remove its triggers or make it anew as docs/GATEWAYS.md shows";
const REMOVE_ROW =
  "look at the list of videos and at the accounts for what that row may have held, then let the owner of the database remove it";
const PASSWORD = `put the password into FACELESS_JOURNAL_URL, as in ${DATABASE_EXAMPLE}, or into PGPASSWORD beside it`;

/** The user's fix, by Postgres's or Node's code, or by the words of an error that has none. */
const FIXES: readonly (readonly [code: RegExp, fix: string])[] = [
  [/^42501 /, GRANT_RIGHTS],
  [/^25006 /, "name the primary database in FACELESS_JOURNAL_URL, as this one can only be read"],
  [/^(28P01|28000|3D000) /, "check the user, the password and the database in FACELESS_JOURNAL_URL"],
  [/^(57P03|53300) /, "wait a minute until the database has started or has a free connection"],
  [/^53100 /, "free some space on the disk of the database"],
  [/^(22021|22P05) /, "remove the rows that are not in the encoding of the database"],
  [
    /^08P01 /,
    "remove options from FACELESS_JOURNAL_URL and PGOPTIONS, or name the database itself instead of its pooler",
  ],
  [
    /^(ENOTFOUND|EHOSTUNREACH|ENETUNREACH) /,
    "check the spelling of the host in FACELESS_JOURNAL_URL, and that this computer is online; a host with IPv6 " +
      "addresses alone, such as Supabase's direct one, needs a network with IPv6, or else the address of its pooler",
  ],
  [/^ENOENT /, "check the path of the socket or of sslrootcert in FACELESS_JOURNAL_URL"],
  [
    /^\S*(CERT|SIGNATURE|TLS)/,
    "check the host in FACELESS_JOURNAL_URL and the certificate of the database; a certificate authority of its " +
      "own is named with sslrootcert=FILE, and with sslmode=require any certificate will do",
  ],
  [
    / .*does not support SSL/s,
    "add sslmode=disable to FACELESS_JOURNAL_URL if the network between is your own, or let the database use TLS",
  ],
  [/^/, "make sure that the database runs, is awake and can be reached from here"],
];

async function clientConfigOf(address: DatabaseAddress): Promise<ClientConfig> {
  const { verify, rootCert, password, user, ...rest } = address;
  return {
    ...rest,
    ...(user !== undefined && { user }),
    // The driver would look for an empty one elsewhere.
    password: () => password,
    ssl: verify !== undefined && {
      rejectUnauthorized: verify !== "none",
      ...(verify === "ca" && { checkServerIdentity: () => undefined }),
      ...(rootCert !== undefined && { ca: await fs.readFile(rootCert) }),
    },
    application_name: "faceless-video-mcp",
    keepAlive: true,
  };
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
