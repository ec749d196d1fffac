// A user of Windows: folders of their own, and the servers and commands that they start.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { type RawServer, type RawStart, startRaw } from "../../fixtures/raw-server.ts";
import { type Ran, run } from "../../fixtures/run.ts";

const environmentSchema = z.record(z.string(), z.string());
const factsSchema = z.looseObject({ summary: z.string().default(""), savedTo: z.string().optional() });
const errorSchema = z.looseObject({ code: z.string(), outcome: z.string() });
const resultSchema = z.looseObject({
  content: z.array(z.looseObject({ text: z.string().default("") })),
  /** Absent in the result of a call that failed. */
  structuredContent: factsSchema.optional(),
  _meta: z.looseObject({ "faceless/error": errorSchema.optional() }).default({}),
});
type Facts = z.infer<typeof factsSchema>;
type Result = z.infer<typeof resultSchema>;
type Variables = Readonly<Record<string, string | undefined>>;

export class User {
  readonly home: string;
  readonly sandboxUrl: string;
  readonly #file: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #servers: RawServer[] = [];

  constructor(folder: string, name: string, sandboxUrl: string) {
    this.home = join(folder, name);
    this.sandboxUrl = sandboxUrl;
    this.#file = join(folder, "dist", "bin.cjs");
    // Starts the package that the third word names with the words behind it, as npm's npx.cmd does.
    this.write("bin/npx.cmd", `@"${process.execPath}" "${this.#file}" %4 %5\r\n`);
    this.#env = {
      ...environmentSchema.parse({ ...process.env }),
      PATH: `${this.path("bin")};${process.env["PATH"]}`,
      USERPROFILE: this.home,
      APPDATA: this.path("AppData/Roaming"),
      LOCALAPPDATA: this.path("AppData/Local"),
      FACELESS_API_KEY: "fl_sandbox",
      FACELESS_BASE_URL: sandboxUrl,
    };
  }

  path(name: string): string {
    return join(this.home, name);
  }

  /** The paths of all files, relative to the user's folder. */
  files(): string[] {
    return readdirSync(this.home, { recursive: true, encoding: "utf8" });
  }

  write(name: string, content: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  async start(
    env: Variables = {},
    protocol: "legacy" | "modern" = "legacy",
    how: RawStart = {},
  ): Promise<RawServer> {
    const server = startRaw({
      command: [process.execPath],
      file: this.#file,
      ...how,
      env: { ...this.#env, FACELESS_STATE_DIR: undefined, ...env },
    });
    this.#servers.push(server);
    await server.open(protocol);
    return server;
  }

  /** Runs a command in a folder of the user's to its end. */
  run(folder: string, ...args: readonly string[]): Promise<Ran> {
    return run(process.execPath, [this.#file, ...args], { cwd: folder, env: this.#env });
  }

  async leave(): Promise<void> {
    for (const { child } of this.#servers) child.kill();
    await Promise.all(this.#servers.map(({ ended }) => ended));
  }
}

/** The structured result of a call; throws if it fails. */
export async function call(server: RawServer, name: string, args: object = {}): Promise<Facts> {
  const { structuredContent, content } = await ask(server, name, args);
  if (structuredContent === undefined) throw new Error(`${name}: ${content[0]?.text}`);
  return structuredContent;
}

export async function ask(server: RawServer, name: string, args: object): Promise<Result> {
  const { result } = await server.ask("tools/call", { name, arguments: args });
  return resultSchema.parse(result);
}
