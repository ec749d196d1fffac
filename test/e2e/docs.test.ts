// The documents' command blocks that are marked as runnable, with the built file as the package.

import { expect, test } from "vitest";
import { DOCUMENTS, readDocument, runBlock, runnableBlocks } from "../../.config/docs-check.ts";
import { BUILT_FILE } from "../fixtures/clients.ts";

test("each command block that is marked as runnable runs", async () => {
  const blocks = DOCUMENTS.flatMap((name) => runnableBlocks(readDocument(name)));
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks) await expect(runBlock(block, [BUILT_FILE])).resolves.not.toBe("");
});
