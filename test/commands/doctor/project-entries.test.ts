// Whom doctor trusts: what it sends with an entry of a cloned project, and what it fills in of any entry.

import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CLIENTS } from "../../../src/command-line.ts";
import type { DoctorOptions } from "../../../src/commands/doctor.ts";
import { FORMATS } from "../../../src/commands/client-formats.ts";
import { CANARY } from "../../fixtures/canary.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { doctor, good, homeWith, printed, problems, servers, service, write } from "./client-files.ts";

const env = { FACELESS_API_KEY: CANARY, GITHUB_TOKEN: "ghp_secret" };
const PROJECT_PLACES = CLIENTS.flatMap((client) =>
  FORMATS[client].files.filter((file) => file.startsWith("./")).map((file) => ({ client, file })),
);

test.each(PROJECT_PLACES)(
  "doctor --client $client sends nothing to what $file of a project names without a yes",
  async ({ client, file }) => {
    const { url, requests } = await service();
    let known = 0;
    const home = await homeWith(join("project", file), printed(client, url).replace("fl_example", CANARY));
    const asked: string[] = [];
    const confirm = (answer: boolean) => async (question: string) => asked.push(question) > 0 && answer;
    const ask = async (more: Partial<DoctorOptions>) => {
      const { code, lines } = await doctor({ client, home, env, folder: "project", more });
      const sent = requests.length > known;
      known = requests.length;
      return { code, problems: problems(lines), last: lines.at(-1), sent };
    };
    const refused = {
      code: 1,
      problems: ["project"],
      last: "Not checked: service, key, requests, platforms, journal.",
      sent: false,
    };
    const done = { code: 0, problems: [], last: "Not checked: requests.", sent: true };

    expect(await ask({})).toEqual(refused);
    expect(await ask({ json: true, confirm: confirm(true) })).toMatchObject({ code: 1, sent: false });
    expect(await ask({ trustProject: true, confirm: confirm(false) })).toEqual(done);
    expect(asked).toEqual([]);
    expect(await ask({ confirm: confirm(false) })).toEqual(refused);
    expect(await ask({ confirm: confirm(true) })).toEqual(done);
    expect(asked).toEqual(Array(2).fill(expect.stringContaining(url)));
  },
);

test("doctor trusts the user's own file, by whatever path the working folder leads to it", async () => {
  const { url } = await service();
  const home = await homeWith(".cursor/mcp.json", servers(good(url)));
  const linked = join(temporaryFolder(), "home");
  await symlink(home, linked);
  await mkdir(join(home, "project"));
  await symlink(join(home, ".cursor"), join(home, "project/.cursor"));
  await write(join(home, ".claude.json"), {
    projects: { [join(home, "project")]: servers(good(url)) },
  });

  const reports = [
    await doctor({ client: "cursor", home }),
    await doctor({ client: "cursor", home, folder: "project/.." }),
    await doctor({ client: "cursor", home: linked, more: { workingDir: home } }),
    await doctor({ client: "cursor", home, more: { workingDir: linked } }),
    await doctor({ client: "cursor", home, folder: "project" }),
    await doctor({ client: "claude-code", home, folder: "project" }),
  ];

  expect(reports.map(({ lines }) => lines[0])).toEqual(reports.map(() => "A video can be made."));
});

test("doctor reads no file without an end, and survives what no entry should hold", async () => {
  const project = async (file: string, content: string | object) => homeWith(join("project", file), content);
  const endless = await project("README.md", "");
  await mkdir(join(endless, "project/.cursor"));
  await symlink("/dev/zero", join(endless, "project/.cursor/mcp.json"));
  // It says that it is empty.
  const endlessMap = await project("README.md", "");
  await mkdir(join(endlessMap, "project/.cursor"));
  await symlink("/proc/self/pagemap", join(endlessMap, "project/.cursor/mcp.json"));
  const circular = await project(
    ".continue/mcpServers/faceless-video.yaml",
    "mcpServers:\n  - &it\n    name: faceless-video\n    args: [*it]\n",
  );
  const strange = await project(
    ".kiro/settings/mcp.json",
    servers({}, { env: { FACELESS_API_KEY: { toString: 1 } } }),
  );
  const drawn = await project(".mcp.json", servers({}, { command: "\u001B[2J\nok  all is well" }));

  const peakKilobytes = process.resourceUsage().maxRSS;
  const reports = [
    await doctor({ client: "cursor", home: endless, folder: "project" }),
    await doctor({ client: "cursor", home: endlessMap, folder: "project" }),
    await doctor({ client: "continue", home: circular, folder: "project" }),
    await doctor({ client: "kiro", home: strange, folder: "project" }),
    await doctor({ client: "claude-code", home: drawn, folder: "project" }),
  ];

  expect(reports.map(({ lines }) => problems(lines))).toEqual(reports.map(() => ["entry"]));
  expect(process.resourceUsage().maxRSS - peakKilobytes).toBeLessThan(100_000);
  expect(reports.at(-1)?.lines.join("\n")).toContain(
    '(the entry starts "ok all is well", which does not exist)',
  );
});

