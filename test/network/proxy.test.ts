import { expect, test } from "vitest";
import { JOB_ID, KEY, STATUS } from "../fixtures/constants.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { connect, failureOf } from "./bridge.ts";
import { proxyServer } from "../fixtures/proxy-server.ts";

const DONE = { json: { status: "completed" } };
const JOB_DONE = { jobId: JOB_ID, status: "completed", done: true, videoUrls: [] };

test("a request behind a proxy goes through its tunnel, and the proxy sees no key", async () => {
  const rest = await scriptedService({ [STATUS]: DONE });
  const proxy = await proxyServer("tunnel");
  const service = connect({ baseUrl: rest.url, proxies: { http: proxy.url } });

  expect(await service.getJob(JOB_ID)).toEqual(JOB_DONE);
  expect(proxy.asked).toEqual([{ target: new URL(rest.url).host, authorization: undefined }]);
  expect(proxy.received()).not.toContain(KEY);
  expect(rest.lines()).toEqual([STATUS]);
});

test("credentials in the proxy's URL are sent to the proxy only", async () => {
  const rest = await scriptedService({ [STATUS]: DONE });
  const proxy = await proxyServer("tunnel");
  const url = proxy.url.replace("//", "//user:p%40ss@");
  const service = connect({ baseUrl: rest.url, proxies: { http: url } });

  await service.getJob(JOB_ID);

  const authorization = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;
  expect(proxy.asked).toEqual([{ target: new URL(rest.url).host, authorization }]);
  expect(rest.requests.map(({ headers }) => headers["proxy-authorization"])).toEqual([undefined]);
});

test("a host that NO_PROXY names is reached directly", async () => {
  const rest = await scriptedService({ [STATUS]: DONE });
  const proxy = await proxyServer("tunnel");
  const service = connect({ baseUrl: rest.url, proxies: { http: proxy.url, none: "x.example,127.0.0.1" } });

  expect(await service.getJob(JOB_ID)).toEqual(JOB_DONE);
  expect(proxy.asked).toEqual([]);
});

test("a CONNECT that the proxy drops is retried like any POST that was not sent", async () => {
  const rest = await scriptedService();
  const proxy = await proxyServer("drop");
  const service = connect({ baseUrl: rest.url, proxies: { http: proxy.url } });

  expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({ outcome: "not_sent" });
  expect(proxy.asked).toHaveLength(2);
  await until(() => proxy.connections() === 0);
});

test.each([
  ["HTTP_PROXY", "https://", "127.0.0.1:1", "connection refused (ECONNREFUSED)"],
  ["HTTPS_PROXY", "https://", "proxy.invalid:80", "the host could not be found or reached (E"],
])(
  "a proxy of %s for %s that can't be reached is named, without its user and password",
  async (variable, scheme, host, why) => {
    const baseUrl = `${scheme}videos.invalid`;
    const url = `http://user:secret@${host.replace(/:80$/, "")}/`;
    const service = connect({ baseUrl, proxies: { [variable === "HTTP_PROXY" ? "http" : "https"]: url } });

    const facts = await failureOf(service.generate({ topic: "x" }));

    expect(facts).toEqual({
      code: "network",
      message: expect.stringContaining(
        `to start the video: the connection to the proxy at ${host}, which ${variable} names, failed: ${why}`,
      ),
      nextStep: `Check that the proxy runs and that ${variable} is right. If the service can be reached directly, name its host in NO_PROXY.`,
      isForUser: true,
      outcome: "not_sent",
      retryable: true,
    });
    expect(JSON.stringify(facts)).not.toMatch(/secret|user:|FACELESS_BASE_URL/);
  },
);

test.each<[string, readonly string[], string, RegExp]>([
  ["none was given", ["Basic realm=x"], "", /asks for a user name and a password, and its setting has none/],
  ["only a user name was given", ["Basic realm=x"], "jane@", /its setting has none/],
  ["it is wrong", ["Negotiate", 'basic realm="x"'], "jane:secret@", /refuses the user name and the password/],
  ["the proxy wants NTLM", ["Negotiate", "NTLM"], "jane:secret@", /takes no password but NTLM, Kerberos/],
  ["the proxy names no way to sign in", [], "jane:secret@", /refuses the user name and the password/],
])("a proxy's demand for a password is told as what it is: %s", async (_, signIns, user, reason) => {
  const rest = await scriptedService({ [STATUS]: DONE });
  const proxy = await proxyServer({ signIns });
  const service = connect({ baseUrl: rest.url, proxies: { http: proxy.url.replace("//", `//${user}`) } });

  const facts = await failureOf(service.generate({ topic: "x" }));

  expect(facts).toMatchObject({ outcome: "not_sent", message: expect.stringMatching(reason) });
  expect(JSON.stringify(facts)).not.toMatch(/secret|jane/);
});

test("the process's own environment names no proxy to the client", async ({ onTestFinished }) => {
  const proxy = await proxyServer("tunnel");
  const named = process.env["http_proxy"];
  process.env["http_proxy"] = proxy.url;
  onTestFinished(() => {
    if (named === undefined) delete process.env["http_proxy"];
    else process.env["http_proxy"] = named;
  });
  const rest = await scriptedService({ [STATUS]: DONE });

  await connect({ baseUrl: rest.url }).getJob(JOB_ID);
  await connect({ baseUrl: rest.url, proxies: { https: proxy.url } }).getJob(JOB_ID);

  expect(proxy.asked.map(({ target }) => target)).toEqual([]);
});
