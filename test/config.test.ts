import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ConfigProblem, type Environment, readConfig, SETTINGS } from "../src/config.ts";

const FLAGS = { sandbox: false, readOnly: false, noPublish: false };
const SANDBOX = { ...FLAGS, sandbox: true };
const KEY = "fl_canary";
const BASE_URL = "https://videos.example.com";
const HOME = "/home/user";
const NAMES = Object.values(SETTINGS).map(({ name }) => name);

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

test("with only key and URL set, every other setting has its default", () => {
  expect(read({})).toEqual({
    service: { apiKey: KEY, baseUrl: new URL(BASE_URL), proxies: {} },
    problems: [],
    warnings: [],
    ...FLAGS,
    sandboxSeconds: 20,
    confirmGenerate: "off",
    confirmPublish: "on",
    stateDir: `${HOME}/.faceless-video-mcp`,
    makesStateDir: true,
    logLevel: "warn",
  });
});

test("without settings, the problems say what to set and where to get a key", () => {
  expect(readConfig({}, FLAGS, HOME)).toMatchObject({
    problems: [
      {
        variable: "FACELESS_API_KEY",
        problem: "is not set",
        fix: "Create a key in the account settings of the service, section API, and put it in this server's settings in your client",
      },
      {
        variable: "FACELESS_BASE_URL",
        problem: "is not set",
        fix: "Set it to the service's address, such as https://videos.example.com",
      },
    ],
  });
});

test("the sandbox needs no key, URL or proxy, and uses none that is set", () => {
  const env = { FACELESS_API_KEY: "wrong", FACELESS_BASE_URL: BASE_URL, HTTPS_PROXY: "socks5://x" };

  expect(readConfig(env, SANDBOX, HOME)).toEqual(readConfig({}, SANDBOX, HOME));
  expect(readConfig({}, SANDBOX, HOME)).toMatchObject({ problems: [], warnings: [], sandbox: true });
  const journals = { FACELESS_STATE_DIR: "/state", FACELESS_JOURNAL_URL: "postgres://db.test" };
  expect(readConfig(journals, SANDBOX, HOME)).toEqual(readConfig({}, SANDBOX, HOME));
  expect(readConfig({}, SANDBOX, HOME).stateDir).toBeUndefined();
});

const USABLE: readonly (readonly [name: string, value: string, expected: object])[] = [
  ["FACELESS_SAVE_DIR", "/Users/Ann Lee/Videos", { saveDir: "/Users/Ann Lee/Videos" }],
  ["FACELESS_SAVE_DIR", "~/Videos", { saveDir: `${HOME}/Videos` }],
  ["FACELESS_POLL_SECONDS", ".5", { pollSeconds: 0.5 }],
  ["FACELESS_POLL_SECONDS", " 7.25 ", { pollSeconds: 7.25 }],
  ["FACELESS_POLL_SECONDS", "3600", { pollSeconds: 3600 }],
  ["FACELESS_MAX_GENERATIONS", "007", { maxGenerations: 7 }],
  ["FACELESS_CONFIRM_PUBLISH", "OFF", { confirmPublish: "off" }],
  ["FACELESS_CONFIRM_PUBLISH", "always", { confirmPublish: "always" }],
  ["FACELESS_STATE_DIR", "Off", { stateDir: undefined, makesStateDir: false }],
  ["FACELESS_STATE_DIR", "~", { stateDir: HOME, makesStateDir: false }],
  ["FACELESS_STATE_DIR", "~/a/../state", { stateDir: `${HOME}/state`, makesStateDir: false }],
  [
    "FACELESS_JOURNAL_URL",
    "postgresql://user@db.test",
    { journalUrl: expect.objectContaining({ user: "user", host: "db.test" }) },
  ],
  ["FACELESS_WEBHOOK_PORT", " 65535 ", { webhookPort: 65_535 }],
  ["FACELESS_LOG_LEVEL", "Silent", { logLevel: "silent" }],
  ["FACELESS_SANDBOX_SECONDS", "0", { sandboxSeconds: 0 }],
  // No client expands these.
  ...["/$KEY", "/a{b}", "/}${", "/${KEY", `/${"${".repeat(60_000)}`].map(
    (value) => ["FACELESS_STATE_DIR", value, { stateDir: value, makesStateDir: false }] as const,
  ),
];
test.each(USABLE)("%s is read from %.20j", (name, value, expected) => {
  expect(read({ [name]: value })).toEqual({ ...read({}), ...expected });
});

