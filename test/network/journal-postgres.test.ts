// The journal in a database, on an embedded Postgres. test/external/gateways has what only a real server shows.

import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import { openJournalStore } from "../../src/commands/open-journal.ts";
import { Journal } from "../../src/idempotency/journal.ts";
import type { JournalPostgres } from "../../src/idempotency/journal-postgres.ts";
import { createRedact } from "../../src/redact.ts";
import { createCertificate } from "../fixtures/certificate.ts";
import { connectLegacy } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { freePort, listen } from "../fixtures/free-port.ts";
import { CALLS, PLANTED, PLANTED_TABLES } from "../fixtures/planted-sql.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { startTcpProxy } from "../fixtures/tcp-proxy.ts";
import { until } from "../fixtures/until.ts";
import {
  DAY_MS,
  KEY,
  openDatabase,
  readAddress,
  topics,
  VIDEO,
  withTopic,
} from "../fixtures/open-journal.ts";

const PLACE = "the table faceless_journal of videos on 127.0.0.1";
const REACH = "make sure that the database runs, is awake and can be reached from here";

let database: PGlite;
let port: number;

beforeAll(async () => {
  // Optimising the database's code takes longer than these tests run.
  setFlagsFromString("--liftoff-only");
  database = await PGlite.create();
  port = await freePort();
  const server = new PGLiteSocketServer({ db: database, port, maxConnections: 50 });
  await server.start();
  return async () => {
    await server.stop();
    await database.close();
  };
});
beforeEach(() => database.exec("drop table if exists public.faceless_journal").then(() => {}));

/** An outcome that the database refuses in one test isn't written during another one. */
const NO_RETRIES = { after: () => () => {} };

/** A server process on a computer of its own. */
function openStore({
  clock = systemClock,
  at = port,
  query = "",
}: { clock?: Clock; at?: number; query?: string } = {}) {
  return openDatabase(`postgres://videos:canary@127.0.0.1:${at}/videos${query}`, clock);
}

function openJournal({
  isSandbox = false,
  ...options
}: Parameters<typeof openStore>[0] & { isSandbox?: boolean } = {}) {
  const warnings: string[] = [];
  const journal = new Journal({
    store: openStore(options),
    clock: NO_RETRIES,
    isSandbox,
    redact: createRedact(KEY),
    onUnwritable: (error) => void warnings.push(String(error)),
  });
  return { journal, warnings };
}

/** The database as the settings name it. */
function openApplicationJournal(settings: Parameters<typeof openJournalStore>[0]): Journal {
  const store = openJournalStore(settings, systemClock);
  if (store === undefined) throw new Error("The settings keep no journal.");
  return new Journal({ store, clock: NO_RETRIES, redact: (line) => line, onUnwritable() {} });
}

async function linesOf(store: JournalPostgres): Promise<string[]> {
  const lines: string[] = [];
  await store.readNew((line) => lines.push(line) > 0);
  return lines;
}

