// `doctor`: what it says of this terminal's settings, and of a client's entry in the user's own files, which it
// starts.

import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "smol-toml";
import { expect, test } from "vitest";
import { CLIENTS, type ClientName } from "../../src/command-line.ts";
import { entryOf, printDocument } from "../../src/commands/client-config.ts";
import { filesOf, FORMATS } from "../../src/commands/client-formats.ts";
import { runDoctor } from "../../src/commands/doctor.ts";
import { hijackRisk } from "../../src/commands/doctor/client-entry.ts";
import { startEntry } from "../../src/commands/doctor/start.ts";
import { launch, keyLine } from "../../src/commands/server-entry.ts";
import { CANARY } from "../fixtures/canary.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer } from "../fixtures/host.ts";
import { type DoctorOptions, doctor as run, problemsIn } from "../fixtures/run-doctor.ts";
import { envelope, type Reply, scriptedService } from "../fixtures/scripted-service.ts";

const SERVER = fileURLToPath(new URL("../fixtures/entry-server.cjs", import.meta.url));

type Values = Readonly<Record<string, string>>;

const good = (url: string) => ({ FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: url });
const entry = (env: Values, more: object = {}) => ({
  "faceless-video": { command: process.execPath, args: [SERVER], env, ...more },
});
const servers = (env: Values, more?: object) => ({ mcpServers: entry(env, more) });
const NO_VIDEOS = { json: { videos: [] } };
const service = (videos: Reply = NO_VIDEOS) => scriptedService({ [VIDEOS]: videos });

/** The home folder of a user with this content in a client's own file. */
async function homeWith(client: ClientName, content: string | object): Promise<string> {
  const home = temporaryFolder();
  const files = filesOf(FORMATS[client], { env: {}, homeDir: home, platform: process.platform });
  const file = files.findLast((each) => !each.includes("*")) ?? "";
  await write(file, content);
  return home;
}

async function write(file: string, content: string | object): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const isText = typeof content === "string" || Buffer.isBuffer(content);
  await writeFile(file, isText ? content : JSON.stringify(content, undefined, 2));
}

const doctor = (client: ClientName, home: string, options: Partial<DoctorOptions> = {}) =>
  run({ client, homeDir: home, ...options, env: { PATH: process.env["PATH"], ...options.env } });

test.each(CLIENTS.filter((client) => client !== "other"))(
  "doctor starts the entry that config prints for %s, and fails if no key is in sight",
  async (client) => {
    const { url } = await service();
    const installation = { command: process.execPath, args: [SERVER] };
    const printed = printDocument(
      FORMATS[client],
      entryOf(client, { windows: false, sandbox: false, installation }, url),
    );
    const { title, isInTerminal } = FORMATS[client];
    const home = await homeWith(client, printed.replace("fl_example", CANARY));

    const { code, lines } = await doctor(client, home);

    const told =
      isInTerminal === true
        ? `fail FACELESS_API_KEY Start ${title} from a shell that sets FACELESS_API_KEY, or write the value itself into the entry. This line asks for the key and sets it: ${keyLine(undefined, false)} (${title} takes it from FACELESS_API_KEY of the shell that starts it. This shell doesn't set that: started from here, ${title} has none)`
        : `skip FACELESS_API_KEY To check the value itself, set FACELESS_API_KEY and FACELESS_BASE_URL in this terminal, and run doctor without --client. (only ${title} knows its value)`;
    const problems = printed.includes("fl_example") ? [] : [told];
    expect(problemsIn(lines)).toEqual(problems);
    expect(lines[0] === "A video can be made.").toBe(problems.length === 0);
    expect(code).toBe(problems.some((problem) => problem.startsWith("fail")) ? 1 : 0);
    expect(lines.join("\n")).toMatch(/^ok +start +version 10\.0\.0, 2 tools, in \d\.\d s$/m);
  },
);

interface BrokenSetUp {
  readonly what: string;
  /** Default: Cursor. */
  readonly client?: ClientName;
  /** Takes the address of a service that accepts the key. */
  readonly content: (url: string) => string | object | Promise<object>;
  /** The only problem: status, name, what to do and what was found. */
  readonly told: RegExp;
}

