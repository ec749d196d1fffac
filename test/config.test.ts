import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Environment, type Flags, readConfig, type ConfigProblem, VARIABLES } from "../src/config.ts";

const FLAGS: Flags = { sandbox: false, readOnly: false, noPublish: false };
const KEY = "fl_canary";
const BASE_URL = "https://videos.example.com";
const ENV = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: BASE_URL };

const HOME = "/home/user";

/** The config that is read with key and URL set. */
function read(env: Environment, flags: Partial<Flags> = {}) {
  return readConfig({ ...ENV, ...env }, { ...FLAGS, ...flags }, HOME);
}

/** The only problem of an environment. */
function problemOf(env: Environment): ConfigProblem {
  const { service, problems, warnings } = read(env);
  const [problem, ...more] = problems;
  if (problem === undefined) throw new Error("There is no problem.");
  expect({ service, more, warnings }).toEqual({ service: undefined, more: [], warnings: [] });
  return problem;
}

describe("the config", () => {
  test("has the defaults if only key and URL are set", () => {
    expect(read({})).toEqual({
      service: { apiKey: KEY, baseUrl: new URL(BASE_URL), proxies: {} },
      problems: [],
      warnings: [],
      sandbox: false,
      readOnly: false,
      noPublish: false,
      sandboxSeconds: 20,
      confirmPublish: true,
      logLevel: "warn",
    });
  });

  test("contains everything that is set", () => {
    const env = {
      FACELESS_SAVE_DIR: "/home/user/Videos",
      FACELESS_POLL_SECONDS: "0.5",
      FACELESS_MAX_GENERATIONS: "3",
      FACELESS_CONFIRM_PUBLISH: "off",
      FACELESS_STATE_DIR: "/var/lib/faceless",
      FACELESS_WEBHOOK_PORT: "8787",
      FACELESS_LOG_LEVEL: "debug",
      FACELESS_SANDBOX_SECONDS: "0",
      HTTPS_PROXY: "http://proxy.example:8080",
      HTTP_PROXY: "http://proxy.example:8081",
      NO_PROXY: "a.example,b.example",
    };

    expect(read(env, { readOnly: true, noPublish: true })).toEqual({
      service: {
        apiKey: KEY,
        baseUrl: new URL(BASE_URL),
        proxies: {
          https: "http://proxy.example:8080/",
          http: "http://proxy.example:8081/",
          none: "a.example,b.example",
        },
      },
      problems: [],
      warnings: [],
      sandbox: false,
      readOnly: true,
      noPublish: true,
      sandboxSeconds: 0,
      pollSeconds: 0.5,
      maxGenerations: 3,
      confirmPublish: false,
      saveDir: "/home/user/Videos",
      stateDir: "/var/lib/faceless",
      webhookPort: 8787,
      logLevel: "debug",
    });
  });

  test("says what to set for key and URL, and where to get a key", () => {
    const { service, problems } = readConfig({}, FLAGS, HOME);

    expect(service).toBeUndefined();
    expect(problems).toEqual([
      {
        variable: "FACELESS_API_KEY",
        problem: "is not set",
        fix: "Create a key in the account settings of the service, section API, and put it in the env of this server's entry in your client",
      },
      {
        variable: "FACELESS_BASE_URL",
        problem: "is not set",
        fix: "Set it to the service's address, such as https://videos.example.com",
      },
    ]);
  });

  test("of the sandbox needs neither key nor URL, and uses neither if they are set", () => {
    const expected = {
      problems: [],
      warnings: [],
      sandbox: true,
      readOnly: false,
      noPublish: false,
      sandboxSeconds: 20,
      confirmPublish: true,
      logLevel: "warn",
    };

    expect(readConfig({}, { ...FLAGS, sandbox: true }, HOME)).toEqual(expected);
    expect(read({}, { sandbox: true })).toEqual(expected);
    expect(read({ FACELESS_API_KEY: "wrong", HTTPS_PROXY: "socks5://x" }, { sandbox: true })).toEqual(
      expected,
    );
  });

  test("names every problem together, in the order of the variables", () => {
    const env = {
      FACELESS_API_KEY: "wrong",
      FACELESS_BASE_URL: "wrong",
      FACELESS_SAVE_DIR: "wrong",
      FACELESS_MAX_GENERATIONS: "wrong",
      FACELESS_CONFIRM_PUBLISH: "wrong",
      FACELESS_STATE_DIR: "wrong",
    };

    expect(readConfig(env, FLAGS, HOME).problems.map(({ variable }) => variable)).toEqual(Object.keys(env));
  });

  test.each([
    { FACELESS_API_KEY: "wrong" },
    { FACELESS_BASE_URL: "wrong" },
    { HTTPS_PROXY: "socks5://x" },
    { FACELESS_MAX_GENERATIONS: "many" },
    { FACELESS_CONFIRM_PUBLISH: "maybe" },
    { FACELESS_SAVE_DIR: "Videos" },
    { FACELESS_STATE_DIR: "state" },
  ])(
    "has no service while a setting that is needed or guards money, privacy or publicity is unusable: %j",
    (env) => {
      expect(problemOf(env)).toMatchObject({ variable: Object.keys(env)[0] });
    },
  );

  test("uses the default of any other unusable setting, with a warning", () => {
    const env = {
      FACELESS_POLL_SECONDS: "often",
      FACELESS_SANDBOX_SECONDS: "-1",
      FACELESS_WEBHOOK_PORT: "0",
      FACELESS_LOG_LEVEL: "loud",
    };

    expect(read(env)).toEqual({
      ...read({}),
      warnings: [
        {
          variable: "FACELESS_POLL_SECONDS",
          problem: "is not a number of seconds from 0.1 to 3600, so the usual schedule is used",
          fix: "Set it to a number of seconds from 0.1 to 3600, or remove it",
        },
        {
          variable: "FACELESS_SANDBOX_SECONDS",
          problem: "is not a number of seconds from 0 to 3600, so 20 is used",
          fix: "Set it to a number of seconds from 0 to 3600, or remove it",
        },
        {
          variable: "FACELESS_WEBHOOK_PORT",
          problem: "is not a port number from 1 to 65535, so polling alone is used",
          fix: "Set it to a port number from 1 to 65535, or remove it",
        },
        {
          variable: "FACELESS_LOG_LEVEL",
          problem: "is not one of debug, info, warn, error, silent, so warn is used",
          fix: "Set it to one of debug, info, warn, error, silent, or remove it",
        },
      ],
    });
  });
});