/** Timers that run when the test says so. */
function manualClock() {
  const timers = new Set<{ readonly delayMs: number; readonly action: () => void }>();
  let passedMs = 0;
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + passedMs,
    after(delayMs, action) {
      const timer = { delayMs, action };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  return {
    clock,
    delays: () => [...timers].map(({ delayMs }) => delayMs),
    /** Runs the timers with this delay. */
    pass(delayMs: number) {
      passedMs += delayMs;
      for (const timer of timers)
        if (timer.delayMs === delayMs) {
          timers.delete(timer);
          timer.action();
        }
    },
  };
}

test("a row that is not an entry makes the journal unusable, and the error names the row", async () => {
  const { journal } = openJournal();
  await journal.begin(VIDEO);
  await database.exec("insert into public.faceless_journal (line) values ('restored from a backup')");

  await expect(openJournal().journal.begin(VIDEO)).rejects.toMatchObject({
    problem: `can't be read (row 2 is not an entry: ${PLACE})`,
    fix: "look at the list of videos and at the accounts for what that row may have held, then let the owner of the database remove it",
  });
});

test("a database shows the sandbox's entries to the sandbox alone, and all others to the service alone", async () => {
  const [service, sandbox] = [false, true].map((isSandbox) => openJournal({ isSandbox }).journal);
  await service?.begin(withTopic("paid"));
  await sandbox?.begin(withTopic("practised"));

  const seen = [false, true].map((isSandbox) => topics(openJournal({ isSandbox }).journal));
  expect(await Promise.all(seen)).toEqual([["paid"], ["practised"]]);
});

test("an entry is in the database, for other computers to read, before its request is sent", async () => {
  const { own } = await openJournal().journal.begin(VIDEO);

  expect(await openJournal().journal.entries()).toEqual([{ ...own, source: PLACE }]);
  const { rows } = await database.query<{ line: string }>("select line from public.faceless_journal");
  expect(rows.map(({ line }) => JSON.parse(line))).toEqual([own]);
});

test("a video that one server ordered is known to a server with another home, and paid for once", async () => {
  const service = await scriptedService({
    [VIDEOS]: { json: { videos: [] } },
    [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } },
    [STATUS]: { json: { status: "processing", videoUrls: [] } },
  });
  const order = async () => {
    const env = {
      FACELESS_API_KEY: KEY,
      FACELESS_BASE_URL: service.url,
      FACELESS_STATE_DIR: temporaryFolder(),
      FACELESS_JOURNAL_URL: `postgres://videos@127.0.0.1:${port}/videos`,
    };
    return (await connectLegacy({ env })).call("generate_video", { topic: "Tides" });
  };
  await order();

  expect((await order()).structuredContent).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
  expect(service.lines(GENERATE)).toHaveLength(1);
});

test("reconnecting writes unanswered lines once more, on a new connection", async () => {
  const proxy = await startTcpProxy(port);
  // No timer ends the wait.
  const store = openStore({ clock: manualClock().clock, at: proxy.port });
  await store.append(["1"]);
  proxy.abandon();
  const hanging = store.append(["2"]);
  store.reconnect();
  await hanging;

  expect(await linesOf(store)).toEqual(["1", "2"]);
  expect(proxy.made).toBe(2);
});

test("an outcome is written as the server ends, though the connection to the database hangs", async () => {
  const proxy = await startTcpProxy(port);
  const service = await scriptedService({
    [GENERATE]: () => {
      proxy.abandon();
      return { json: { jobId: JOB_ID, status: "processing" } };
    },
  });
  const env = {
    FACELESS_API_KEY: KEY,
    FACELESS_BASE_URL: service.url,
    FACELESS_STATE_DIR: temporaryFolder(),
    FACELESS_JOURNAL_URL: `postgres://videos@127.0.0.1:${proxy.port}/videos`,
  };
  const client = await connectLegacy({ env });
  void client.call("generate_video", { topic: "Tides" }).catch(() => {});
  await until(() => service.lines(GENERATE).length === 1);
  await client.raw.close();

  const { journal } = openJournal();
  await expect.poll(async () => (await journal.entries()).map(({ jobId }) => jobId)).toEqual([JOB_ID]);
});

