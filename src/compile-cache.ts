// Keeps the server's compiled code on disk, on Nodes that can (22.1 and newer), so that the next start need not compile it again.
// Whatever goes wrong costs this saving alone, and nobody is told.

import { mkdirSync, readdirSync, rmSync, statSync, type Stats } from "node:fs";
import * as nodeModule from "node:module";
import { basename, dirname, join } from "node:path";

export interface CompileCacheOptions {
  readonly stateFolder: string;
  /** Ours and Node's: code that one of them has compiled is of no use to another. */
  readonly versions: readonly [ours: string, node: string];
  /** The user's id; undefined on Windows, where the user's folder is private by itself. */
  readonly userId: number | undefined;
}

const PREFIX = "compiled-";
const WRITABLE_BY_OTHERS = 0o022;
/** By then the client has its list of tools, and the server has loaded what it needs. */
const FILL_AFTER_MS = 3_000;

/** Run in a thread of its own: what is saved while it is loaded delays whoever loads it. */
const FILL = `
  const { enableCompileCache, flushCompileCache } = require("node:module");
  const { folder, files } = require("node:worker_threads").workerData;
  enableCompileCache(folder);
  for (const file of files) require(file);
  flushCompileCache?.();
`;

/** Has to be called before the code is loaded. The first start with these versions is as fast as one without this. */
export function useCompileCache({ stateFolder, versions, userId }: CompileCacheOptions): void {
  const enable: unknown = Reflect.get(nodeModule, "enableCompileCache");
  if (typeof enable !== "function") return;
  const folder = join(stateFolder, PREFIX + versions.join("-"));
  try {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found === undefined) setTimeout(() => void fill(folder).catch(() => {}), FILL_AFTER_MS).unref();
    // Node runs what it finds there.
    else if (isPrivate(found, userId)) enable(folder);
  } catch {
    // Such as a folder that can't be read.
  }
}

function isPrivate({ uid, mode }: Stats, userId: number | undefined): boolean {
  return userId === undefined || (uid === userId && (mode & WRITABLE_BY_OTHERS) === 0);
}

async function fill(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeOlder(folder);
  // The chunks of the bundle only declare things; the entries beside their folder would start a second server.
  const files = Object.keys(nodeModule.createRequire(import.meta.url).cache).filter(
    (file) => basename(dirname(file)) === "chunks",
  );
  // Loaded here, because most starts don't need it.
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(FILL, { eval: true, workerData: { folder, files } });
  worker.unref();
  worker.on("error", () => {});
}

/** Newer ones stay: two versions that are used in turn must not remove each other's code. */
function removeOlder(folder: string): void {
  const [parent, own] = [dirname(folder), basename(folder)];
  for (const name of readdirSync(parent))
    if (name.startsWith(PREFIX) && name.localeCompare(own, "en", { numeric: true }) < 0)
      rmSync(join(parent, name), { recursive: true, force: true });
}