const RELATIVE = {
  problem: "is a relative path, which depends on where your client starts this server",
  fix: "Set it to an absolute path, or to one that begins with ~",
};
const not = (values: string, removal = "") => ({
  problem: `is not ${values}`,
  fix: `Set it to ${values}${removal}`,
});
test.each([
  ["FACELESS_SAVE_DIR", RELATIVE, ["Videos", "./Videos", "~other/Videos", "$HOME/Videos", "off"]],
  ["FACELESS_STATE_DIR", RELATIVE, ["state", "./off", "../state", "~other/state"]],
  [
    "FACELESS_MAX_GENERATIONS",
    not("a whole number, 0 or more"),
    ["1.5", "-1", "many", "9007199254740993", "９"],
  ],
  ["FACELESS_CONFIRM_PUBLISH", not("one of on, off, always"), ["false", "no", "0"]],
  [
    "FACELESS_JOURNAL_URL",
    not("an address such as postgres://USER:PASSWORD@HOST/DATABASE"),
    ["mysql://u:p@db.test/x"],
  ],
  [
    "HTTPS_PROXY",
    not("the URL of an HTTP proxy", ", or remove it"),
    ["socks5://user:x@proxy.example", "http://", "a proxy"],
  ],
  ["HTTP_PROXY", not("the URL of an HTTP proxy", ", or remove it"), ["http://user:x@proxy:99999"]],
])("%s guards money, privacy or publicity, so a wrong value is a problem", (variable, mistake, values) => {
  for (const value of values) expect(problemOf({ [variable]: value })).toEqual({ variable, ...mistake });
});

test("on Windows a folder without its drive is relative too", () => {
  const variable = "FACELESS_STATE_DIR";
  const { problems } = readConfig({ [variable]: "/state" }, SANDBOX, String.raw`C:\Users\ann`);
  expect(problems).toEqual([{ variable, ...RELATIVE }]);
});

test.each([
  ["FACELESS_MAX_GENERATIONS", "${env:LIMIT}"],
  ["FACELESS_CONFIRM_GENERATE", "${ASK}"],
  ["FACELESS_CONFIRM_PUBLISH", "${ASK:-on}"],
  ["FACELESS_STATE_DIR", "/state/${env:USER}"],
  ["FACELESS_JOURNAL_URL", "postgres://u:${env:PASSWORD}@db.test/x"],
])("%s guards money or publicity, so a placeholder is a problem: %s", (variable, value) => {
  const { values } = Object.values(SETTINGS).find(({ name }) => name === variable) ?? { values: "" };
  expect(problemOf({ [variable]: value })).toEqual({
    variable,
    problem: "holds a ${…} placeholder that your client did not fill in",
    fix: `Set it to ${values}`,
  });
});

test("a database for a journal that another setting switches off is a problem", () => {
  const env = { FACELESS_STATE_DIR: "off", FACELESS_JOURNAL_URL: "postgres://u:canary@db.test/x" };
  expect(problemOf(env)).toEqual({
    variable: "FACELESS_JOURNAL_URL",
    problem: "names a database for the journal, while FACELESS_STATE_DIR=off says to keep none",
    fix: "Remove one of the two",
  });
});

test.each([
  [
    "FACELESS_POLL_SECONDS",
    ["0", "0.05", "3600.1", "-1", "+1", "1e2", "0x10", "1,5", "5s", ".", "NaN", `${"1".repeat(100_000)}x`],
  ],
  ["FACELESS_SANDBOX_SECONDS", ["-0", "3601", "Infinity", "1 2", "twenty"]],
  ["FACELESS_WEBHOOK_PORT", ["0", "65536", "-1", "80.5", "0x50", "8787/tcp", "localhost:8787"]],
  ["FACELESS_LOG_LEVEL", ["verbose", "warning", "2", "off"]],
])("%s is harmless, so a wrong value is warned of and its default used", (variable, wrong) => {
  const setting = Object.values(SETTINGS).find(({ name }) => name === variable);
  const { problem, fix } = not(setting?.values ?? "", ", or remove it");
  const warning = { variable, problem: `${problem}, so ${setting?.default} is used`, fix };

  for (const value of wrong)
    expect([value, read({ [variable]: value })]).toEqual([value, { ...read({}), warnings: [warning] }]);
});