test("the entries in the folder's files count too, and the files are left as they are", async () => {
  const folder = temporaryFolder();
  const files = openApplicationJournal({ stateDir: folder, makesStateDir: true, journalUrl: undefined });
  const { own } = await files.begin(withTopic("earlier"));
  await files.end(own, { outcome: "done", jobId: "job-1" });
  const before = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  const journalUrl = readAddress(`postgres://videos:canary@127.0.0.1:${port}/videos`);
  const journal = openApplicationJournal({ stateDir: folder, makesStateDir: true, journalUrl });
  await journal.begin(withTopic("now"));

  expect(await topics(journal)).toEqual(["earlier", "now"]);
  expect(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")])).toEqual(before);
});

test("a read returns the rows that were added since the last one, in their order", async () => {
  const [own, other] = [openStore(), openStore()];
  await own.append(["1", "2"]);
  expect(await linesOf(other)).toEqual(["1", "2"]);
  for (const line of ["3", "4"]) await other.append([line]);
  expect(await linesOf(other)).toEqual(["3", "4"]);
  await own.append(["5"]);

  expect(await linesOf(other)).toEqual(["5"]);
  expect(await linesOf(own)).toEqual(["1", "2", "3", "4", "5"]);
});

test("more rows than one query gives are all read, each once", async () => {
  const store = openStore();
  await store.append(["0"]);
  await database.exec(
    "insert into public.faceless_journal (line) select i::text from generate_series(1, 4001) i",
  );

  expect(await linesOf(store)).toEqual(Array.from({ length: 4_002 }, (_, index) => `${index}`));
});

test("rows of the last 90 days are read, and older ones are not", async () => {
  const store = openStore();
  await store.append(["older", "old"]);
  const age = (line: string, days: number) =>
    database.query(
      `update public.faceless_journal set at = now() - interval '${days} days' where line = '${line}'`,
    );
  await age("older", 90.1);
  await age("old", 89.9);

  expect(await linesOf(store)).toEqual(["old"]);
});

test("computers with wrong clocks agree on the age of an entry", async () => {
  const fast = { ...systemClock, now: () => Date.now() + 400 * DAY_MS };
  const slow = { ...systemClock, now: () => Date.now() - 400 * DAY_MS };
  const first = openJournal({ clock: fast }).journal;
  await first.entries();
  await first.begin(VIDEO);

  for (const clock of [fast, slow]) {
    const { journal } = openJournal({ clock });
    const [entry] = await journal.entries();
    expect(journal.ageMs(entry ?? { atMs: 0 })).toBeLessThan(60_000);
    expect(Math.abs((entry?.atMs ?? 0) - Date.now())).toBeLessThan(60_000);
  }
});

test("reading creates no table, and nothing that was read is forgotten if the table is gone or replaced", async () => {
  const { journal } = openJournal();
  expect(await journal.entries()).toEqual([]);
  const { rows } = await database.query("select to_regclass('public.faceless_journal') as name");
  expect(rows).toEqual([{ name: null }]);
  await journal.begin(withTopic("first"));
  await database.exec("drop table public.faceless_journal");
  expect(await topics(journal)).toEqual(["first"]);
  // Rows with the positions that were read before, as after a backup was restored.
  const replace = async (...names: readonly string[]) => {
    await database.exec("drop table if exists public.faceless_journal");
    for (const name of names) await openJournal().journal.begin(withTopic(name));
  };
  await replace("second", "third");
  expect(await topics(journal)).toEqual(["first", "second", "third"]);
  await replace("fourth", "fifth", "sixth");

  expect(await topics(journal)).toEqual(["first", "second", "third", "fourth", "fifth", "sixth"]);
});

test("a rehearsal does what a paid request does, and leaves nothing behind", async () => {
  const store = openStore();
  await store.rehearse();
  const { rows } = await database.query("select to_regclass('public.faceless_journal') as name");
  expect(rows).toEqual([{ name: null }]);
  await store.append(["line"]);
  await store.rehearse();

  expect(await linesOf(store)).toEqual(["line"]);
});

test.each([
  ["lets nothing be written", "", "new row violates row-level security policy"],
  ["hides what is written", "create policy p on $T for insert with check (true)", "can't be seen"],
])(
  "row-level security that %s fails doctor and a paid call, which say what is needed",
  async (_, policy, problem) => {
    await openStore().append(["line"]);
    await database.exec(`create role videos; grant select, insert on public.faceless_journal to videos;
    alter table public.faceless_journal enable row level security;
    ${policy.replace("$T", "public.faceless_journal")}; set role videos`);
    onTestFinished(async () => {
      await database.exec("reset role; drop owned by videos; drop role videos");
    });

    await expect(openStore().rehearse()).rejects.toMatchObject({
      problem: expect.stringContaining(problem),
      fix: expect.stringContaining("with a policy for both if row-level security is on"),
    });
    const journalUrl = readAddress(`postgres://videos:canary@127.0.0.1:${port}/videos`);
    const folder = temporaryFolder();
    const journal = openApplicationJournal({ stateDir: folder, makesStateDir: true, journalUrl });
    await expect(journal.begin(VIDEO)).rejects.toMatchObject({
      problem: expect.stringMatching(
        /^can't be written \((?:what was written is gone|"new row violates row-level)/,
      ),
      fix: expect.stringContaining("with a policy for both if row-level security is on"),
    });
  },
);

test.each([
  [
    "a row of another form",
    `insert into public.faceless_journal (line) values ('{"id":"new","operation":"new"}')`,
  ],
  ["other columns", "alter table public.faceless_journal rename line to entry"],
])("a table with %s makes the journal unreadable, and the error asks for an update", async (_, change) => {
  const { journal } = openJournal();
  await journal.begin(VIDEO);
  await database.exec(change);

  await expect(journal.entries()).rejects.toMatchObject({
    facts: {
      code: "journal_unreadable",
      message: expect.stringContaining(PLACE),
      nextStep: {
        model: "Tell the user: update this server, as a newer version has written it, then call again.",
      },
    },
  });
});

describe("a role that may create things in the schema", () => {
  /** Runs the SQL as that role, and then puts the role's objects first in the search path. */
  const plant = async (sql: string) => {
    await database.exec(
      `create role planter; grant create on schema public to planter; set role planter; ${sql}`,
    );
    await database.exec("reset role; set search_path = public, pg_catalog");
    onTestFinished(async () => {
      await database.exec("reset search_path; drop owned by planter cascade; drop role planter");
    });
  };
  const calls = async () => (await database.query(CALLS)).rows;

  test("can't get its code run by a paid request or a rehearsal", async () => {
    await plant(PLANTED);
    const { journal } = openJournal();
    for (const topic of ["first", "second"]) {
      const { own } = await journal.begin(withTopic(topic));
      await journal.end(own, { outcome: "done", jobId: "job-1" });
    }
    await openStore().rehearse();

    expect(await topics(openJournal().journal)).toEqual(["first", "second"]);
    expect(await calls()).toEqual([{ is_called: false }]);
  });

  test.each(PLANTED_TABLES)("can't pass off %s as the journal's table", async (what, table) => {
    if (what === "a trigger") {
      await openStore().append(["line"]);
      await database.exec("grant all on public.faceless_journal to public");
    }
    await plant(PLANTED + table);
    const untrusted = {
      problem: expect.stringContaining(
        `(another role of the database could run its own code in it: ${PLACE})`,
      ),
      fix: expect.stringMatching(
        /^let the owner of the database .+, and remove its triggers or make it anew/,
      ),
    };
    await expect(openJournal().journal.entries()).rejects.toMatchObject(untrusted);
    await expect(openJournal().journal.begin(VIDEO)).rejects.toMatchObject(untrusted);
    await expect(openStore().rehearse()).rejects.toMatchObject(untrusted);
    expect(await calls()).toEqual([{ is_called: false }]);
  });
});

describe("a connection", () => {
  test("is made by the first read, and closed if it was not used for a minute", async () => {
    const proxy = await startTcpProxy(port);
    const { clock, pass } = manualClock();
    const store = openStore({ clock, at: proxy.port });
    expect(proxy.clients.size).toBe(0);
    for (const line of ["1", "2"]) await store.append([line]);
    expect(proxy.clients.size).toBe(1);
    pass(60_000);
    await until(() => proxy.clients.size === 0);

    expect(await linesOf(store)).toEqual(["1", "2"]);
    expect(proxy.clients.size).toBe(1);
  });

  test("that died without a sign delays a read by 4 s, and does nothing else", async () => {
    const proxy = await startTcpProxy(port);
    const { clock, pass, delays } = manualClock();
    const { journal } = openJournal({ clock, at: proxy.port });
    await journal.begin(withTopic("first"));
    await journal.entries();
    proxy.abandon();
    const looking = Promise.all([topics(journal), topics(journal)]);
    await until(() => delays().includes(4_000));
    pass(4_000);

    expect(await looking).toEqual([["first"], ["first"]]);
    await journal.begin(withTopic("second"));
    expect(await topics(journal)).toEqual(["first", "second"]);
    expect(proxy.made).toBe(2);
  });

  test("that died without a sign delays what is written by 4 s", async () => {
    const proxy = await startTcpProxy(port);
    const { clock, pass, delays } = manualClock();
    const store = openStore({ clock, at: proxy.port });
    await store.append(["1"]);
    proxy.abandon();
    const writing = store.append(["2"]);
    await until(() => delays().includes(4_000));
    pass(4_000);
    await writing;

    expect(await linesOf(store)).toEqual(["1", "2"]);
    expect(proxy.made).toBe(2);
  });

  test("that hangs fails all that wait for it, in 8 s at most, and the next call makes a new one", async () => {
    const proxy = await startTcpProxy(port);
    const { clock, pass, delays } = manualClock();
    const { journal } = openJournal({ clock, at: proxy.port });
    await journal.begin(withTopic("first"));
    proxy.mode = "swallow";
    const looking = Promise.allSettled([journal.entries(), journal.entries()]);
    await until(() => delays().includes(4_000));
    pass(4_000);
    await until(() => delays().includes(4_000));
    pass(4_000);

    const late = { reason: { problem: `can't be read ("no connection in 4 s": ${PLACE})`, fix: REACH } };
    expect(await looking).toMatchObject([late, late]);
    pass(1_000);
    await until(() => proxy.clients.size === 0);
    proxy.mode = "pass";
    expect(await topics(journal)).toEqual(["first"]);
    await journal.begin(withTopic("second"));
    expect(await topics(journal)).toEqual(["first", "second"]);
  });

  test("that isn't made within 8 s fails the call, and what the same call does next", async () => {
    const proxy = await startTcpProxy(port);
    proxy.mode = "swallow";
    const { clock, pass, delays } = manualClock();
    const store = openStore({ clock, at: proxy.port });
    const looking = linesOf(store);
    await until(() => proxy.clients.size === 1);
    expect(delays()).toEqual([8_000]);
    pass(8_000);

    const late = { problem: `can't be read ("no connection in 8 s": ${PLACE})`, fix: REACH };
    await expect(looking).rejects.toMatchObject(late);
    await expect(linesOf(store)).rejects.toMatchObject(late);
    pass(1_000);
    proxy.mode = "pass";
    expect(await linesOf(store)).toEqual([]);
  });

  test("to a database that can only be read is not kept, as another one may be writable by now", async () => {
    const proxy = await startTcpProxy(port);
    const store = openStore({ at: proxy.port });
    await store.append(["1"]);
    const setReadOnly = (value: "on" | "off") =>
      database.exec(`set default_transaction_read_only = ${value}`);
    onTestFinished(() => setReadOnly("off").then(() => {}));
    await setReadOnly("on");
    await expect(store.append(["2"])).rejects.toMatchObject({
      problem: `can't be written ("cannot execute INSERT in a read-only transaction": ${PLACE})`,
      fix: "name the primary database in FACELESS_JOURNAL_URL, as this one can only be read",
    });
    await setReadOnly("off");

    await store.append(["3"]);
    expect(await linesOf(store)).toEqual(["1", "3"]);
  });

  test("that can't be made fails one call, and not those after it", async () => {
    const proxy = await startTcpProxy(port);
    proxy.mode = "refuse";
    const store = openStore({ at: proxy.port });
    await expect(linesOf(store)).rejects.toMatchObject({
      facts: {
        code: "journal_unreadable",
        outcome: "not_sent",
        message: `The journal that guards against paying or posting twice can't be read ("Connection terminated unexpectedly": ${PLACE}).`,
        nextStep: { model: `Tell the user: ${REACH}, then call again.` },
      },
    });
    proxy.mode = "pass";

    expect(await linesOf(store)).toEqual([]);
    expect(proxy.clients.size).toBe(1);
  });

  test("that is restored records the outcome that could not be recorded without it", async () => {
    const proxy = await startTcpProxy(port);
    const { journal, warnings } = openJournal({ at: proxy.port });
    const { own } = await journal.begin(VIDEO);
    proxy.mode = "refuse";
    proxy.cut();
    await journal.end(own, { outcome: "done", jobId: "job-1" });
    expect(warnings).toHaveLength(1);
    const others = openJournal().journal;
    expect(await others.entries()).toEqual([{ ...own, source: PLACE }]);
    proxy.mode = "pass";
    await journal.entries();

    expect(await others.entries()).toMatchObject([{ id: own.id, outcome: "done", jobId: "job-1" }]);
  });
});

const CERTIFICATE = createCertificate("127.0.0.1");
/** Answers a password with an error. */
function refuse(socket: Socket, code: string, message: string): void {
  const error = Buffer.from(`E\0\0\0\0SFATAL\0C${code}\0M${message}\0\0`);
  error.writeInt32BE(error.length - 1, 1);
  socket.end(error);
}

/** A TCP server that takes the driver's first bytes, encrypted if it asks for that, and goes on as `talk` does. */
async function startDatabase(talk: (socket: Socket, startup: Buffer, isEncrypted: boolean) => void) {
  const { key, cert } = CERTIFICATE;
  const server = createServer((socket) => {
    socket.once("data", (bytes: Buffer) => {
      // The request for encryption holds neither user nor password.
      if (bytes.length > 8) return talk(socket, bytes, false);
      socket.write("S");
      const secure = new TLSSocket(socket, { isServer: true, key, cert });
      secure.on("error", () => {});
      secure.once("data", (startup: Buffer) => talk(secure, startup, true));
    });
  });
  onTestFinished(() => void server.close());
  return listen(server);
}

const ASK_FOR_PASSWORD = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 3]);

