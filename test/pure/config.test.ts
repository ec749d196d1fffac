import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type ConfigProblem, type Environment, readConfig, SETTINGS } from "../../src/config.ts";

const FLAGS = { sandbox: false, readOnly: false, noPublish: false };
const SANDBOX = { ...FLAGS, sandbox: true };
const KEY = "fl_canary";
const BASE_URL = "https://videos.test";
const HOME = "/home/user";
const SETTING_LIST = Object.values(SETTINGS);
const NAMES = SETTING_LIST.map(({ name }) => name);
const valuesOf = (variable: string) => SETTING_LIST.find(({ name }) => name === variable)?.values ?? "";

/** The config that is read with key and URL set. */
function read(env: Environment) {
  return readConfig({ FACELESS_API_KEY: KEY, FACELESS_BASE_URL: BASE_URL, ...env }, FLAGS, HOME);
}

/** The only problem of an environment. */
function problemOf(env: Environment): ConfigProblem {
  const { service, problems, warnings } = read(env);
  const [problem, ...more] = problems;
  if (problem === undefined) throw new Error("There is no problem.");
  expect({ service, more, warnings }).toEqual({ service: undefined, more: [], warnings: [] });
  return problem;
}

test("with only key and URL set, every other setting has its default, as documented", () => {
  expect(SETTINGS).toMatchObject({
    sandboxSeconds: { default: "20" },
    confirmGenerate: { default: "on" },
    confirmPublish: { default: "on" },
    logLevel: { default: "warn" },
  });
  expect(read({})).toEqual({
    service: { apiKey: KEY, baseUrl: new URL(BASE_URL), proxies: {} },
    problems: [],
    warnings: [],
    ...FLAGS,
    startsSandbox: false,
    sandboxSeconds: 20,
    confirmGenerate: "on",
    confirmPublish: "on",
    stateDir: `${HOME}/.faceless-video-mcp`,
    makesStateDir: true,
    isBundle: false,
    logLevel: "warn",
  });
});

test("without settings, the problems say what to set and where to get a key", () => {
  expect(readConfig({}, FLAGS, HOME).problems).toMatchObject([
    {
      variable: "FACELESS_API_KEY",
      problem: "is not set",
      fix: "Create a key in the account settings of the service, section API",
    },
    {
      variable: "FACELESS_BASE_URL",
      problem: "is not set",
      fix: "Set it to the service's address, such as https://videos.example.com",
    },
  ]);
});

test("the sandbox needs no key, URL, proxy or journal, and uses none that is set", () => {
  const bare = readConfig({}, SANDBOX, HOME);
  const service = { FACELESS_API_KEY: "wrong", FACELESS_BASE_URL: BASE_URL, HTTPS_PROXY: "socks5://x" };
  const journals = { FACELESS_STATE_DIR: "/state", FACELESS_JOURNAL_URL: "postgres://db.test" };

  expect(bare).toMatchObject({ problems: [], warnings: [], sandbox: true });
  expect([service, journals].map((env) => readConfig(env, SANDBOX, HOME))).toEqual([bare, bare]);
});

test.each<[name: string, value: string, expected: object]>([
  ["FACELESS_SAVE_DIR", "~/Videos", { saveDir: `${HOME}/Videos` }],
  ["FACELESS_POLL_SECONDS", " 7.25 ", { pollSeconds: 7.25 }],
  ["FACELESS_MAX_GENERATIONS", "007", { maxGenerations: 7 }],
  ["FACELESS_CONFIRM_GENERATE", "always", { confirmGenerate: "always" }],
  ["FACELESS_CONFIRM_PUBLISH", "OFF", { confirmPublish: "off" }],
  ["FACELESS_STATE_DIR", "Off", { stateDir: undefined, makesStateDir: false }],
  // No client expands it.
  ["FACELESS_STATE_DIR", "/${KEY", { stateDir: "/${KEY", makesStateDir: false }],
  [
    "FACELESS_JOURNAL_URL",
    "postgresql://user@db.test",
    { journalUrl: expect.objectContaining({ user: "user", host: "db.test" }) },
  ],
])("%s is read from %.20j", (name, value, expected) => {
  expect(read({ [name]: value })).toEqual({ ...read({}), ...expected });
});

