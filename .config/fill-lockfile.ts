// npm run lockfile: removes the packages without an integrity from package-lock.json. npm then adds the same
// versions with it, as long as the registry has them: look at the difference before you commit it.

import { readFile, writeFile } from "node:fs/promises";
import * as z from "zod";

const lockfileSchema = z.looseObject({ packages: z.record(z.string(), z.record(z.string(), z.unknown())) });

const file = new URL("../package-lock.json", import.meta.url);
const lockfile = lockfileSchema.parse(JSON.parse(await readFile(file, "utf8")));
const isKept = ([path, entry]: [string, object]) => path === "" || "integrity" in entry;
const packages = Object.fromEntries(Object.entries(lockfile.packages).filter(isKept));
await writeFile(file, `${JSON.stringify({ ...lockfile, packages }, undefined, 2)}\n`);