const ASK_FOR_KERBEROS = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 7]);

/** Asks for a password by SCRAM, up to the step that needs it. */
function askByScram(socket: Socket): void {
  const request = (kind: number, text: string) => {
    const message = Buffer.from(`R\0\0\0\0\0\0\0\0${text}`);
    message.writeInt32BE(message.length - 1, 1);
    message.writeInt32BE(kind, 5);
    socket.write(message);
  };
  socket.once("data", (first: Buffer) => {
    request(11, `${/r=[^,]+/.exec(first.toString("latin1"))?.[0]}x,s=c2FsdA==,i=4096`);
  });
  request(10, "SCRAM-SHA-256\0\0");
}

test.each([
  ["127.0.0.1", "", "openly"],
  ["127.0.0.1", "?sslmode=require", "encrypted"],
  ["127.0.0.1", "?sslmode=require&channel_binding=require", "not"],
  ["127.0.0.1", "?sslmode=verify-full", "not"],
  ["0.0.0.0", "", "not"],
  ["0.0.0.0", "?sslmode=prefer", "encrypted"],
  ["0.0.0.0", "?sslmode=disable", "openly"],
  ["127.0.0.1", "?sslmode=verify-full&sslrootcert=FILE", "encrypted"],
  ["0.0.0.0", "?sslmode=verify-ca&sslrootcert=FILE", "encrypted"],
  ["0.0.0.0", "?sslmode=require&sslrootcert=FILE", "encrypted"],
  ["0.0.0.0", "?sslmode=verify-full&sslrootcert=FILE", "not"],
])(
  "a database on %s%s, with a certificate of its own, is %s sent the password, which no error shows",
  async (host, query, how) => {
    const rootCert = join(temporaryFolder(), "ca.pem");
    writeFileSync(rootCert, CERTIFICATE.cert);
    const told: (string | boolean)[] = [];
    const at = await startDatabase((socket, startup, isEncrypted) => {
      socket.once("data", (answer: Buffer) => {
        told.push(isEncrypted, startup.toString("utf8", 8), answer.toString("utf8", 5));
        refuse(socket, "28P01", "no such password: p@ssword, p%40ssword");
      });
      socket.write(ASK_FOR_PASSWORD);
    });
    const store = openDatabase(
      `postgres://user:p%40ssword@${host}:${at}/videos${query.replace("FILE", rootCert)}`,
    );

    await expect(store.append(["line"])).rejects.toMatchObject({
      problem: expect.stringMatching(
        how === "not"
          ? /can't be written \("(?:self-signed certificate|Hostname\/IP does not match)/
          : /can't be written \("no such password: \[redacted\], \[redacted\]": /,
      ),
      fix: expect.stringMatching(how === "not" ? "sslrootcert=FILE" : "^check the user, the password"),
    });
    const startup = expect.stringMatching(
      /user\0user\0database\0videos\0application_name\0faceless-video-mcp\0/,
    );
    expect(told).toEqual(how === "not" ? [] : [how === "encrypted", startup, "p@ssword\0"]);
  },
);