test("PGPASSWORD is the password of a database's address that has none", () => {
  const env = { FACELESS_JOURNAL_URL: "postgresql://user@db.test", PGPASSWORD: " s3cret " };
  expect(read(env).journalUrl).toMatchObject({ password: " s3cret " });
});

const RELATIVE = {
  problem: "is a relative path, which depends on where your client starts this server",
  fix: "Set it to an absolute path, or to one that begins with ~",
};
const IN_QUOTES = { problem: "is in quotes", fix: "Remove the quotes around it" };
const not = (variable: string, removal = "") => ({
  problem: `is not ${valuesOf(variable)}`,
  fix: `Set it to ${valuesOf(variable)}${removal}`,
});
const notKey = (problem: string) => ({
  problem,
  fix: "Check that the whole key was copied, and nothing else. Create a key in the account settings of the service, section API",
});
const WHOLE = "Set it to the service's whole address, such as https://videos.example.com";
const PLAIN = {
  problem: "does not use https, so the key would be sent unencrypted",
  fix: "Begin it with https://",
};
const apiPath = (path: string) => ({
  problem: `holds ${path}, which is a path of the service's API`,
  fix: `Remove ${path} and everything after it`,
});
const QUERY = { problem: "has a query or a fragment", fix: "Remove everything from ? or # on" };

test.each<[variable: string, mistake: object, values: readonly string[]]>([
  ["FACELESS_SAVE_DIR", RELATIVE, ["Videos", "~other/Videos"]],
  ["FACELESS_MAX_GENERATIONS", not("FACELESS_MAX_GENERATIONS"), ["1.5", "-1"]],
  ["FACELESS_CONFIRM_PUBLISH", not("FACELESS_CONFIRM_PUBLISH"), ["false", "0"]],
  ["FACELESS_JOURNAL_URL", not("FACELESS_JOURNAL_URL"), ["mysql://u:p@db.test/x"]],
  ["FACELESS_JOURNAL_URL", IN_QUOTES, ['"postgres://db.test"']],
  [
    "HTTPS_PROXY",
    not("HTTPS_PROXY", ", or remove it"),
    ["socks5://user:x@proxy.example", "http://canary:80:80", "direct://"],
  ],
  ["HTTPS_PROXY", IN_QUOTES, [`"http://canary.example:8080"`, "'canary.example'"]],
  [
    "HTTPS_PROXY",
    { problem: "has a backslash", fix: "Write a backslash as %5C, as in http://CORP%5Cjane:…" },
    ["http://CORP\\jane:canary@proxy.example:8080", "CORP\\canary@proxy.example:8080", "\\\\canary\\proxy"],
  ],
  [
    "HTTPS_PROXY",
    {
      problem: "names a PAC file, which can't be used",
      fix: "Set it to the proxy that the file names, such as http://proxy.example:8080",
    },
    [
      "http://canary.example/proxy.pac",
      "https://canary.example/wpad.dat",
      "pac+http://canary.example/x",
      "file:///C:/canary.pac",
      "http://canary.example/proxy.pac?site=1",
    ],
  ],
  [
    "HTTP_PROXY",
    {
      problem: "has a path, a query or a fragment",
      fix: "End it after the host and the port. In a user name or password, write / as %2F, ? as %3F and # as %23",
    },
    [
      "http//canary.example",
      "http:/canary.example:8080/proxy",
      "http://canary.example:8080/proxy",
      "http://canary.example:8080?",
      "http://canary.example:8080/#",
      "http://user:12/canary@proxy.example:8080",
      "http://user:1#canary@proxy.example:8080",
    ],
  ],
  [
    "HTTP_PROXY",
    { problem: "has a user name or password with a %", fix: "Write % as %25 in them" },
    ["http://user:10%z-canary@proxy.example:8080"],
  ],
  [
    "FACELESS_API_KEY",
    { problem: "is still the example", fix: expect.stringMatching(/^Put your own key in/) },
    ["fl_example", "fl_...", "fl_…", "fl_xxxxxxxx", "fl_your_key", "fl_<your key>"],
  ],
  [
    "FACELESS_BASE_URL",
    { problem: "is still the example", fix: "Put your service's address in its place" },
    ["https://videos.example.com", "https://Videos.Example.com.:443/app/"],
  ],
  ["FACELESS_API_KEY", notKey("does not begin with fl_"), ["canary", "Bearer fl_canary"]],
  [
    "FACELESS_API_KEY",
    notKey("has characters or a length that no key has"),
    ["fl_", "fl_canary canary", "fl_cänary", `fl_${"a".repeat(510)}`],
  ],
  ["FACELESS_API_KEY", IN_QUOTES, [`"fl_canary"`]],
  ["FACELESS_BASE_URL", PLAIN, ["http://canary.example", "http://localhost.canary.example"]],
  [
    "FACELESS_BASE_URL",
    { problem: "is not a URL", fix: WHOLE },
    ["canary.example", "https://canary.example:99999"],
  ],
  [
    "FACELESS_BASE_URL",
    { problem: "is not an http(s) URL", fix: WHOLE },
    ["file:///canary", "localhost:8080"],
  ],
  [
    "FACELESS_BASE_URL",
    { problem: "holds a user name or a password", fix: "Remove them, and the @ after them" },
    ["https://canary@videos.test"],
  ],
  ["FACELESS_BASE_URL", QUERY, ["https://videos.test/a?key=canary", "https://videos.test/#canary"]],
  ["FACELESS_BASE_URL", apiPath("/api/mcp"), ["https://videos.test/api/mcp/"]],
  [
    "FACELESS_BASE_URL",
    apiPath("/api/v1"),
    ["https://a.example/eu/api/v1", "https://a.example/api/v1/generate"],
  ],
])("a wrong %s is a problem, reported without its value: %j", (variable, mistake, values) => {
  for (const value of values)
    expect([value, problemOf({ [variable]: value })]).toEqual([value, { variable, ...mistake }]);
});

