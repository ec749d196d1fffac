// Runs every case in a Node for Windows and writes the report beside this file.

import { writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { CASES } from "./cases.ts";
import { User } from "./user.ts";

const [folder = "", sandboxUrl = ""] = process.argv.slice(2);
const rows: { what: string; found: string; ok: boolean }[] = [];
for (const [what, run] of Object.entries(CASES)) {
  // The name has blanks, and letters that no code page of Windows has together.
  const user = new User(folder, `Jörg Müller 日本 ${rows.length}`, sandboxUrl);
  try {
    // eslint-disable-next-line no-await-in-loop -- one after the other: they share the sandbox
    rows.push({ what, found: await run(user), ok: true });
  } catch (error) {
    const found = String(error).replace(/[\s|]+/g, " ");
    rows.push({ what, found: found.slice(0, 300), ok: false });
  }
  // eslint-disable-next-line no-await-in-loop -- see above
  await user.leave();
}
const system = `Windows ${release()}, Node.js ${process.versions.node}`;
writeFileSync(join(folder, "report.json"), JSON.stringify({ system, rows }));
// Whatever a case that failed has left open.
process.exit();