const EVERY_VARIABLE = [
  "FACELESS_SAVE_DIR",
  "FACELESS_POLL_SECONDS",
  "FACELESS_MAX_GENERATIONS",
  "FACELESS_CONFIRM_PUBLISH",
  "FACELESS_STATE_DIR",
  "FACELESS_WEBHOOK_PORT",
  "FACELESS_LOG_LEVEL",
  "FACELESS_SANDBOX_SECONDS",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
];
const UNSET = ["", " ", "\t\n", "${KEY}", "${input:key}", "${env:KEY:-none}", "x${KEY}y", "${a${b}"];

describe("a value that is empty or an unexpanded placeholder", () => {
  test.each(UNSET)("counts as unset: %j", (value) => {
    const env = Object.fromEntries(EVERY_VARIABLE.map((name) => [name, value]));
    const unset = readConfig({ FACELESS_API_KEY: value, FACELESS_BASE_URL: value }, FLAGS, HOME);

    expect(read(env)).toEqual(read({}));
    expect(unset.service).toBeUndefined();
    expect(unset.problems).toEqual([
      expect.objectContaining({
        variable: "FACELESS_API_KEY",
        problem: expect.stringMatching(/^is not set/),
      }),
      expect.objectContaining({
        variable: "FACELESS_BASE_URL",
        problem: expect.stringMatching(/^is not set/),
      }),
    ]);
  });

  test("is named as a placeholder if it is needed", () => {
    expect(problemOf({ FACELESS_API_KEY: "${input:faceless-key}" })).toEqual({
      variable: "FACELESS_API_KEY",
      problem: "is not set: your client did not fill in the ${…} placeholder that it holds",
      fix: "Set FACELESS_API_KEY where your client takes the placeholder from, or write the value itself into the entry",
    });
  });

  test.each(["/$KEY", "/$", "/a{b}", "/}${", "/${KEY", `/${"${".repeat(60_000)}`])(
    "is not %.20s, which no client expands",
    (value) => {
      expect(read({ FACELESS_STATE_DIR: value })).toEqual({ ...read({}), stateDir: value });
    },
  );
});

