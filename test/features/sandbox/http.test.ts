import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { refusal, startedAt, type TestSandbox, testSandbox } from "./fixture.ts";

const VIDEOS = "/api/v1/videos";
const GENERATE = "/api/v1/generate";
const RESET = String(Date.parse(startedAt) / 1000 + 60);

function limits(headers: Headers): (string | null)[] {
  return ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
}

test.each([
  [VIDEOS, ""],
  [VIDEOS, "Bearer fl_sandbox2"],
  ["/api/mcp", "Bearer fl_example"],
])("%s refuses the Authorization header %j", async (path, Authorization) => {
  const sandbox = await testSandbox();

  const answer = await sandbox.get(path, { headers: { Authorization } });

  const message =
    "This key is not valid. The sandbox takes one key only: send Authorization: Bearer fl_sandbox.";
  expect(answer).toMatchObject(refusal(401, "unauthorized", message));
});

test.each([
  ["evil.test", 403],
  ["localhost.evil.test:80", 403],
  ["videos.localhost", 200],
  ["[::1]:80", 200],
])("a request for the host %s is answered with %i", async (host, status) => {
  const sandbox = await testSandbox();
  const headers = { host, authorization: "Bearer fl_sandbox" };

  const [answer] = await once(request(`${sandbox.url}${VIDEOS}`, { headers }).end(), "response");

  answer.resume();
  expect(answer.statusCode).toBe(status);
});

test.each([
  ["GET", GENERATE],
  ["PUT", "/api/mcp"],
])("%s %s isn't a path of the service", async (method, path) => {
  const sandbox = await testSandbox();

  const answer = await sandbox.get(path, { method });

  expect(answer).toMatchObject(refusal(404, "not_found", "No such path, or not with this method."));
});

const NOT_JSON = refusal(400, "invalid_json", "The body isn't valid JSON.");

test.each<[string, Parameters<TestSandbox["post"]>[2], object]>([
  [
    "of another content type",
    { headers: { "Content-Type": "application/jsonx" } },
    refusal(415, "unsupported_media_type", "The Content-Type must be application/json."),
  ],
  ["that isn't JSON", { body: "{topic: 1}" }, NOT_JSON],
  [
    "over 1 MB",
    { body: JSON.stringify("x".repeat(1_000_001)) },
    refusal(413, "payload_too_large", "The body is larger than 1 MB."),
  ],
])("a body %s is refused", async (_, init, refused) => {
  const sandbox = await testSandbox();

  expect(await sandbox.post(GENERATE, {}, init)).toMatchObject(refused);
});

test("every response has the rate limit, and requests without the key don't count", async () => {
  const sandbox = await testSandbox({ requestsPerMinute: 10 });
  const wrongKey = { headers: { Authorization: "none" } };

  const answers = [
    await sandbox.get(VIDEOS),
    await sandbox.post(GENERATE, {}),
    await sandbox.get("/api/mcp"),
    await sandbox.get(VIDEOS, wrongKey),
    await sandbox.get("/nowhere", wrongKey),
  ];

  expect(answers.map(({ status, headers }) => [status, ...limits(headers)])).toEqual([
    [200, "10", "9", RESET],
    [400, "10", "8", RESET],
    [405, "10", "7", RESET],
    [401, "10", "7", RESET],
    [404, "10", "7", RESET],
  ]);
});

test("requests over the limit are refused until the minute is over", async () => {
  const sandbox = await testSandbox({ requestsPerMinute: 2 });
  await sandbox.get(VIDEOS);
  sandbox.advance(20.5);
  await sandbox.get(VIDEOS);

  const refused = await sandbox.post(GENERATE, { topic: "x" });
  sandbox.advance(39.5);
  const next = await sandbox.get(VIDEOS);

  expect(refused).toMatchObject(refusal(429, "rate_limited", "Too many requests. Try again in 40 seconds."));
  expect([...limits(refused.headers), refused.headers.get("Retry-After")]).toEqual(["2", "0", RESET, "40"]);
  expect(next).toMatchObject({ status: 200, body: { videos: [] } });
});