test("on Windows a folder without its drive is relative too", () => {
  const variable = "FACELESS_STATE_DIR";
  const { problems } = readConfig({ [variable]: "/state" }, SANDBOX, String.raw`C:\Users\ann`);
  expect(problems).toEqual([{ variable, ...RELATIVE }]);
});

test.each([
  ["FACELESS_MAX_GENERATIONS", "${env:LIMIT}"],
  ["FACELESS_CONFIRM_PUBLISH", "${ASK:-on}"],
  ["FACELESS_JOURNAL_URL", "postgres://u:${env:PASSWORD}@db.test/x"],
])("%s guards money or publicity, so a placeholder is a problem: %s", (variable, value) => {
  expect(problemOf({ [variable]: value })).toEqual({
    variable,
    problem: "holds a ${…} placeholder that your client did not fill in",
    fix: not(variable).fix,
  });
});

test("the sandbox's key is a problem at an address away from this computer", () => {
  const settings = (url: string) => ({ FACELESS_API_KEY: "fl_sandbox", FACELESS_BASE_URL: url });

  expect(problemOf(settings("https://gateway.test"))).toMatchObject({
    variable: "FACELESS_API_KEY",
    problem: "is the sandbox's key, while FACELESS_BASE_URL leads away from this computer",
  });
  expect(readConfig(settings("http://127.0.0.1:8080"), FLAGS, "/home/ann").problems).toEqual([]);
});

test("naming a database while FACELESS_STATE_DIR is off is a problem", () => {
  const env = { FACELESS_STATE_DIR: "off", FACELESS_JOURNAL_URL: "postgres://u:canary@db.test/x" };
  expect(problemOf(env)).toEqual({
    variable: "FACELESS_JOURNAL_URL",
    problem: "names a database for the journal, while FACELESS_STATE_DIR=off says to keep none",
    fix: "Remove one of the two",
  });
});

test.each([
  ["FACELESS_POLL_SECONDS", ["0.05", "3600.1", "1e2", "5s"]],
  ["FACELESS_LOG_LEVEL", ["verbose"]],
])("%s is harmless, so a wrong value causes a warning, and the default is used", (variable, wrong) => {
  const { problem, fix } = not(variable, ", or remove it");
  const usual = SETTING_LIST.find(({ name }) => name === variable)?.default;
  const warning = { variable, problem: `${problem}, so ${usual} is used`, fix };

  for (const value of wrong)
    expect([value, read({ [variable]: value })]).toEqual([value, { ...read({}), warnings: [warning] }]);
});