test.each(["", "\t\n", "${KEY}", "${env:KEY:-none}", "x${KEY}y", "${user_config.x}"])(
  "%j counts as unset, though not for every guard",
  (value) => {
    const env = Object.fromEntries(NAMES.map((name) => [name, value]));
    const { FACELESS_API_KEY, FACELESS_BASE_URL, ...rest } = env;
    // Any placeholder but the bundle's is a wrong value in a guard.
    const {
      FACELESS_MAX_GENERATIONS: _,
      FACELESS_CONFIRM_PUBLISH: __,
      FACELESS_STATE_DIR: ___,
      FACELESS_JOURNAL_URL: ____,
      FACELESS_CONFIRM_GENERATE: _____,
      ...others
    } = rest;

    expect(read(value.trim() === "" || value.startsWith("${user_config.") ? rest : others)).toEqual(read({}));
    expect(readConfig({ FACELESS_API_KEY, FACELESS_BASE_URL }, FLAGS, HOME).problems).toMatchObject([
      { variable: "FACELESS_API_KEY", problem: expect.stringMatching(/^is not set/) },
      { variable: "FACELESS_BASE_URL", problem: expect.stringMatching(/^is not set/) },
    ]);
  },
);

test("a placeholder in place of a needed value is said to be one", () => {
  expect(problemOf({ FACELESS_API_KEY: "${input:faceless-key}" })).toEqual({
    variable: "FACELESS_API_KEY",
    problem: "is not set: your client did not fill in the ${…} placeholder that it holds",
    fix: "Set FACELESS_API_KEY where your client takes the placeholder from, or write the value itself into the entry",
  });
});

describe("FACELESS_API_KEY", () => {
  test.each(["fl_a", "fl_live_A-b.c~d+e/f=", "fl_$&%[(", "  fl_canary\r\n", `fl_${"a".repeat(509)}`])(
    "%.30j is a usable key",
    (value) => {
      expect(read({ FACELESS_API_KEY: value })).toMatchObject({ service: { apiKey: value.trim() } });
    },
  );

  const prefix = "does not begin with fl_";
  const characters = "has characters or a length that no key has";
  const quotes = "is in quotes";
  test.each([
    ["canary", prefix],
    ["Bearer fl_canary", prefix],
    ["fl_", characters],
    ["fl_canary canary", characters],
    ["fl_canary\u200B", characters],
    [String.raw`fl_can\ary`, characters],
    ["fl_cänary", characters],
    ["fl_can\u0000ary", characters],
    [`fl_${"a".repeat(510)}`, characters],
    [`"fl_canary"`, quotes],
  ])("%.30j is refused as a key without being shown", (value, problem) => {
    const fix =
      problem === quotes
        ? "Remove the quotes around it"
        : "Check that the whole key was copied, and nothing else. Create a key in the account settings of the service, section API";
    expect(problemOf({ FACELESS_API_KEY: value })).toEqual({ variable: "FACELESS_API_KEY", problem, fix });
  });

  test("key and URL are recognized if they are swapped", () => {
    const fix = "If the values of FACELESS_API_KEY and FACELESS_BASE_URL were swapped, swap them back";

    expect(read({ FACELESS_API_KEY: BASE_URL, FACELESS_BASE_URL: KEY }).problems).toEqual([
      { variable: "FACELESS_API_KEY", problem: "holds a URL, not a key", fix },
      { variable: "FACELESS_BASE_URL", problem: "holds an API key, not a URL", fix },
    ]);
  });
});