test.each([
  ["25006", "name the primary database in FACELESS_JOURNAL_URL, as this one can only be read"],
  ["53100", "free some space on the disk of the database"],
  ["53300", "wait a minute until the database has started or has a free connection"],
  ["22021", "remove the rows that are not in the encoding of the database"],
  [
    "08P01",
    "remove options from FACELESS_JOURNAL_URL and PGOPTIONS, or name the database itself instead of its pooler",
  ],
  ["3D000", "check the user, the password and the database in FACELESS_JOURNAL_URL"],
])("the database's error %s comes with its fix", async (code, fix) => {
  const at = await startDatabase((socket) => refuse(socket, code, "no"));

  await expect(openStore({ at }).append(["line"])).rejects.toMatchObject({ fix });
});

test.each([
  ["asks for it by SCRAM", askByScram],
  ["refuses an empty one", (socket: Socket) => refuse(socket, "28P01", "password authentication failed")],
])("the error says that the address has no password, if the database %s", async (_, talk) => {
  const at = await startDatabase(talk);

  await expect(
    openDatabase(`postgres://videos@127.0.0.1:${at}/videos`).append(["line"]),
  ).rejects.toMatchObject({
    problem: expect.stringContaining("(the database asks for a password, and none is set: the table"),
    fix: "put the password into FACELESS_JOURNAL_URL, as in postgres://USER:PASSWORD@HOST/DATABASE, or into PGPASSWORD beside it",
  });
});

