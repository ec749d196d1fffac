import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { envelope, refusal, startedAt, type TestSandbox, testSandbox } from "./fixture.ts";

const VIDEOS = "/api/v1/videos";
const GENERATE = "/api/v1/generate";

function limits(headers: Headers): (string | null)[] {
  return ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
}

test.each([
  [VIDEOS, ""],
  [VIDEOS, "Bearer fl_sandbox2"],
  [VIDEOS, "Basic fl_sandbox"],
  ["/api/mcp", "Bearer fl_example"],
  ["/api/v1/nowhere", "Bearer fl_example"],
])("%s refuses the Authorization header %j", async (path, Authorization) => {
  const sandbox = await testSandbox();

  const answer = await sandbox.get(path, { headers: { Authorization } });

  expect(answer).toMatchObject(
    refusal(
      401,
      "unauthorized",
      "This key is not valid. The sandbox takes one key only: send Authorization: Bearer fl_sandbox.",
    ),
  );
  expect(answer.headers.get("WWW-Authenticate")).toBe("Bearer");
});

test.each([
  ["evil.test", 403],
  ["localhost.evil.test:80", 403],
  ["LocalHost:1", 200],
  ["videos.localhost", 200],
  ["[::1]:80", 200],
])("a request for the host %s is answered with %i", async (host, status) => {
  const sandbox = await testSandbox();
  const headers = { host, authorization: "Bearer fl_sandbox" };

  const asked = request(`${sandbox.url}${VIDEOS}`, { headers }).end();

  const [answer] = await once(asked, "response");
  answer.resume();
  expect(answer.statusCode).toBe(status);
});

test.each([
  ["GET", "/api/v1/generate/"],
  ["GET", "//x"],
  ["GET", GENERATE],
  ["DELETE", VIDEOS],
  ["PUT", "/api/mcp"],
])("%s %s is no path of the service", async (method, path) => {
  const sandbox = await testSandbox();

  expect(await sandbox.get(path, { method })).toMatchObject(
    refusal(404, "not_found", "No such path, or not with this method."),
  );
});

test.each<[string, Parameters<TestSandbox["post"]>[2], object]>([
  [
    "of another content type",
    { headers: { "Content-Type": "application/jsonx" } },
    refusal(415, "unsupported_media_type", "The Content-Type must be application/json."),
  ],
  ["that is empty", { body: "" }, refusal(400, "invalid_json", "The body isn't valid JSON.")],
  [
    "that is not UTF-8",
    { body: Buffer.from([0x22, 0xff, 0x22]) },
    refusal(400, "invalid_json", "The body isn't valid JSON."),
  ],
  [
    "over 1 MB",
    { body: JSON.stringify("x".repeat(1_000_001)) },
    refusal(413, "payload_too_large", "The body is larger than 1 MB."),
  ],
])("a body %s is refused", async (_, init, refused) => {
  const sandbox = await testSandbox();

  expect(await sandbox.post(GENERATE, {}, init)).toMatchObject(refused);
});

const RESET = String(Date.parse(startedAt) / 1000 + 60);

test("the rate limit is in the headers of every response, whatever its status", async () => {
  const sandbox = await testSandbox({ requestsPerMinute: 10 });
  const wrongKey = { headers: { Authorization: "none" } };

  const answers = [
    await sandbox.get(VIDEOS),
    await sandbox.get("/api/v1/status/unknown"),
    await sandbox.post(GENERATE, {}),
    await sandbox.get(VIDEOS, { method: "PUT" }),
    await sandbox.get("/api/mcp"),
    await sandbox.get(VIDEOS, wrongKey),
    await sandbox.get("/nowhere", wrongKey),
  ];

  expect(answers.map(({ status, headers }) => [status, ...limits(headers)])).toEqual([
    [200, "10", "9", RESET],
    [404, "10", "8", RESET],
    [400, "10", "7", RESET],
    [404, "10", "6", RESET],
    [405, "10", "5", RESET],
    // Nothing is counted without the key.
    [401, "10", "5", RESET],
    [404, "10", "5", RESET],
  ]);
});

test("the rate limit refuses requests when it is used up, until its minute is over", async () => {
  const sandbox = await testSandbox({ requestsPerMinute: 2 });
  await sandbox.get(VIDEOS);
  sandbox.advance(20.5);
  await sandbox.get(VIDEOS);

  const { status, body, headers } = await sandbox.post(GENERATE, { topic: "x" });

  expect({ status, body, limits: limits(headers), retryAfter: headers.get("Retry-After") }).toEqual({
    status: 429,
    body: envelope("rate_limited", "Too many requests. Try again in 40 seconds."),
    limits: ["2", "0", RESET],
    retryAfter: "40",
  });
  sandbox.advance(39.4);
  expect((await sandbox.get(VIDEOS)).status).toBe(429);
  sandbox.advance(0.1);
  expect(await sandbox.get(VIDEOS)).toMatchObject({ status: 200, body: { videos: [] } });
});