describe("FACELESS_BASE_URL", () => {
  test.each([
    ["  https://videos.example.com\n", "https://videos.example.com/"],
    ["https://videos.example.com/a//b//", "https://videos.example.com/a//b"],
    ["HTTPS://Videos.Example.COM.:443/A/", "https://videos.example.com/A"],
    ["https://videos.example.com:8443", "https://videos.example.com:8443/"],
    ["http://LOCALHOST.:8080/x/", "http://localhost:8080/x"],
    ["http://127.1", "http://127.0.0.1/"],
    ["http://[0:0:0:0:0:0:0:1]:8080", "http://[::1]:8080/"],
    ["https://videos.example.com/api/faceless", "https://videos.example.com/api/faceless"],
    ["https://videos.example.com/my-api", "https://videos.example.com/my-api"],
  ])("%j is a usable address", (value, href) => {
    const { service, problems } = read({ FACELESS_BASE_URL: value });

    expect({ href: service?.baseUrl.href, problems }).toEqual({ href, problems: [] });
  });

  const plain = "does not use https, so the key would be sent unencrypted";
  const notUrl = "is not a URL";
  const notHttp = "is not an http(s) URL";
  const user = "holds a user name or a password";
  const query = "has a query or a fragment";
  const fixes = {
    [plain]: "Begin it with https://",
    [notUrl]: "Set it to the service's whole address, such as https://videos.example.com",
    [notHttp]: "Set it to the service's whole address, such as https://videos.example.com",
    [user]: "Remove them, and the @ after them",
    [query]: "Remove everything from ? or # on",
    "is in quotes": "Remove the quotes around it",
  };
  test.each([
    ["http://canary.example", plain],
    ["http://127.0.0.1.canary.example", plain],
    ["http://localhost.canary.example", plain],
    ["http://localhost@canary.example", plain],
    ["canary.example", notUrl],
    ["https://canary.example:99999", notUrl],
    ["file:///canary", notHttp],
    ["localhost:8080", notHttp],
    ["https://canary@videos.example.com", user],
    ["https://videos.example.com/a?key=canary", query],
    ["https://videos.example.com/#canary", query],
    ['"https://canary.example"', "is in quotes"],
  ] as const)("%j is refused as an address without being shown", (value, problem) => {
    const found = problemOf({ FACELESS_BASE_URL: value });

    expect(found).toEqual({ variable: "FACELESS_BASE_URL", problem, fix: fixes[problem] });
    expect(JSON.stringify(found)).not.toContain("canary");
  });
});

test.each([
  ["https://videos.example.com/api", "/api"],
  ["https://videos.example.com/api/mcp/", "/api/mcp"],
  ["https://videos.example.com/eu/api/v1", "/api/v1"],
  ["https://videos.example.com/api/v1/generate", "/api/v1"],
])("a base URL with a path of the API, %s, is refused by naming %s", (url, path) => {
  expect(problemOf({ FACELESS_BASE_URL: url })).toEqual({
    variable: "FACELESS_BASE_URL",
    problem: `holds ${path}, which is a path of the service's API`,
    fix: `Remove ${path} and everything after it`,
  });
});

describe("proxies", () => {
  const proxiesOf = (env: Environment) => read(env).service?.proxies;

  test.each([
    ["http://proxy.example:8080", "http://proxy.example:8080/"],
    ["proxy.example:8080", "http://proxy.example:8080/"],
    ["https://user:secret@proxy.example", "https://user:secret@proxy.example/"],
  ])("the proxy %s is read in upper case, else in lower case", (value, href) => {
    const upper = { HTTPS_PROXY: value, HTTP_PROXY: "", NO_PROXY: "a.example" };
    const lower = { https_proxy: "other.example", http_proxy: value, no_proxy: "b.example" };

    expect(proxiesOf({ ...lower, ...upper })).toEqual({ https: href, http: href, none: "a.example" });
  });

  test.each([
    ["localhost,*", "*"],
    ["host.:8080 .example. ,, *.example.org", "host:8080,.example,*.example.org"],
  ])("NO_PROXY=%s exempts %s", (text, none) => {
    expect(proxiesOf({ NO_PROXY: text })).toEqual({ none });
  });

  test.each(["http://localhost:8080", "https://127.0.0.1", "http://[::1]:1"])(
    "proxies are ignored for %s, even unusable ones",
    (url) => {
      const proxies = { HTTPS_PROXY: "http://p.example", HTTP_PROXY: "socks5://x", NO_PROXY: "y" };

      const env = { FACELESS_BASE_URL: url, ...proxies };
      expect(read(env)).toMatchObject({ service: { proxies: {} }, problems: [] });
    },
  );
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