test("the error for a database without TLS says what to add to the address", async () => {
  const server = createServer((socket) => socket.once("data", () => socket.write("N")));
  onTestFinished(() => void server.close());
  const store = openDatabase(`postgres://videos:canary@0.0.0.0:${await listen(server)}/videos`);

  await expect(store.append(["line"])).rejects.toMatchObject({
    fix: "add sslmode=disable to FACELESS_JOURNAL_URL if the network between is your own, or let the database use TLS",
  });
});

test("the error for a host that can't be found says what an IPv6-only host needs", async () => {
  await expect(
    openDatabase("postgres://videos@no-such-host.invalid/videos").append(["line"]),
  ).rejects.toMatchObject({ fix: expect.stringContaining("or else the address of its pooler") });
});

test("the error names a missing sslrootcert file as what to check", async () => {
  await expect(openStore({ query: "?sslrootcert=/no/ca.pem" }).append(["line"])).rejects.toMatchObject({
    fix: "check the path of the socket or of sslrootcert in FACELESS_JOURNAL_URL",
  });
});

test.each(["", "?sslmode=require"])(
  "a database that asks for what the driver doesn't know (%s) fails the call and not the process",
  async (query) => {
    const at = await startDatabase((socket) => socket.write(ASK_FOR_KERBEROS));

    await expect(openStore({ at, query }).append(["line"])).rejects.toThrow(
      '("Unknown authenticationOk message',
    );
  },
);