const AGAIN = String.raw`Replace the entry with what this prints: node \S+bin\.cjs config cursor`;
/** npx with a registry of this kind. */
const npx = (env: Values, registry: string) =>
  servers(
    { ...env, npm_config_registry: registry, npm_config_cache: "/dev/null/none" },
    launch({ windows: false, sandbox: false }),
  );

const BROKEN: readonly BrokenSetUp[] = [
  {
    what: "no entry",
    content: () => ({ mcpServers: {} }),
    told: /^fail entry Put what this prints into the file that it names: node \S+ config cursor \(Cursor has no entry of this server in ~\/\.cursor\/mcp\.json\. Files of a project are not read\)$/,
  },
  {
    what: "a missing comma",
    content: () => '{\n  "mcpServers": {\n    "a": {}\n    "b": {}\n  }\n}\n',
    told: /^fail entry Look at line 4, column 5, and at what stands before it\. \(~\/\.cursor\/mcp\.json has a mistake in line 4, column 5\)$/,
  },
  {
    what: "an entry that is switched off",
    client: "cline",
    content: (url) => servers(good(url), { disabled: true }),
    told: /^fail entry Switch this server on in Cline\. \(it is switched off in ~\/\.cline\//,
  },
  {
    what: "a package that npm does not have",
    content: async (url) => npx(good(url), (await scriptedService()).url),
    told: new RegExp(`^fail start ${AGAIN} \\(npm has no such package or version \\(E404\\)\\)$`),
  },
  {
    what: "a wrong path",
    content: (url) => servers(good(url), { args: ["/opt/old/dist/bin.cjs"] }),
    told: new RegExp(`^fail start ${AGAIN} \\(there is no file "/opt/old/dist/bin.cjs"\\)$`),
  },
  {
    what: "a program that ends at once",
    content: (url) => servers(good(url), { args: [SERVER, "--fails"] }),
    told: new RegExp(`^fail start ${AGAIN} \\(exit code 2; it printed "No such option."\\)$`),
  },
  {
    what: "another server",
    content: (url) => servers(good(url), { args: [SERVER, "other=1.0.0"] }),
    told: new RegExp(`^fail start ${AGAIN} \\(the program that answers is "other"\\)$`),
  },
  {
    what: "an older version",
    content: (url) => servers(good(url), { args: [SERVER, "faceless-video-mcp=0.0.9"] }),
    told: new RegExp(`^warn start ${AGAIN} \\(it is version 0.0.9, and this is version `),
  },
  {
    what: "a program that prints to stdout",
    content: (url) => servers(good(url), { args: [SERVER, "--greets"] }),
    told: new RegExp(
      `^warn start ${AGAIN} \\(it prints "Welcome!" to stdout, which some clients take for a broken server\\)$`,
    ),
  },
  {
    what: "a program named by a placeholder",
    content: (url) => servers(good(url), { args: ["${userHome}/bin.cjs"] }),
    told: /^skip start Look in Cursor whether the server runs\. \(the entry has placeholders that only Cursor fills in\)$/,
  },
  {
    what: "no key",
    content: (url) => servers({ FACELESS_BASE_URL: url }),
    told: /^fail FACELESS_API_KEY Create a key .+ \(it is not set\)$/,
  },
  {
    what: "the key of the example",
    client: "claude-desktop",
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "fl_example" }),
    told: /^fail FACELESS_API_KEY Put your own key in its place\. Create a key .+ \(it is still the example\)$/,
  },
  {
    what: "an entry that a project can take over",
    content: (url) => servers(good(url), { args: [SERVER, "npx"] }),
    told: new RegExp(
      `^warn entry ${AGAIN} \\(Cursor may start it in a project's folder, where npx obeys the project's files, so that a cloned project could run another program with your key\\)$`,
    ),
  },
];

test.each(BROKEN)(
  "doctor names $what and what to do, and nothing else",
  async ({ client = "cursor", content, told }) => {
    const home = await homeWith(client, await content((await service()).url));

    const { code, lines } = await doctor(client, home);

    expect(problemsIn(lines)).toEqual([expect.stringMatching(told)]);
    const isFailure = told.source.startsWith("^fail");
    expect([code, lines[0]?.startsWith("Before a video can be made, fix this and restart")]).toEqual(
      isFailure ? [1, true] : [0, false],
    );
    expect(lines.join("\n").includes("A video can be made.")).toBe(told.source.startsWith("^warn"));
  },
);

