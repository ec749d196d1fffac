import { expect, test } from "vitest";
import { refusal, startedAt, testSandbox } from "./fixture.ts";

function limits(headers: Headers): (string | null)[] {
  return ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
}

const paths = ["/api/v1/videos", "/api/v1/openapi.json", "/api/mcp", "/api/v1/nowhere", "/api"];
const wrong = [
  "",
  "Bearer",
  "Bearer fl_",
  "Bearer fl_example",
  "Bearer fl_sandbox2",
  "Bearer FL_sandbox",
  "Basic fl_sandbox",
];

test.each(paths.flatMap((path) => wrong.map((authorization) => [path, authorization] as const)))(
  "%s refuses the Authorization header %j",
  async (path, authorization) => {
    const sandbox = await testSandbox();

    const { status, body, headers } = await sandbox.get(path, {
      headers: { Authorization: authorization },
    });

    expect({ status, body, authenticate: headers.get("WWW-Authenticate") }).toEqual({
      status: 401,
      body: refusal(
        "unauthorized",
        "This key is not valid. The sandbox takes one key only: send Authorization: Bearer fl_sandbox.",
      ),
      authenticate: "Bearer",
    });
  },
);

test("the key is fl_sandbox, with the scheme in any case", async () => {
  const sandbox = await testSandbox();
  const answers = [
    await sandbox.get("/api/v1/videos", { headers: { Authorization: "Bearer fl_sandbox" } }),
    await sandbox.get("/api/v1/videos", { headers: { Authorization: "bearer fl_sandbox" } }),
  ];

  expect([sandbox.apiKey, ...answers.map(({ status }) => status)]).toEqual(["fl_sandbox", 200, 200]);
});

test("a wrong key starts no job", async () => {
  const sandbox = await testSandbox();
  const headers = { Authorization: "Bearer fl_example" };

  const { status } = await sandbox.post("/api/v1/generate", { topic: "x" }, { headers });

  expect(status).toBe(401);
  expect((await sandbox.get("/api/v1/videos")).body).toEqual({ videos: [], nextCursor: null });
});

test.each(["/", "/api/v1/platforms", "/api/v1/status/", "/api/v1/generate/", "/api/v2/videos", "//x"])(
  "%s is no path of the service",
  async (path) => {
    const sandbox = await testSandbox();

    const { status, body } = await sandbox.get(path);

    expect({ status, body }).toEqual({
      status: 404,
      body: refusal("not_found", "No such path."),
    });
  },
);

test.each([
  ["GET", "/api/v1/generate", "POST"],
  ["PUT", "/api/v1/publish", "POST"],
  ["DELETE", "/api/v1/videos", "GET"],
  ["POST", "/api/v1/status/x", "GET"],
  ["POST", "/media/final/x.mp4", "GET, HEAD"],
  ["PUT", "/api/mcp", "POST, GET, DELETE"],
])("%s %s is not allowed, and the Allow header lists what is", async (method, path, allow) => {
  const sandbox = await testSandbox();

  const { status, body, headers } = await sandbox.get(path, { method });

  expect({ status, body, allow: headers.get("Allow") }).toEqual({
    status: 405,
    body: refusal("method_not_allowed", `This path doesn't support ${method}.`),
    allow,
  });
});

test.each(["/api/v1/generate", "/api/v1/publish"])("%s accepts JSON only", async (path) => {
  const sandbox = await testSandbox();

  const types = ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"];
  const answers = await Promise.all(
    types.map((type) => sandbox.post(path, { topic: "x" }, { headers: { "Content-Type": type } })),
  );

  const answer = {
    status: 415,
    body: refusal("unsupported_media_type", "The Content-Type must be application/json."),
  };
  expect(answers.map(({ status, body }) => ({ status, body }))).toEqual([answer, answer, answer]);
});