describe("FACELESS_API_KEY", () => {
  test.each([
    ["fl_a", "fl_a"],
    ["fl_live_A-b.c~d+e/f=", "fl_live_A-b.c~d+e/f="],
    ["fl_$&%[(", "fl_$&%[("],
    ["  fl_canary\r\n", "fl_canary"],
    [`fl_${"a".repeat(509)}`, `fl_${"a".repeat(509)}`],
  ])("%j is usable", (value, apiKey) => {
    expect(read({ FACELESS_API_KEY: value })).toEqual({
      ...read({}),
      service: { apiKey, baseUrl: new URL(BASE_URL), proxies: {} },
    });
  });

  test.each([
    ["canary", "does not begin with fl_"],
    ["FL_canary", "does not begin with fl_"],
    ["Bearer fl_canary", "does not begin with fl_"],
    ["fl_", "is fl_ alone"],
    ["fl_canary canary", "holds white space or characters that no key has"],
    ["fl_canary\ncanary", "holds white space or characters that no key has"],
    ["fl_canary\u200B", "holds white space or characters that no key has"],
    ['fl_can"ary', "holds quotes or a backslash, which no key has"],
    ["fl_can'ary", "holds quotes or a backslash, which no key has"],
    [String.raw`fl_can\ary`, "holds quotes or a backslash, which no key has"],
    ["fl_cänary", "holds white space or characters that no key has"],
    [`fl_${"a".repeat(510)}`, "is too long to be a key"],
  ])("%j is refused without being shown", (value, problem) => {
    expect(problemOf({ FACELESS_API_KEY: value })).toEqual({
      variable: "FACELESS_API_KEY",
      problem,
      fix: "Check that the whole key was copied, and nothing else. Create a key in the account settings of the service, section API",
    });
  });

  test.each([`"fl_canary"`, `'fl_canary'`, "`fl_canary`", "“fl_canary”", ` "canary" `])(
    "%s is refused because of its quotes",
    (value) => {
      expect(problemOf({ FACELESS_API_KEY: value })).toEqual({
        variable: "FACELESS_API_KEY",
        problem: "is in quotes",
        fix: "Remove the quotes around it",
      });
    },
  );

  test("and the URL are recognized if they are swapped", () => {
    const fix = "If the values of FACELESS_API_KEY and FACELESS_BASE_URL were swapped, swap them back";

    expect(read({ FACELESS_API_KEY: BASE_URL, FACELESS_BASE_URL: KEY }).problems).toEqual([
      { variable: "FACELESS_API_KEY", problem: "holds a URL, not a key", fix },
      { variable: "FACELESS_BASE_URL", problem: "holds an API key, not a URL", fix },
    ]);
  });
});

