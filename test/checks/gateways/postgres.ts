// A Postgres of its own in a given folder, from the server that is installed on this computer.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { run } from "../../fixtures/run.ts";

export interface Postgres {
  readonly url: string;
  close(): Promise<void>;
}

/** Debian and Ubuntu keep the server's programs out of PATH. */
const DEBIAN = "/usr/lib/postgresql";

/** The folder of initdb and postgres; undefined where Postgres is not installed. */
export async function findPostgres(): Promise<string | undefined> {
  const versions = await readdir(DEBIAN).catch((): string[] => []);
  const newestFirst = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN, version, "bin"));
  for (const folder of [...newestFirst, ...(process.env["PATH"] ?? "").split(delimiter)]) {
    // eslint-disable-next-line no-await-in-loop -- the first that has it
    const names = await readdir(folder).catch((): string[] => []);
    if (names.includes("initdb") && names.includes("postgres")) return folder;
  }
  return undefined;
}

/** Keeps its data in `folder`, and listens on the port of the loopback interface alone. */
export async function startPostgres(programs: string, folder: string, port: number): Promise<Postgres> {
  const user = await unprivilegedUser();
  const data = join(folder, "postgres");
  await mkdir(data, { mode: 0o700 });
  if (user !== undefined) {
    await chown(data, user.uid, user.gid);
    // It must be able to reach its own folder.
    for (const above of [folder, dirname(folder)]) await chmod(above, 0o711);
  }
  const options = { ...user, cwd: data, env: { PATH: process.env["PATH"], LC_ALL: "C" } };
  const initdb = spawn(
    join(programs, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"],
    {
      ...options,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  const [code]: unknown[] = await once(initdb, "close");
  if (code !== 0) throw new Error(`initdb ended with ${String(code)}.`);
  // What it may lose at a crash of the computer does not matter here.
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: "", fsync: "off" };
  const server = spawn(
    join(programs, "postgres"),
    ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    { ...options, stdio: ["ignore", "ignore", "pipe"] },
  );
  let log = "";
  const closed = once(server, "close");
  await new Promise<void>((resolve, reject) => {
    server.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString("utf8");
      if (log.includes("ready to accept connections")) resolve();
    });
    server.on("exit", () => reject(new Error(`Postgres did not start: ${log}`)));
  });
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async close() {
      // Ends all connections at once.
      server.kill("SIGINT");
      await closed;
    },
  };
}

/** Postgres refuses to run as root. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { stdout } = await run("sh", ["-c", "id -u postgres && id -g postgres"]);
  const [uid = Number.NaN, gid = Number.NaN] = stdout.trim().split("\n").map(Number);
  return { uid, gid };
}
