// What doctor can't be shown through the built file: other versions of Node.js, a terminal, and whether it sees the way to the
// service as undici does.

import { EnvHttpProxyAgent, Pool, request } from "undici";
import { describe, expect, test } from "vitest";
import { runDoctor } from "../../src/commands/doctor.ts";
import { checkFailure } from "../../src/commands/doctor/connection.ts";
import { checkNode } from "../../src/commands/doctor/environment.ts";
import { proxyFor } from "../../src/commands/doctor/route.ts";
import { TransportFailure } from "../../src/service/errors.ts";
import { type Environment, readSettings } from "../../src/settings.ts";

test.each([
  ["18.20.8", "fail"],
  ["20.9.0", "fail"],
  ["20.18.0", "fail"],
  ["20.18.1", "ok"],
  ["20.100.0", "ok"],
  ["22.0.0", "ok"],
])("Node.js %s is judged %s by package.json's engines", (version, status) => {
  expect(checkNode(version)).toMatchObject({ name: "node", status });
});

describe("at a terminal", () => {
  const report = async (env: Environment, isTerminal: boolean) => {
    const lines: string[] = [];
    const code = await runDoctor({
      settings: readSettings(env, { sandbox: false, readOnly: false, noPublish: false }),
      env: { FACELESS_STATE_DIR: "off", ...env },
      nodeVersion: "18.0.0",
      json: false,
      isTerminal,
      print: (line) => lines.push(line),
      now: Date.now,
    });
    expect(code).toBe(1);
    return lines;
  };

  test("each line has a coloured mark, and the remedy stands below it", async () => {
    const [first] = await report({ TERM: "xterm" }, true);

    const [line = "", remedy = "", ...more] = first?.split("\n") ?? [];
    expect({ mark: line.slice(0, 10), more }).toEqual({ mark: "\u001B[31m✖\u001B[0m", more: [] });
    expect(line.slice(10)).toMatch(/^ {2}node +Node\.js 18\.0\.0 is too old\.$/);
    expect(remedy).toMatch(/^ {4}→ Install Node\.js 20\.18\.1 or newer.+\.$/);
  });

  test.each([
    ["that shows no colours", { TERM: "dumb" }, true],
    ["whose owner wants none", { NO_COLOR: "1" }, true],
    ["that is none", { TERM: "xterm" }, false],
  ])("%s, the report is plain text", async (_, env, isTerminal) => {
    const lines = await report(env, isTerminal);

    expect(lines[0]).toMatch(/^fail {2}node +Node\.js 18\.0\.0 is too old\. Install .+\.$/);
    // eslint-disable-next-line no-control-regex -- escape sequences are the very thing that must not be there
    expect(lines.join("\n")).not.toMatch(/[\u001B✔✖]/);
  });
});

test.each<[url: string, proxies: { https?: string; http?: string; none?: string }]>([
  ["https://videos.test", {}],
  ["https://videos.test", { https: "http://a.test:1" }],
  ["https://videos.test", { http: "http://b.test:2" }],
  ["https://videos.test", { https: "http://a.test:1", http: "http://b.test:2" }],
  ["http://videos.test", { https: "http://a.test:1" }],
  ...[
    "*",
    "videos.test",
    "VIDEOS.test",
    "test",
    ".test",
    "*.test",
    "eos.test",
    "other.test, videos.test",
    "other.test videos.test",
    "videos.test:443",
    "videos.test:8443",
    ",,",
    "*,x",
  ].flatMap((none): [string, { https: string; none: string }][] => [
    ["https://videos.test", { https: "http://a.test:1", none }],
    ["https://videos.test:8443", { https: "http://a.test:1", none }],
  ]),
  ["https://[2001:db8::1]", { https: "http://a.test:1", none: "[2001:db8::1]" }],
  ["https://[2001:db8::1]:8443", { https: "http://a.test:1", none: "[2001:db8::1]:8443" }],
  ["https://[2001:db8::1]", { https: "http://a.test:1", none: "2001:db8::1" }],
])("%s goes the way that undici takes with %j", async (url, proxies) => {
  let way: string | undefined;
  const agent = new EnvHttpProxyAgent({
    httpsProxy: proxies.https ?? "",
    httpProxy: proxies.http ?? "",
    noProxy: proxies.none ?? "",
    connect: (_, callback) => {
      way ??= "direct";
      callback(new Error("far enough"), null);
    },
    clientFactory: (origin) =>
      new Pool(origin, {
        connect: (_, callback) => {
          way ??= origin.host;
          callback(new Error("far enough"), null);
        },
      }),
  });
  await request(url, { dispatcher: agent }).catch(() => {});
  await agent.destroy();

  expect(proxyFor(new URL(url), proxies, {})?.url.host ?? "direct").toBe(way);
});

describe("a failure of the network", () => {
  const proxy = { url: new URL("http://user:secret@proxy.test:8080"), variable: "https_proxy" };
  const failure = (code: string | undefined, sent: boolean, reason: string, kind: "timeout" | "network") =>
    new TransportFailure(
      { kind, sent, reason },
      code === undefined ? undefined : Object.assign(new Error(reason), { code }),
    );

  test.each([
    ["CERT_HAS_EXPIRED", false, "network", /not valid today/, /Check the clock of this machine/],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", false, "network", /vouches for/, /NODE_EXTRA_CA_CERTS/],
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", false, "network", /^TLS with/, /something inspects/],
    ["EHOSTUNREACH", false, "network", /there is no way to/, /online/],
    ["UND_ERR_CONNECT_TIMEOUT", false, "timeout", /can't be reached: why$/, /a firewall may be in between/],
    ["EADDRNOTAVAIL", false, "network", /could not be asked: why$/, /Check the network/],
    ["ECONNRESET", true, "network", /no HTTP answer: why$/, /https:\/\//],
    [undefined, true, "timeout", /takes the request, but no answer came: why$/, /Try again/],
  ] as const)("with code %s (sent: %s) has its own words", (code, sent, kind, detail, remedy) => {
    expect(checkFailure(failure(code, sent, "why", kind), new URL("https://videos.test"), undefined)).toEqual(
      {
        name: "connection",
        status: "fail",
        detail: expect.stringMatching(detail),
        remedy: expect.stringMatching(remedy),
      },
    );
  });

  test("is the proxy's where that never opens a way, and the service's own trouble behind one that does", () => {
    const at = (code: string | undefined, kind: "timeout" | "network") =>
      checkFailure(failure(code, false, "why", kind), new URL("https://videos.test"), proxy).detail;

    expect(at(undefined, "timeout")).toBe("the proxy opens no way to videos.test:443: why");
    expect(at("CERT_HAS_EXPIRED", "network")).toMatch(/^TLS: the certificate of videos\.test:443/);
  });
});