test("doctor reads no project's file and sends nothing for it", async () => {
  const { url, requests } = await service();
  const home = await homeWith("claude-code", {});
  for (const file of [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"])
    // eslint-disable-next-line no-await-in-loop -- there are three
    await write(join(home, "project", file), { ...servers(good(url)), servers: entry(good(url)) });

  const clients = ["claude-code", "cursor", "vscode", "visual-studio"] as const;
  const reports = await Promise.all(
    clients.map((client) => doctor(client, home, { workingDir: join(home, "project") })),
  );

  expect(reports.map(({ code, lines }) => [code, problemsIn(lines)])).toEqual(
    clients.map(() => [1, [expect.stringMatching(/^fail entry .+ Files of a project are not read\)$/)]]),
  );
  expect(requests).toEqual([]);
});

test("doctor finds what `claude mcp add` keeps for a project in the user's own file", async () => {
  const { url } = await service();
  const home = temporaryFolder();
  await write(join(home, ".claude.json"), { projects: { [join(home, "project")]: servers(good(url)) } });

  const inProject = await doctor("claude-code", home, { workingDir: join(home, "project") });

  expect([problemsIn(inProject.lines), (await doctor("claude-code", home)).code]).toEqual([[], 1]);
});

test("doctor reads files with a byte order mark, comments and trailing commas", async () => {
  const text = JSON.stringify({ context_servers: entry({ ...good((await service()).url), NOTE: "// , }" }) });
  const home = await homeWith(
    "zed",
    `\uFEFF// Zed, 100 %\r\n{ /* mine, */ "theme": "One",\n${text.slice(1, -1)}, // end\n}\n`,
  );

  expect((await doctor("zed", home)).lines[0]).toBe("A video can be made.");
});

test("doctor doesn't say that a read-only server can make a video", async () => {
  const home = await homeWith(
    "cursor",
    servers(good((await service()).url), { args: [SERVER, "--read-only"] }),
  );

  const { code, lines } = await doctor("cursor", home);

  expect([code, lines[0]]).toEqual([0, "Nothing was found that stops this server."]);
  expect(lines.join("\n")).toMatch(/^ok +--read-only +no video can be made or posted$/m);
});

test("doctor needs no service for an entry that starts the sandbox", async () => {
  const home = await homeWith("cursor", servers({}, { args: [SERVER, "--sandbox"] }));

  const { code, lines } = await doctor("cursor", home);

  expect([code, lines[0]]).toEqual([0, "A video can be made."]);
  expect(lines.join("\n")).toMatch(/^ok +settings +the sandbox: nothing is rendered, charged or posted$/m);
});

test("doctor warns of a program that an application started from the desktop may not find", async () => {
  const home = await homeWith("claude-desktop", servers(good((await service()).url), { command: "node" }));
  const folder = join(home, ".nvm/versions/node/v20.0.0/bin");
  await mkdir(folder, { recursive: true });
  await symlink(process.execPath, join(folder, "node"));

  const { code, lines } = await doctor("claude-desktop", home, { env: { PATH: folder } });

  expect([code, problemsIn(lines)]).toEqual([
    0,
    [
      expect.stringContaining(
        "this terminal has node in ~/.nvm/versions/node/v20.0.0/bin/node, where Claude Desktop may not look",
      ),
    ],
  ]);
});

test("doctor starts no program of a project, which npm puts into the PATH of what it starts", async () => {
  const home = await homeWith(
    "cursor",
    servers(good((await service()).url), { command: "npx", args: ["-y", "x"] }),
  );
  const mark = join(home, "mark");
  const folder = join(home, "project/node_modules/.bin");
  await write(join(folder, "npx"), `#!/bin/sh\ntouch ${mark}\n`);
  await chmod(join(folder, "npx"), 0o755);

  const { lines } = await doctor("cursor", home, { env: { PATH: `${folder}${delimiter}/nowhere` } });

  expect([existsSync(mark), problemsIn(lines)[0]]).toEqual([
    false,
    expect.stringContaining('there is no program "npx"'),
  ]);
});

test("doctor gives up on a program that does not answer", async () => {
  const options = {
    platform: process.platform,
    cwd: temporaryFolder(),
    env: { PATH: process.env["PATH"] },
    limitMs: 200,
    interrupted: new AbortController().signal,
    redact: (text: string) => text,
  };

  const outcome = await startEntry([process.execPath, SERVER, "--silent"], options);

  expect(outcome).toEqual({ problem: "no answer within 0.2 s" });
});

const PASSWORD = 'p/ss w\u00f6rd"%1';
test.each([
  ["as it is", PASSWORD],
  ["as the address has it", encodeURIComponent(PASSWORD)],
  ["in JSON", JSON.stringify(PASSWORD)],
  ["in JSON of ASCII", JSON.stringify(PASSWORD).replace("\u00f6", String.raw`\u00f6`)],
])("doctor never shows the password of an entry, though its program prints it %s", async (_, printed) => {
  const address = `postgres://ann:${encodeURIComponent(PASSWORD)}@db.test/videos`;
  const script = 'console.error("x".repeat(30_000)), console.error("no access:", process.argv[1], "for ann")';
  const env = { ...good((await service()).url), FACELESS_JOURNAL_URL: address };
  const home = await homeWith("cursor", servers(env, { args: ["-e", script, printed] }));

  const { lines } = await doctor("cursor", home);

  expect(problemsIn(lines)[0]).toMatch(/it printed "no access: \S*\[redacted\]\S* for ann"/);
});

test.each<[string, Values, object]>([
  [
    "the fallback of a placeholder",
    { FACELESS_JOURNAL_URL: "${DB:-postgres://ann:hunter2@db.test/videos}" },
    {},
  ],
  [
    "a program that isn't there",
    {},
    { command: "FACELESS_JOURNAL_URL=postgres://ann:hunter2@db.test/videos npx" },
  ],
])("doctor shows no password that stands in %s", async (_, env, more) => {
  const home = await homeWith("cursor", servers({ ...good((await service()).url), ...env }, more));

  const { code, text } = await doctor("cursor", home);

  expect([code, text.includes("hunter2")]).toEqual([1, false]);
});

interface Asking {
  readonly client: ClientName;
  readonly what: string;
  /** The entry's fields, the file's, and the variables. */
  readonly entry?: object;
  readonly top?: object;
  readonly env?: Values;
  readonly order: RegExp;
  readonly post: RegExp;
}

const BOTH = /^ok .* asks you unless you have told it not to; this server asks you$/;
const CLIENT_ONLY =
  /^ok .* asks you unless you have told it not to; this server doesn't, as .+ show its question$/;
const NOBODY = /^warn .*nobody asks you/;
const OURS = "faceless-video_";
const ASKING: readonly Asking[] = [
  { client: "codex", what: "as it is printed", order: BOTH, post: BOTH },
  {
    client: "codex",
    what: "a tool approved in the entry",
    entry: { tools: { generate_video: { approval_mode: "approve" } } },
    order: /^ok .*Codex doesn't ask you; this server asks you$/,
    post: BOTH,
  },
  {
    client: "codex",
    what: "all tools approved, and one question off",
    entry: { default_tools_approval_mode: "approve" },
    env: { FACELESS_CONFIRM_PUBLISH: "off" },
    order: /^ok .*Codex doesn't ask you; this server asks you$/,
    post: /^warn .*nobody asks you: Codex doesn't ask you; this server doesn't, as FACELESS_CONFIRM_PUBLISH is off/,
  },
  { client: "gemini", what: "as it is printed", order: CLIENT_ONLY, post: CLIENT_ONLY },
  { client: "gemini", what: "trust", entry: { trust: true }, order: NOBODY, post: NOBODY },
  {
    client: "gemini",
    what: "a question that must be asked",
    env: { FACELESS_CONFIRM_GENERATE: "always" },
    order: /^fail .*FACELESS_CONFIRM_GENERATE is always, and Gemini CLI doesn't show this server's question/,
    post: CLIENT_ONLY,
  },
  { client: "opencode", what: "no permission", order: NOBODY, post: NOBODY },
  {
    client: "opencode",
    what: "the printed permission",
    top: { permission: { [`${OURS}generate_video`]: "ask", [`${OURS}publish_video`]: "ask" } },
    order: CLIENT_ONLY,
    post: CLIENT_ONLY,
  },
  {
    client: "opencode",
    what: "a pattern, and a later rule",
    top: { permission: { [`${OURS}*`]: "ask", "*publish*": "deny", "*generate_????o": { "*": "allow" } } },
    order: NOBODY,
    post: /^ok .*opencode doesn't let the model use publish_video/,
  },
  {
    client: "cline",
    what: "autoApprove",
    entry: { autoApprove: ["publish_video"] },
    order: /^ok .*it isn't known if Cline/,
    post: NOBODY,
  },
  {
    client: "cursor",
    what: "nothing",
    order: /^ok .*it isn't known if Cursor/,
    post: /^ok .*it isn't known if Cursor/,
  },
];

test.each(ASKING)(
  "doctor says who asks before an order and a post: $client with $what",
  async ({ client, entry: more = {}, top = {}, env = {}, order, post }) => {
    const { root = "mcpServers", envField = "env" } = FORMATS[client];
    const values = { ...good((await service()).url), ...env };
    const own = { command: process.execPath, args: [SERVER], [envField]: values, ...more };
    const content = { ...top, [root]: { "faceless-video": own } };
    const home = await homeWith(client, client === "codex" ? stringify(content) : content);

    const { code, lines } = await doctor(client, home);

    const said = (act: string) =>
      lines
        .join("\n")
        .replace(/\n {6,}/g, " ")
        .split("\n")
        .find((line) => line.includes(act));
    expect([said("before an order"), said("before a post")]).toEqual([
      expect.stringMatching(order),
      expect.stringMatching(post),
    ]);
    expect(code).toBe(order.source.startsWith("^fail") ? 1 : 0);
  },
);

test("if the entry offers no publishing, doctor doesn't say who asks before a post", async () => {
  const home = await homeWith(
    "codex",
    stringify({ mcp_servers: entry(good((await service()).url), { args: [SERVER, "--no-publish"] }) }),
  );

  const { text } = await doctor("codex", home);

  expect([text.includes("before an order"), text.includes("before a post")]).toEqual([true, false]);
});

test.each<[ClientName, Values, string]>([
  ["opencode", { XDG_CONFIG_HOME: "HOME/xdg" }, "xdg/opencode/opencode.json"],
  ["opencode", { OPENCODE_CONFIG_DIR: "HOME/own" }, "own/opencode.jsonc"],
  ["opencode", { OPENCODE_CONFIG: "HOME/own.json" }, "own.json"],
  ["gemini", { GEMINI_CLI_HOME: "HOME/own" }, "own/.gemini/settings.json"],
  ["copilot", { COPILOT_HOME: "HOME/own" }, "own/mcp-config.json"],
  ["vscode", { XDG_CONFIG_HOME: "HOME/xdg" }, "xdg/Code/User/profiles/-4f2e/mcp.json"],
  ["vscode", { XDG_CONFIG_HOME: "HOME/xdg" }, "xdg/Code - Insiders/User/mcp.json"],
])("doctor finds the entry of %s with %j in %s", async (client, env, path) => {
  const home = temporaryFolder();
  const { root = "mcpServers" } = FORMATS[client];
  await write(join(home, path), { [root]: entry({}, { args: [SERVER, "--sandbox"] }) });
  const inHome = Object.entries(env).map(([name, value]) => [name, value.replace("HOME", home)]);

  const { lines } = await doctor(client, home, { platform: "linux", env: Object.fromEntries(inHome) });

  expect(lines.join("\n")).toMatch(new RegExp(`^ok +entry +~/${path}$`, "m"));
});

const NPX = ["npx", "-y", "faceless-video-mcp"];
const PRINTED = launch({ windows: false, sandbox: false });
test.each<[string, ClientName, readonly string[], string | undefined, RegExp]>([
  ["a bare npx", "cursor", NPX, undefined, /^npx obeys/],
  [
    "npx in a shell",
    "cursor",
    ["/bin/bash", "-lc", "exec npx -y faceless-video-mcp"],
    undefined,
    /^npx obeys/,
  ],
  ["a script of the project", "cursor", ["node", "dist/bin.cjs"], undefined, /^"dist\/bin\.cjs" is a file/],
  ["npx in the home folder", "gemini", NPX, "/home/user", /^nothing$/],
  ["the printed npx", "cursor", [PRINTED.command, ...PRINTED.args], undefined, /^nothing$/],
  ["npx in an application without projects", "lm-studio", NPX, undefined, /^nothing$/],
])("doctor says whether a project can take over the entry: %s in %s", (_, client, words, cwd, risk) => {
  expect(hijackRisk(words, cwd, FORMATS[client]) ?? "nothing").toMatch(risk);
});

/** The URL of a port where nothing listens. */
async function deadUrl(): Promise<string> {
  const closed = await scriptedService();
  await closed.close();
  return closed.url;
}

const inTerminal = (env: Values, more: Partial<DoctorOptions> = {}) =>
  run({ ...more, env: { FACELESS_API_KEY: CANARY, ...env } });
const at = async (videos?: Reply): Promise<Values> => ({ FACELESS_BASE_URL: (await service(videos)).url });
/** The path of a file instead of a folder. */
async function file(): Promise<string> {
  const path = join(temporaryFolder(), "file");
  await writeFile(path, "");
  return path;
}

test.each<[string, () => Promise<Values> | Values, RegExp]>([
  [
    "a proxy that is not there",
    async () => ({
      FACELESS_BASE_URL: "https://videos.test",
      HTTPS_PROXY: (await deadUrl()).replace("//", "//u:p@"),
    }),
    /^fail service Check that the proxy runs .+ the proxy at 127\.0\.0\.1:\d+, which HTTPS_PROXY names, failed: connection refused/,
  ],
  [
    "a company's proxy with a backslash",
    () => ({
      FACELESS_BASE_URL: "https://videos.test",
      HTTPS_PROXY: `http://CORP\\jane:${CANARY}@proxy.test:8080`,
    }),
    /^fail HTTPS_PROXY Write a backslash as %5C, as in http:\/\/CORP%5Cjane:…\. \(it has a backslash\)$/,
  ],
  [
    "a proxy's PAC file",
    () => ({ FACELESS_BASE_URL: "https://videos.test", HTTPS_PROXY: "http://intranet.test/proxy.pac" }),
    /^fail HTTPS_PROXY Set it to the proxy that the file names, .+ \(it names a PAC file, which can't be used\)$/,
  ],
  [
    "neither key nor address",
    () => ({ FACELESS_API_KEY: "" }),
    /^fail settings Add --client and the name of your client, .+\. \(this terminal does not set FACELESS_API_KEY and FACELESS_BASE_URL, /,
  ],
  [
    "the address of the example",
    () => ({ FACELESS_BASE_URL: "https://videos.example.com" }),
    /^fail FACELESS_BASE_URL Put your service's address in its place\. \(it is still the example\)$/,
  ],
  [
    "an address with a wrong path",
    async () => ({ FACELESS_BASE_URL: `${(await service()).url}/app` }),
    /^fail service Check FACELESS_BASE_URL: .+ HTTP 404\)\. Its words: "No such path\."\)$/,
  ],
  [
    "a key that is refused",
    () => at(envelope(401, "unauthorized", `No such key: ${CANARY}`)),
    /^fail key Check FACELESS_API_KEY: create a key.+HTTP 401\)\. Its words: "No such key: \[redacted\]"\)$/,
  ],
  [
    "a firewall in front of the service",
    () => at({ status: 403, body: "<html><title>Just a moment...</title>" }),
    /^fail service Open the address in FACELESS_BASE_URL in a browser .+ \(A firewall, VPN or proxy in front of the service probably refused .+, with the words "Just a moment\.\.\." \(HTTP 403\)\.\)$/,
  ],
  [
    "a sign-in page in its place",
    () => at({ body: "<!doctype html><title>Hotel Wi-Fi</title>" }),
    /^fail service Set FACELESS_BASE_URL .+ \(something else answers at this address: it says "Hotel Wi-Fi"\)$/,
  ],
  [
    "a rate limit that is used up",
    () => at({ ...envelope(429, "rate_limited", "Slow down."), headers: { "retry-after": "17" } }),
    /^fail rate limit Wait 17 s.+HTTP 429\)\. Its words: "Slow down\."\)$/,
  ],
  [
    "the last request of a rate limit",
    () => at({ ...NO_VIDEOS, headers: { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "0" } }),
    /^warn rate limit Wait a few minutes.+\(0 of 60 requests left for now\)$/,
  ],
  [
    "a setting whose default is used instead",
    async () => ({ ...(await at()), FACELESS_POLL_SECONDS: "often" }),
    /^warn FACELESS_POLL_SECONDS Set it to a number of seconds .+, so the usual schedule is used\)$/,
  ],
  [
    "a journal that can't be read",
    async () => ({ ...(await at()), FACELESS_STATE_DIR: join(await file(), "state") }),
    /^fail journal .+ \(it can't be read \(ENOTDIR: .+\/state\)\. Nothing is paid for or posted/,
  ],
])("doctor names %s and how to fix it, and nothing else", async (_, env, told) => {
  const { code, lines } = await inTerminal(await env());

  expect(problemsIn(lines)).toEqual([expect.stringMatching(told)]);
  expect(code).toBe(told.source.startsWith("^fail") ? 1 : 0);
});