test.each(["", "${env:KEY:-none}", "${user_config.x}"])(
  "%j counts as unset, though not for every guard",
  (value) => {
    const isUnsetForAll = value.trim() === "" || value.startsWith("${user_config.");
    const isGuard = (name: string) => /MAX_GENERATIONS|CONFIRM|STATE_DIR|JOURNAL/.test(name);
    const names = NAMES.filter((name) => isUnsetForAll || !isGuard(name));
    const { FACELESS_API_KEY, FACELESS_BASE_URL, ...rest } = Object.fromEntries(
      names.map((name) => [name, value]),
    );

    expect(read(rest)).toEqual(read({}));
    expect(readConfig({ FACELESS_API_KEY, FACELESS_BASE_URL }, FLAGS, HOME).problems).toMatchObject([
      { variable: "FACELESS_API_KEY", problem: expect.stringMatching(/^is not set/) },
      { variable: "FACELESS_BASE_URL", problem: expect.stringMatching(/^is not set/) },
    ]);
  },
);

test("a placeholder in place of a needed value is named as such", () => {
  expect(problemOf({ FACELESS_API_KEY: "${input:faceless-key}" })).toEqual({
    variable: "FACELESS_API_KEY",
    problem: "is not set: it holds a ${…} placeholder that your client did not fill in",
    fix: "Set it where your client takes the placeholder from, or write the value itself into the entry",
  });
});

test.each(["fl_live_A-b.c~d+e/f=", "  fl_canary\r\n", `fl_${"a".repeat(509)}`])(
  "%.30j is a usable key",
  (value) => {
    expect(read({ FACELESS_API_KEY: value })).toMatchObject({ service: { apiKey: value.trim() } });
  },
);

test("key and URL are recognized if they are swapped", () => {
  const fix = "If the values of FACELESS_API_KEY and FACELESS_BASE_URL were swapped, swap them back";

  expect(read({ FACELESS_API_KEY: BASE_URL, FACELESS_BASE_URL: KEY }).problems).toEqual([
    { variable: "FACELESS_API_KEY", problem: "holds a URL, not a key", fix },
    { variable: "FACELESS_BASE_URL", problem: "holds an API key, not a URL", fix },
  ]);
});

test.each([
  ["  https://videos.test/a//b//\n", "https://videos.test/a//b"],
  ["HTTPS://Videos.Test.:443/A/", "https://videos.test/A"],
  ["http://LOCALHOST.:8080/x/", "http://localhost:8080/x"],
])("%j is a usable address", (value, href) => {
  const { service, problems } = read({ FACELESS_BASE_URL: value });

  expect({ href: service?.baseUrl.href, problems }).toEqual({ href, problems: [] });
});

test.each<[env: Environment, proxies: object]>([
  [
    {
      HTTPS_PROXY: "proxy.example:8080",
      HTTP_PROXY: "",
      NO_PROXY: "a.example",
      http_proxy: "https://u:p@b.example",
    },
    { https: "http://proxy.example:8080/", http: "https://u:p@b.example/", none: "a.example" },
  ],
  [{ NO_PROXY: "fd00::1,[fd00::2]:81" }, { none: "[fd00::1],[fd00::2]:81" }],
  [{ NO_PROXY: "host.:8080 .example. ,, *.example.org" }, { none: "host:8080,.example,*.example.org" }],
  [{ FACELESS_BASE_URL: "http://[::1]:1", HTTP_PROXY: "socks5://x", NO_PROXY: "y" }, {}],
])("%j sets the proxies %j: upper case wins over lower case, and loopback needs none", (env, proxies) => {
  expect(read(env)).toMatchObject({ problems: [] });
  expect(read(env).service?.proxies).toEqual(proxies);
});

test("no problem or warning shows a value, and there is a service or a problem", () => {
  const secret = "Qz7XcanaryJw";
  const value = fc
    .tuple(fc.string(), fc.string(), fc.constantFrom("", "fl_", "https://", "http://u:"))
    .map(([before, after, scheme]) => `${scheme}${before}${secret}${after}`);

  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(value, fc.string())), (env) => {
      const { service, problems, warnings } = read(env);
      expect(service === undefined).toBe(problems.length > 0);
      expect(JSON.stringify([problems, warnings])).not.toContain(secret);
    }),
    { seed: 1 },
  );
});