describe("FACELESS_BASE_URL", () => {
  test.each([
    ["https://videos.example.com", "https://videos.example.com/"],
    ["https://videos.example.com/", "https://videos.example.com/"],
    ["https://videos.example.com///", "https://videos.example.com/"],
    ["https://videos.example.com/a/b", "https://videos.example.com/a/b"],
    ["https://videos.example.com/a/b/", "https://videos.example.com/a/b"],
    ["https://videos.example.com/a//b//", "https://videos.example.com/a//b"],
    ["  https://videos.example.com\n", "https://videos.example.com/"],
    ["HTTPS://Videos.Example.COM:443/A", "https://videos.example.com/A"],
    ["https://videos.example.com:8443", "https://videos.example.com:8443/"],
    ["https://10.0.0.7/faceless", "https://10.0.0.7/faceless"],
    ["https://[2001:db8::1]", "https://[2001:db8::1]/"],
    ["http://localhost", "http://localhost/"],
    ["http://LOCALHOST:8080/x/", "http://localhost:8080/x"],
    ["http://localhost.:8080", "http://localhost:8080/"],
    ["https://Videos.Example.COM.:443/a/", "https://videos.example.com/a"],
    ["http://faceless.localhost:3000", "http://faceless.localhost:3000/"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/"],
    ["http://127.255.255.254", "http://127.255.255.254/"],
    ["http://127.1", "http://127.0.0.1/"],
    ["http://[::1]:8080", "http://[::1]:8080/"],
    ["http://[0:0:0:0:0:0:0:1]", "http://[::1]/"],
    ["https://localhost", "https://localhost/"],
  ])("%j is usable", (value, href) => {
    const { service, problems } = read({ FACELESS_BASE_URL: value });

    expect({ href: service?.baseUrl.href, problems }).toEqual({ href, problems: [] });
  });

  const clear = {
    problem: "does not use https, so the key would be sent unencrypted",
    fix: "Begin it with https://",
  };
  const notHttp = {
    problem: "is not an http(s) URL",
    fix: "Set it to the service's address, such as https://videos.example.com",
  };
  const noUrl = {
    problem: "is not a URL",
    fix: "Set it to the service's whole address, such as https://videos.example.com",
  };
  const user = { problem: "holds a user name or a password", fix: "Remove them, and the @ after them" };
  const query = { problem: "has a query or a fragment", fix: "Remove everything from ? or # on" };
  test.each([
    ["http://canary.example", clear],
    ["http://127.0.0.1.canary.example", clear],
    ["http://localhost.canary.example", clear],
    ["http://canarylocalhost", clear],
    ["http://localhost-canary", clear],
    ["http://127.canary.example", clear],
    ["http://128.0.0.1", clear],
    ["http://0.0.0.0", clear],
    ["http://192.168.0.7", clear],
    ["http://[::2]", clear],
    ["http://[::ffff:10.0.0.1]", clear],
    ["http://localhost@canary.example", clear],
    ["http://canary.example/localhost", clear],
    ["http://canary.example#@localhost", clear],
    ["canary.example", noUrl],
    ["//canary.example", noUrl],
    ["/canary", noUrl],
    ["https://", noUrl],
    ["https://canary example", noUrl],
    ["https://canary.example:99999", noUrl],
    ["https://127.0.0.256", noUrl],
    ["ftp://canary.example", notHttp],
    ["file:///canary", notHttp],
    ["javascript:canary", notHttp],
    ["canary.example:8080", notHttp],
    ["localhost:8080", notHttp],
    ["https://canary@videos.example.com", user],
    ["https://canary:canary@videos.example.com", user],
    ["https://:canary@videos.example.com", user],
    ["http://canary@localhost", user],
    ["https://videos.example.com?canary", query],
    ["https://videos.example.com/a?key=canary", query],
    ["https://videos.example.com/?", query],
    ["https://videos.example.com/#canary", query],
    ["https://videos.example.com/a#", query],
    ['"https://canary.example"', { problem: "is in quotes", fix: "Remove the quotes around it" }],
  ])("%j is refused without being shown", (value, expected) => {
    const problem = problemOf({ FACELESS_BASE_URL: value });

    expect(problem).toEqual({ variable: "FACELESS_BASE_URL", ...expected });
    expect(JSON.stringify(problem)).not.toContain("canary");
  });
});

describe("a number", () => {
  test.each([
    ["FACELESS_POLL_SECONDS", "0.1", { pollSeconds: 0.1 }],
    ["FACELESS_POLL_SECONDS", ".5", { pollSeconds: 0.5 }],
    ["FACELESS_POLL_SECONDS", "2.", { pollSeconds: 2 }],
    ["FACELESS_POLL_SECONDS", " 7.25 ", { pollSeconds: 7.25 }],
    ["FACELESS_POLL_SECONDS", "3600", { pollSeconds: 3600 }],
    ["FACELESS_SANDBOX_SECONDS", "0", { sandboxSeconds: 0 }],
    ["FACELESS_SANDBOX_SECONDS", "0.25", { sandboxSeconds: 0.25 }],
    ["FACELESS_SANDBOX_SECONDS", "3600", { sandboxSeconds: 3600 }],
    ["FACELESS_WEBHOOK_PORT", "1", { webhookPort: 1 }],
    ["FACELESS_WEBHOOK_PORT", " 65535 ", { webhookPort: 65_535 }],
    ["FACELESS_MAX_GENERATIONS", "0", { maxGenerations: 0 }],
    ["FACELESS_MAX_GENERATIONS", "007", { maxGenerations: 7 }],
  ])("%s=%s is accepted", (name, value, expected) => {
    expect(read({ [name]: value })).toEqual({ ...read({}), ...expected });
  });

  test.each([
    ["FACELESS_POLL_SECONDS", ["0", "0.05", "3600.1", "-1", "+1", "1e2", "0x10", "1,5", "5s", ".", "NaN"]],
    ["FACELESS_SANDBOX_SECONDS", ["-0", "3601", "Infinity", "1 2", "twenty"]],
    ["FACELESS_WEBHOOK_PORT", ["0", "65536", "-1", "80.5", "0x50", "8787/tcp", "localhost:8787"]],
  ])("%s must have the form that its warning names", (variable, values) => {
    for (const value of values) {
      const { warnings, ...config } = read({ [variable]: value });
      expect([value, { ...config, warnings: [] }]).toEqual([value, read({})]);
      expect(warnings).toEqual([expect.objectContaining({ variable })]);
    }
  });

  test.each(["1.5", "-1", "many", "9007199254740993", "1_000", "９"])(
    "FACELESS_MAX_GENERATIONS=%s is refused",
    (value) => {
      expect(problemOf({ FACELESS_MAX_GENERATIONS: value })).toEqual({
        variable: "FACELESS_MAX_GENERATIONS",
        problem: "is not a whole number, 0 or more",
        fix: "Set it to a whole number, 0 or more, or remove it",
      });
    },
  );
});

describe("a choice", () => {
  test.each([
    ["FACELESS_LOG_LEVEL", "debug", { logLevel: "debug" }],
    ["FACELESS_LOG_LEVEL", "info", { logLevel: "info" }],
    ["FACELESS_LOG_LEVEL", " WARN ", { logLevel: "warn" }],
    ["FACELESS_LOG_LEVEL", "error", { logLevel: "error" }],
    ["FACELESS_LOG_LEVEL", "Silent", { logLevel: "silent" }],
    ["FACELESS_CONFIRM_PUBLISH", "off", { confirmPublish: false }],
    ["FACELESS_CONFIRM_PUBLISH", "OFF", { confirmPublish: false }],
    ["FACELESS_CONFIRM_PUBLISH", "on", { confirmPublish: true }],
  ])("%s=%s is accepted", (name, value, expected) => {
    expect(read({ [name]: value })).toEqual({ ...read({}), ...expected });
  });

  test.each(["verbose", "warning", "2", "off"])("FACELESS_LOG_LEVEL=%s is not", (value) => {
    expect(read({ FACELESS_LOG_LEVEL: value })).toEqual({
      ...read({}),
      warnings: [expect.objectContaining({ variable: "FACELESS_LOG_LEVEL" })],
    });
  });

  test.each(["false", "no", "0"])("FACELESS_CONFIRM_PUBLISH=%s is refused", (value) => {
    expect(problemOf({ FACELESS_CONFIRM_PUBLISH: value })).toEqual({
      variable: "FACELESS_CONFIRM_PUBLISH",
      problem: "is not one of on, off",
      fix: "Set it to one of on, off, or remove it",
    });
  });
});

describe("FACELESS_SAVE_DIR", () => {
  test.each([
    ["/Users/Ann Lee/Videos", "/Users/Ann Lee/Videos"],
    ["~", HOME],
    ["~/Videos", `${HOME}/Videos`],
  ])("%s is taken", (value, saveDir) => {
    expect(read({ FACELESS_SAVE_DIR: value })).toEqual({ ...read({}), saveDir });
  });

  test("off is as good as unset", () => {
    expect(read({ FACELESS_SAVE_DIR: "off" })).toEqual(read({}));
  });

  test.each(["Videos", "./Videos", "~other/Videos", "$HOME/Videos"])(
    "%s is refused, because it depends on where the client starts the server",
    (value) => {
      expect(problemOf({ FACELESS_SAVE_DIR: value })).toEqual({
        variable: "FACELESS_SAVE_DIR",
        problem: "is a relative path, which depends on where your client starts this server",
        fix: "Set it to an absolute path, to one that begins with ~/, or to off",
      });
    },
  );
});

describe("FACELESS_STATE_DIR", () => {
  test.each([
    ["off", false],
    ["Off", false],
    ["/var/lib/faceless", "/var/lib/faceless"],
    ["/Users/Ann Lee/state", "/Users/Ann Lee/state"],
    ["~", HOME],
    ["~/state", `${HOME}/state`],
    ["~/a/../state", `${HOME}/state`],
  ])("%s is accepted", (value, stateDir) => {
    expect(read({ FACELESS_STATE_DIR: value })).toEqual({ ...read({}), stateDir });
  });

  test.each(["state", "./off", "../state", "~other/state", "$HOME/state"])(
    "%s is refused, because it depends on where the client starts the server",
    (value) => {
      expect(problemOf({ FACELESS_STATE_DIR: value })).toEqual({
        variable: "FACELESS_STATE_DIR",
        problem: "is a relative path, which depends on where your client starts this server",
        fix: "Set it to an absolute path, to one that begins with ~/, or to off",
      });
    },
  );
});

function proxiesOf(env: Environment) {
  const { service, problems } = read(env);
  return { proxies: service?.proxies, problems };
}

describe("the proxies", () => {
  test.each([
    ["http://proxy.example:8080", "http://proxy.example:8080/"],
    ["https://proxy.example", "https://proxy.example/"],
    ["proxy.example:8080", "http://proxy.example:8080/"],
    ["http://user:secret@proxy.example", "http://user:secret@proxy.example/"],
  ])("are read from %s, in upper or lower case", (value, href) => {
    for (const [names, expected] of [
      [["HTTPS_PROXY", "https_proxy"], { https: href }],
      [["HTTP_PROXY", "http_proxy"], { http: href }],
    ] as const)
      for (const name of names)
        expect([name, proxiesOf({ [name]: value })]).toEqual([name, { proxies: expected, problems: [] }]);
    expect(proxiesOf({ no_proxy: "a.example" })).toEqual({ proxies: { none: "a.example" }, problems: [] });
  });

  test("in upper case take precedence over lower case, unless they are empty", () => {
    expect(
      proxiesOf({
        HTTPS_PROXY: "one.example",
        https_proxy: "two.example",
        HTTP_PROXY: "",
        http_proxy: "three.example",
      }),
    ).toEqual({ proxies: { https: "http://one.example/", http: "http://three.example/" }, problems: [] });
  });

  test.each(["http://localhost:8080", "https://127.0.0.1", "http://[::1]:1"])(
    "are ignored for %s, even if they are unusable",
    (baseUrl) => {
      expect(
        proxiesOf({
          FACELESS_BASE_URL: baseUrl,
          HTTPS_PROXY: "http://p.example",
          HTTP_PROXY: "socks5://x",
          NO_PROXY: "y",
        }),
      ).toEqual({ proxies: {}, problems: [] });
    },
  );

  test.each([
    "socks5://user:canary@proxy.example",
    "http://",
    "http://user:canary@proxy:99999",
    "canary proxy",
  ])("that can't be used are refused without being shown: %s", (value) => {
    for (const variable of ["HTTPS_PROXY", "HTTP_PROXY"])
      expect(problemOf({ [variable]: value })).toEqual({
        variable,
        problem: "is not the URL of an HTTP proxy",
        fix: "Set it to a URL such as http://proxy.example:8080, or remove it",
      });
  });
});

describe("for any settings", () => {
  const names = ["FACELESS_API_KEY", "FACELESS_BASE_URL", ...EVERY_VARIABLE];

  test("no value is shown in a problem or a warning, and nothing is thrown", () => {
    const canary = "Qz7XcanaryJw";
    const value = fc
      .tuple(fc.string(), fc.string(), fc.constantFrom("", "fl_", "https://", "http://u:"))
      .map(([before, after, scheme]) => `${scheme}${before}${canary}${after}`);

    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (env) => {
        const { problems, warnings } = readConfig(env, FLAGS, HOME);
        expect(JSON.stringify([problems, warnings])).not.toContain(canary);
      }),
      { seed: 1 },
    );
  });

  test("there is either a service or a problem", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.string()), (env) => {
        const { service, problems } = read(env);
        expect(service === undefined).toBe(problems.length > 0);
      }),
      { seed: 1 },
    );
  });
});

test("the list of variables says that the key is never an argument", () => {
  expect(VARIABLES.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["FACELESS_API_KEY", "FACELESS_BASE_URL", "HTTPS_PROXY, HTTP_PROXY, NO_PROXY"]),
  );
  expect(VARIABLES[0]).toEqual({
    name: "FACELESS_API_KEY",
    meaning: "The account's key, begins with fl_. Environment only: never an argument",
    default: "none",
  });
});