test("doctor reads a rate limit of 0 on a good answer as no limit", async () => {
  const headers = { "x-ratelimit-limit": "0", "x-ratelimit-remaining": "0" };
  const { code, lines } = await inTerminal(await at({ ...NO_VIDEOS, headers }));

  expect({ code, problems: problemsIn(lines) }).toEqual({ code: 0, problems: [] });
});

test("doctor accepts a new account, whose empty list a service may write as null", async () => {
  const { code, lines } = await inTerminal(await at({ json: { videos: null, nextCursor: null } }));

  expect({ code, problems: problemsIn(lines) }).toEqual({ code: 0, problems: [] });
});

test("doctor sends one GET request, makes no journal and leaves nothing in a folder", async () => {
  const headers = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59" };
  const { url, requests, lines } = await service({ ...NO_VIDEOS, headers });
  const [homeDir, videos] = [temporaryFolder(), temporaryFolder()];
  const env = { FACELESS_BASE_URL: `${url}/`, FACELESS_STATE_DIR: "", FACELESS_SAVE_DIR: videos };

  const { code, text } = await inTerminal(env, { homeDir, json: true });

  const check = (name: string, detail: unknown) => ({ name, status: "ok", detail });
  expect([code, JSON.parse(text)]).toEqual([
    0,
    {
      ok: true,
      checks: [
        check("Node.js", process.versions.node),
        check("settings", expect.stringMatching(/^key and address are set in this terminal; to check/)),
        check("service", expect.stringMatching(new RegExp(`^${url} answers \\(\\d+ ms\\)$`))),
        check("key", "the service accepts it"),
        check("rate limit", "59 of 60 requests left for now"),
        check("journal", expect.stringMatching(/\.faceless-video-mcp keeps what was paid and posted/)),
        check("saved videos", videos),
      ],
      skipped: [],
    },
  ]);
  expect([lines(), requests[0]?.headers["authorization"]]).toEqual([
    [`${VIDEOS}?limit=1`],
    `Bearer ${CANARY}`,
  ]);
  expect([readdirSync(homeDir), readdirSync(videos)]).toEqual([[], []]);
});

test("doctor shows no key that was set in the wrong variable", async () => {
  const { text } = await inTerminal({
    FACELESS_BASE_URL: "https://fl_5tray.invalid/fl_5tray",
    FACELESS_STATE_DIR: "/fl_5tray",
    FACELESS_LOG_LEVEL: "fl_5tray",
    HTTPS_PROXY: "http://fl_5tray:x@127.0.0.1:1",
  });

  expect(text).toContain("[redacted]");
  expect(text).not.toContain("5tray");
});

test.each([
  ["in colour at a terminal with colours", true],
  ["plainly elsewhere", false],
])("doctor marks its checks %s", async (_, hasColours) => {
  const { host, stdout } = computer({ nodeVersion: "22.0.0" }, { hasColors: () => hasColours });
  await runDoctor({ name: "doctor", client: undefined, json: false, shapes: false }, host);

  const mark = hasColours ? "\u001B[32m✔\u001B[0m" : "ok  ";
  expect(stdout().split("\n")).toContain(`${mark}  Node.js   22.0.0`);
});
