// Run by `npm version` after package.json has the new version and before the commit: updates the versions in server.json and leaves
// the rest of its text.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import * as z from "zod";

// npm runs lifecycle scripts in the package's folder.
const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync("package.json", "utf8")));
const text = readFileSync("server.json", "utf8");
writeFileSync("server.json", text.replaceAll(/("version": ")[^"]*(")/g, `$1${version}$2`));
execFileSync("git", ["add", "server.json"]);