test("a content type with a charset is accepted", async () => {
  const sandbox = await testSandbox();
  const headers = { "Content-Type": "Application/JSON; charset=utf-8" };

  expect((await sandbox.post("/api/v1/generate", { topic: "x" }, { headers })).status).toBe(201);
});

test.each(["", "{", '{"topic":"x"} x', Buffer.from([0x22, 0xff, 0x22])])(
  "the body %j, which is not JSON, is refused",
  async (body) => {
    const sandbox = await testSandbox();

    const answer = await sandbox.post("/api/v1/generate", null, { body });

    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 400,
      body: refusal("invalid_json", "The body isn't valid JSON."),
    });
  },
);

test.each(["/api/v1/generate", "/api/v1/publish", "/api/mcp"])(
  "%s refuses a body over 1 MB",
  async (path) => {
    const sandbox = await testSandbox();

    const { status, body } = await sandbox.post(path, { topic: "x".repeat(1_000_001) });

    expect({ status, body }).toEqual({
      status: 413,
      body: refusal("payload_too_large", "The body is larger than 1 MB."),
    });
  },
);

test("a body of just under 1 MB is accepted", async () => {
  const sandbox = await testSandbox();

  expect((await sandbox.post("/api/v1/generate", { topic: "x".repeat(999_900) })).status).toBe(201);
});

const reset = String(Date.parse(startedAt) / 1000 + 60);

test("the rate limit is in the headers of every response, whatever its status", async () => {
  const sandbox = await testSandbox({ requestsPerMinute: 10 });

  const answers = [
    await sandbox.get("/api/v1/videos"),
    await sandbox.get("/api/v1/status/unknown"),
    await sandbox.post("/api/v1/generate", {}),
    await sandbox.get("/api/v1/videos", { method: "PUT" }),
    await sandbox.get("/api/v1/nowhere"),
    await sandbox.get("/api/mcp"),
    await sandbox.get("/api/v1/videos", { headers: { Authorization: "none" } }),
    await sandbox.get("/nowhere", { headers: { Authorization: "none" } }),
  ];

  expect(answers.map(({ status, headers }) => [status, ...limits(headers)])).toEqual([
    [200, "10", "9", reset],
    [404, "10", "8", reset],
    [400, "10", "7", reset],
    [405, "10", "6", reset],
    [404, "10", "5", reset],
    [405, "10", "4", reset],
    // Without the key nothing is counted.
    [401, "10", "4", reset],
    [404, "10", "4", reset],
  ]);
});

test("the rate limit refuses requests when it is used up, until its minute is over", async () => {
  const sandbox = await testSandbox({ requestsPerMinute: 2 });
  await sandbox.get("/api/v1/videos");
  sandbox.advance(20.5);
  await sandbox.get("/api/v1/videos");

  const { status, body, headers } = await sandbox.get("/api/v1/videos");

  expect({ status, body, limits: limits(headers), retryAfter: headers.get("Retry-After") }).toEqual({
    status: 429,
    body: refusal("rate_limited", "Too many requests. Try again in 40 seconds."),
    limits: ["2", "0", reset],
    retryAfter: "40",
  });
  sandbox.advance(39.4);
  expect((await sandbox.get("/api/v1/videos")).status).toBe(429);
  sandbox.advance(0.1);
  expect((await sandbox.get("/api/v1/videos")).status).toBe(200);
});

test("the rate limit starts no job for a request that it refuses", async () => {
  const sandbox = await testSandbox({ requestsPerMinute: 1 });
  await sandbox.get("/api/v1/videos");
  expect((await sandbox.post("/api/v1/generate", { topic: "x" })).status).toBe(429);

  sandbox.advance(60);

  expect((await sandbox.get("/api/v1/videos")).body).toEqual({ videos: [], nextCursor: null });
});

test("the rate limit is 120 requests per minute by default", async () => {
  const sandbox = await testSandbox();

  expect(limits((await sandbox.get("/api/v1/videos")).headers)).toEqual(["120", "119", reset]);
});
