// The journal in a real Postgres: order, rights and faults that an embedded one doesn't have.

import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { JournalPostgres } from "../../../src/idempotency/journal-postgres.ts";
import { createCertificate } from "../../fixtures/certificate.ts";
import { BUILT_FILE, connectLegacy, textOf } from "../../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, OTHER_JOB_ID, PUBLISH, STATUS, VIDEOS } from "../../fixtures/constants.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { CALLS, PLANTED } from "../../fixtures/planted-sql.ts";
import { type Postgres, PASSWORD, POSTGRES_SERVERS, startPostgres } from "../fixtures/postgres.ts";
import { run } from "../../fixtures/run.ts";
import { startRaw } from "../../fixtures/raw-server.ts";
import { scriptedService, type Scripts } from "../../fixtures/scripted-service.ts";
import { startTcpProxy } from "../../fixtures/tcp-proxy.ts";
import { openDatabase } from "../../fixtures/open-journal.ts";

const JUMPING_CLOCK = fileURLToPath(new URL("../stress/jumping-clock.cjs", import.meta.url));
const WRITERS = 20;
const LINES = 50;
const TIDES = { topic: "Tides" };
const STARTED = { json: { jobId: JOB_ID, status: "processing" } };

describe.each(POSTGRES_SERVERS)("with $name", (server) => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await startPostgres(server);
    return () => postgres.close();
  });
  beforeEach(async () => {
    await postgres.start();
    await postgres.sql("drop table if exists public.faceless_journal");
  });

  const openStore = (url = postgres.url()) => openDatabase(url);
  const makeTable = async () => {
    await openStore().append(["first"]);
    await postgres.sql("delete from public.faceless_journal");
  };

  test("no reader misses a row of twenty writers, and all see them in one order", async () => {
    const names = (prefix: string) => Array.from({ length: LINES }, (_, index) => `${prefix} ${index}`);
    let isWriting = true;
    const read = async () => {
      const [store, lines]: [JournalPostgres, string[]] = [openStore(), []];
      const look = () => store.readNew((line) => lines.push(line) > 0);
      while (isWriting) await look();
      await look();
      return lines;
    };
    // The table is missing: all writers make it.
    const readers = [read(), read(), read()];
    const written = Array.from({ length: WRITERS }, (_, writer) => names(`${writer}`));
    await Promise.all(
      written.map(async (lines) => {
        const store = openStore();
        for (const line of lines) await store.append([line]);
      }),
    );
    isWriting = false;

    const seen = await Promise.all(readers);
    const rows = await postgres.sql("select line from public.faceless_journal order by position");
    const inOrder = rows.map(({ line }) => String(line));
    expect(inOrder.toSorted()).toEqual(written.flat().toSorted());
    for (const lines of seen) expect(lines).toEqual(inOrder);
  });

  test("a database in Latin-1 keeps every topic and every outcome", async () => {
    const address = await databaseIn("LATIN1");
    const { start, orders } = await startService({ [GENERATE]: STARTED });
    const topic = "The “sea’s” tides 🌊 — 潮";
    await (await start(address)).call("generate_video", { topic });

    const again = await (await start(address)).call("generate_video", { topic });
    expect(again.structuredContent).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
    expect(orders()).toBe(1);
  });

  test("a row that isn't in the database's encoding is an error that says so", async () => {
    const store = openStore(await databaseIn("SQL_ASCII"));
    await store.append(["{}"]);
    await postgres.sql("insert into public.faceless_journal (line) values (E'\\xe9')", "sql_ascii");

    await expect(store.readNew(() => true)).rejects.toMatchObject({
      problem: expect.stringContaining("invalid byte sequence"),
      fix: expect.stringContaining("encoding"),
    });
  });

  // The server of npm comes without the program that copies it.
  test.runIf(server.name.startsWith("Debian"))(
    "a replica is refused by name, by a paid request and by a rehearsal",
    async () => {
      await openStore().append(["first"]);
      const replica = openStore(await postgres.startReplica());
      const readOnly = {
        problem: expect.stringContaining("cannot execute INSERT in a read-only transaction"),
        fix: "name the primary database in FACELESS_JOURNAL_URL, as this one can only be read",
      };

      await expect(replica.append(["second"])).rejects.toMatchObject(readOnly);
      await expect(replica.rehearse()).rejects.toMatchObject(readOnly);
    },
  );

  test.runIf(spawnSync("pgbouncer", ["--version"]).status === 0)(
    "a pooler in transaction mode serves as the database itself, and keeps nothing of another role's things",
    async () => {
      const address = await postgres.startPooler();
      const stores = [1, 2, 3, 4, 5].map(() => openStore(address));
      await plant(PLANTED);
      await Promise.all(stores.map((store, index) => store.append([`${index}`])));
      await openStore(address).rehearse();
      const lines: string[] = [];
      await openStore(address).readNew((line) => lines.push(line) > 0);

      expect(lines.toSorted()).toEqual(["0", "1", "2", "3", "4"]);
      expect(await postgres.sql(CALLS)).toEqual([{ is_called: false }]);
      expect(await postgres.sql("show search_path")).toEqual([{ search_path: "public, pg_catalog" }]);
    },
  );

  const DENIED = "grant its user select and insert on it";
  test.each([
    ["select, insert", "grant select, insert on $T to $R", "ok", ["keeps what was paid and posted"]],
    ["select, insert (line)", "grant select, insert (line) on $T to $R", "ok", ["keeps what was paid"]],
    [
      "select",
      "grant select on $T to $R",
      "fail",
      ["can't be written (\"permission denied for table", DENIED],
    ],
    ["nothing", "select 1", "fail", ["can't be read (\"permission denied for table", DENIED]],
    [
      "no table",
      "drop table $T",
      "fail",
      ["can't be written (\"permission denied for schema public", "make the table as docs/GATEWAYS.md shows"],
    ],
    ["no table, create", "drop table $T; grant create on schema public to $R", "ok", ["keeps what was paid"]],
    [
      "row-level security with a policy for both",
      "grant all on $T to $R; alter table $T enable row level security; create policy p on $T using (true)",
      "ok",
      ["keeps what was paid"],
    ],
  ])("doctor says what a role with %s lacks, and not its password", async (_, change, status, texts) => {
    await openStore().append(["{}"]);
    await postgres.sql("delete from public.faceless_journal");
    const url = await roleWith(change);
    const { env } = await startService({});
    const { stdout, stderr } = await run(process.execPath, [BUILT_FILE, "doctor", "--json"], {
      env: env(url),
    });

    const { checks } = z
      .object({ checks: z.array(z.looseObject({ name: z.string() })) })
      .parse(JSON.parse(stdout));
    const check = checks.find(({ name }) => name === "journal");
    expect(check).toMatchObject({ status });
    for (const text of texts) expect(Object.values(check ?? {}).join("\n")).toContain(text);
    expect(stdout + stderr).not.toContain(PASSWORD);
    expect(await postgres.sql("select to_regclass('public.faceless_journal')::text as name")).toEqual([
      { name: change.includes("drop") ? null : "faceless_journal" },
    ]);
  });

  test("a server whose database is down starts and pays for nothing, and pays and knows all once it is up", async () => {
    const { start, orders } = await startService({
      [GENERATE]: [{ json: { jobId: OTHER_JOB_ID, status: "processing" } }, STARTED],
    });
    await (await start()).call("generate_video", { topic: "Earlier" });
    await postgres.crash();
    const client = await start();
    const refused = await client.call("generate_video", TIDES);
    expect(refused._meta?.["faceless/error"]).toMatchObject({
      code: "journal_unreadable",
      outcome: "not_sent",
    });
    expect(textOf(refused)).toContain(
      `("connect ECONNREFUSED 127.0.0.1:${postgres.port}": the table faceless_journal of postgres on 127.0.0.1)`,
    );
    await postgres.start();

    expect((await client.call("generate_video", TIDES)).structuredContent).toMatchObject({ jobId: JOB_ID });
    expect(orders()).toBe(2);
    const { resources } = await client.raw.listResources();
    expect(resources.map(({ uri }) => uri)).toContain(`faceless://jobs/${OTHER_JOB_ID}`);
    expect(client.stderr() + textOf(refused)).not.toContain(PASSWORD);
  });

  test("a client that only lists the tools opens no connection", async () => {
    const proxy = await startTcpProxy(postgres.port);
    const { start, orders } = await startService({ [GENERATE]: STARTED });
    const client = await start(postgres.url().replace(`${postgres.port}`, `${proxy.port}`));
    await client.raw.listTools();
    await client.raw.ping();
    expect(proxy.made).toBe(0);
    await client.call("generate_video", TIDES);

    expect({ made: proxy.made, orders: orders() }).toEqual({ made: 1, orders: 1 });
  });

  test("the orders and posts of one computer are known on another whose clock is wrong", async () => {
    const ready = { status: "completed", videoUrls: [], finalVideoUrl: "https://media.example/final.mp4" };
    const { start, env, orders, rest } = await startService({
      [GENERATE]: STARTED,
      [STATUS]: { json: ready },
      [PUBLISH]: { json: { results: [{ platform: "tiktok", ok: true, url: "https://tiktok.example/1" }] } },
    });
    const post = { jobId: JOB_ID, platforms: ["tiktok"] };
    const first = await start();
    await first.call("generate_video", TIDES);
    await first.call("publish_video", post);
    const clock = join(temporaryFolder(), "clock");
    // Three days ahead.
    writeFileSync(clock, `0 ${3 * 86_400_000}`);
    const other = await start(undefined, {
      NODE_OPTIONS: `--require ${JUMPING_CLOCK}`,
      CLOCK_FILE: clock,
      FACELESS_MAX_GENERATIONS: "1",
    });

    expect((await other.call("generate_video", TIDES)).structuredContent).toMatchObject({
      jobId: JOB_ID,
      alreadyStarted: true,
      summary: expect.stringMatching(/ordered (just now|\d+ seconds? ago)/),
    });
    expect((await other.call("publish_video", post)).structuredContent).toMatchObject({
      results: [{ platform: "tiktok", ok: true, alreadyPublished: true, url: "https://tiktok.example/1" }],
    });
    const third = await other.call("generate_video", { topic: "Another" });
    expect(third._meta?.["faceless/error"]).toMatchObject({ code: "limit_reached" });
    expect([orders(), rest.lines(PUBLISH).length]).toEqual([1, 1]);
    const { stdout } = await run(process.execPath, [BUILT_FILE, "history", "--json"], { env: env() });
    expect(JSON.parse(stdout)).toMatchObject({
      entries: [
        { operation: "publish", jobId: JOB_ID },
        { operation: "generate", jobId: JOB_ID, topic: "Tides" },
      ],
    });
  });

  test.each(["before", "answered"] as const)(
    "a connection that is cut in the middle of the insert (%s) pays for nothing, and the next call from anywhere pays once",
    async (when) => {
      const proxy = await startTcpProxy(postgres.port);
      const { start, orders } = await startService({ [GENERATE]: STARTED });
      await makeTable();
      const client = await start(postgres.url().replace(`${postgres.port}`, `${proxy.port}`));
      proxy.cutAt = { text: "insert into", when };
      const cut = await client.call("generate_video", TIDES);
      expect(cut._meta?.["faceless/error"]).toMatchObject({
        code: "journal_unwritable",
        outcome: "not_sent",
      });
      expect(orders()).toBe(0);

      const next = await (await start()).call("generate_video", TIDES);
      expect(next.structuredContent).toMatchObject({ jobId: JOB_ID });
      expect(orders()).toBe(1);
    },
  );

  test("a database that hangs fails each call within 8 s, and does not hold up the end of the process", async () => {
    const { start, orders, env } = await startService({ [GENERATE]: STARTED });
    const client = await start();
    const idle = startRaw({ env: env() });
    await Promise.all([idle.open("legacy"), makeTable()]);
    await idle.ask("tools/call", { name: "list_videos", arguments: {} });
    postgres.freeze();
    onTestFinished(() => postgres.thaw());
    const startMs = performance.now();
    const call = idle.ask("tools/call", { name: "generate_video", arguments: TIDES });
    const refused = await client.call("generate_video", TIDES);
    const refusedMs = performance.now() - startMs;
    expect(textOf(refused)).toContain(
      '("no connection in 8 s": the table faceless_journal of postgres on 127.0.0.1)',
    );
    await call;
    idle.send(idle.request("last", "tools/call", { name: "generate_video", arguments: TIDES }));
    await sleep(500);
    const endMs = performance.now();
    idle.stdin.end();
    const { code, atMs } = await idle.ended;

    expect({ code, orders: orders() }).toEqual({ code: 0, orders: 0 });
    expect(refusedMs).toBeLessThan(14_000);
    expect(atMs - endMs).toBeLessThan(1_000);
  });

  test("a certificate authority that the address names is the only one trusted", async () => {
    const { key, cert } = createCertificate("127.0.0.1");
    const folder = join(postgres.folder, "data");
    for (const [name, text] of Object.entries({ "server.key": key, "server.crt": cert })) {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      if (process.getuid?.() === 0) chownSync(join(folder, name), 65_534, 65_534);
    }
    await postgres.sql("alter system set ssl = on");
    await postgres.sql("select pg_reload_conf()");
    const trusted = join(temporaryFolder(), "ca.pem");
    writeFileSync(trusted, cert);
    const other = join(temporaryFolder(), "other.pem");
    writeFileSync(other, createCertificate("127.0.0.1").cert);
    const lookWith = (query: string) => openStore(`${postgres.url()}?${query}`).readNew(() => true);
    for (const query of [`sslrootcert=${other}`, `sslmode=require&sslrootcert=${other}`])
      await expect(lookWith(query)).rejects.toMatchObject({
        problem: expect.stringMatching(/^can't be read \(".*certificate.*": /),
        fix: expect.stringContaining("sslrootcert=FILE"),
      });
    await expect(lookWith("sslrootcert=/missing.pem")).rejects.toMatchObject({
      problem: expect.stringContaining("no such file or directory, open '/missing.pem'"),
      fix: "check the path of the socket or of sslrootcert in FACELESS_JOURNAL_URL",
    });
    const byName = openStore(`${postgres.url().replace("127.0.0.1", "localhost")}?sslrootcert=${trusted}`);
    await expect(byName.readNew(() => true)).rejects.toThrow("does not match certificate's altnames");

    for (const query of [`sslrootcert=${trusted}`, `sslmode=verify-full&sslrootcert=${trusted}`])
      await lookWith(query);
    const connections =
      "select count(*)::int from pg_stat_ssl join pg_stat_activity using (pid) where ssl and application_name = 'faceless-video-mcp'";
    expect(await postgres.sql(connections)).toEqual([{ count: 2 }]);
  });

  /** The address of a database in another encoding, named by it. */
  async function databaseIn(encoding: string): Promise<string> {
    const sort = "template template0 lc_collate 'C' lc_ctype 'C'";
    await postgres.sql(`create database ${encoding} encoding '${encoding}' ${sort}`);
    onTestFinished(() => postgres.sql(`drop database ${encoding} with (force)`).then(() => {}));
    return postgres.url("postgres", encoding.toLowerCase());
  }

  /** Runs it as a role that may create things in the schema, and lets its things be found first. */
  async function plant(sql: string): Promise<void> {
    await postgres.sql(
      `create role planter; grant create on schema public to planter; set role planter; ${sql}`,
    );
    await postgres.sql("alter role postgres set search_path = public, pg_catalog");
    onTestFinished(async () => {
      await postgres.sql(
        "alter role postgres reset search_path; drop owned by planter cascade; drop role planter",
      );
    });
  }

  /** Makes a role, and changes it: $R is the role and $T the table. */
  async function roleWith(change: string): Promise<string> {
    const role = `r${randomUUID().replaceAll("-", "")}`;
    await postgres.sql("revoke create on schema public from public");
    await postgres.sql(`create role ${role} login password '${PASSWORD}'`);
    await postgres.sql(change.replaceAll("$R", role).replaceAll("$T", "public.faceless_journal"));
    return postgres.url(role);
  }

  /** A service, and servers for it that have nothing in common but the database. */
  async function startService(scripts: Scripts) {
    const rest = await scriptedService({ [VIDEOS]: { json: { videos: [] } }, ...scripts });
    const env = (url = postgres.url()) => ({
      FACELESS_API_KEY: KEY,
      FACELESS_BASE_URL: rest.url,
      FACELESS_STATE_DIR: temporaryFolder(),
      FACELESS_JOURNAL_URL: url,
      FACELESS_LOG_LEVEL: "debug",
    });
    return {
      rest,
      env,
      start: (url?: string, more: Record<string, string> = {}) =>
        connectLegacy({ file: BUILT_FILE, env: { ...env(url), ...more } }),
      orders: () => rest.lines(GENERATE).length,
    };
  }
});