test.each([
  [{ HTTP_PROXY: "http://u:p@proxy.test:3128" }, " through the proxy proxy.test:3128. Is this"],
  [
    { HTTPS_PROXY: "proxy.test", HTTP_PROXY: "other.test", NO_PROXY: "x.test" },
    " through the proxy proxy.test (except for x.test). Is this",
  ],
  [
    { FACELESS_JOURNAL_URL: "postgres://u:p@db.test:6432/x" },
    ", and for the journal a database at db.test:6432. Is this",
  ],
])("doctor's question names what else a project's entry connects to: %j", async (others, said) => {
  const written = { ...good("https://videos.test"), ...others };
  const home = await homeWith("project/.mcp.json", servers(written));
  const asked: string[] = [];
  const more = { confirm: async (question: string) => asked.push(question) < 0 };

  await doctor({ client: "claude-code", home, folder: "project", more });

  expect(asked).toEqual([expect.stringContaining(`names https://videos.test${said}`)]);
});

const many = (text: string) => text.repeat(150_000);

test.each<[string, string, readonly string[]]>([
  ["a string without an end", `"${many('\\"')}`, ["entry"]],
  ["a comment without an end", many("/* "), ["entry"]],
  [
    "more than a megabyte",
    `${many("        ")}${JSON.stringify(servers(good("https://x.test")))}`,
    ["entry"],
  ],
  ["a text instead of entries", JSON.stringify({ mcpServers: many("a") }), ["entry"]],
  [
    "placeholders without an end",
    JSON.stringify(servers({ ...good("https://x.test"), FACELESS_NOTE: many("${a:-") })),
    ["project", "FACELESS_NOTE"],
  ],
  [
    "a number without an end",
    JSON.stringify(servers({ ...good("https://x.test"), FACELESS_POLL_SECONDS: `${many("1")}x` })),
    ["project", "FACELESS_POLL_SECONDS"],
  ],
  [
    "half a character in the key",
    JSON.stringify(servers({ ...good("https://x.test"), FACELESS_API_KEY: "fl_\uD800abc" })),
    ["FACELESS_API_KEY", "project"],
  ],
  [
    "names and addresses as long as a page",
    JSON.stringify(servers({ ...good(`https://x.test/${many("a")}`), [many("X, ")]: "1" })),
    ["project"],
  ],
])("doctor reports in a few lines on a project's file that holds %s", async (_, content, expected) => {
  const home = await homeWith("project/.mcp.json", content);

  const { lines } = await doctor({ client: "claude-code", home, folder: "project" });

  expect(problems(lines)).toEqual(expected);
  expect(lines.join("\n").length).toBeLessThan(3_000);
});

test("on Windows doctor opens no file on another computer that a project's entry names", async () => {
  const home = await homeWith("project/.mcp.json", servers({}, { command: "\\\\evil.test\\node.exe" }));
  const more = { platform: "win32" } as const;

  const { lines } = await doctor({ client: "claude-code", home, folder: "project", more });

  expect(problems(lines)).not.toContain("entry");
});

test.each([
  [
    "a placeholder for another variable",
    { FACELESS_API_KEY: "${env:GITHUB_TOKEN}" },
    ["FACELESS_API_KEY"],
    "GITHUB_TOKEN",
  ],
  [
    "a placeholder within a value",
    { FACELESS_BASE_URL: "https://x.test/${env:FACELESS_API_KEY}" },
    ["FACELESS_BASE_URL"],
    "whole",
  ],
  [
    "the key in another variable",
    { HTTPS_PROXY: "${env:FACELESS_API_KEY}" },
    ["HTTPS_PROXY"],
    "the key in no other variable",
  ],
  [
    "what is no setting",
    { NODE_OPTIONS: "${env:GITHUB_TOKEN}", PATH: "/x" },
    [],
    'leaves out "NODE_OPTIONS", "PATH"',
  ],
])("doctor leaves %s of an entry alone, and says so", async (_, written, skipped, said) => {
  const { url, requests } = await service();
  const home = await homeWith(".cursor/mcp.json", servers({ ...good(url), ...written }));

  const { code, lines } = await doctor({ client: "cursor", home, env });

  expect(problems(lines)).toEqual(skipped);
  expect([code, lines[0]]).toEqual(
    skipped.length > 0
      ? [1, "Nothing was found that stops this server, but this was not checked:"]
      : [0, "A video can be made."],
  );
  expect(lines.join("\n")).toContain(said);
  expect(JSON.stringify([lines, requests])).not.toContain("ghp_secret");
});
