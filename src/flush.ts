// Flushes a written file to its disk, as far as the disk can. Knows nothing of its content.

import type { FileHandle } from "node:fs/promises";
import { errnoOf } from "./errors.ts";

/** Network drives, FUSE and shared folders of virtual machines can't flush, and each says so in its own way. */
const CANT_FLUSH: ReadonlySet<string | undefined> = new Set([
  "EACCES",
  "EINVAL",
  "ENOSYS",
  "ENOTSUP",
  "ENOTTY",
  "EPERM",
]);

/** Resolves when the file's bytes are on its disk, or with its file system alone if that is all it can do. */
export async function flush(file: Pick<FileHandle, "sync">): Promise<void> {
  await file.sync().catch((error: unknown) => {
    if (!CANT_FLUSH.has(errnoOf(error))) throw error;
  });
}
