// Every call ends within 45 s when the service accepts requests and never answers: the tools and doctor
// with their real deadlines, over real sockets and in virtual time.

import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { doctor } from "../fixtures/run-doctor.ts";
import { CANARY } from "../fixtures/canary.ts";
import { DOCUMENT, GENERATE, JOB_ID, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { type Handler, type Reply, scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { inVirtualTime, virtualClock } from "./virtual-time.ts";
import { type Called, openTools, type ToolsUnderTest } from "./faults/tools-under-test.ts";

const PROMISED_SECONDS = 45;

// Modules that are loaded on first use would take virtual time.
beforeAll(() =>
  Promise.all([
    import("../../src/service/connected-platforms.ts"),
    import("../../src/service/http.ts"),
    import("../../src/tools/check-order/check-order.ts"),
  ]),
);
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** The tools and a service that answers only as scripted; `waiting` counts the requests without an answer. */
async function silentService() {
  let waiting = 0;
  const slow =
    (answer: () => Promise<Reply> | Reply = () => "hang"): Handler =>
    (_, { outgoing }) => {
      waiting += 1;
      outgoing.on("close", () => (waiting -= 1));
      return answer();
    };
  const routes = [GENERATE, PUBLISH, STATUS, VIDEOS, DOCUMENT, "POST /api/mcp"];
  const rest = await scriptedService(Object.fromEntries(routes.map((route) => [route, slow()])));
  const tools = openTools({ baseUrl: rest.url, keepsJournal: false });
  onTestFinished(() => tools.close());
  return { rest, tools, slow, waiting: () => waiting };
}

async function outcomeOf(calling: Promise<Called>, waiting: () => number) {
  const { result, seconds } = await inVirtualTime(calling, waiting);
  return { seconds, code: result.error?.code, outcome: result.error?.outcome };
}

const IN_TIME = {
  seconds: expect.toSatisfy((seconds: number) => seconds < PROMISED_SECONDS),
  code: "timeout",
  outcome: "unknown",
};

/** Reads are repeated; a request that pays or posts must not be. */
function eachOnce(lines: readonly string[]): readonly string[] {
  return lines.filter((line, index) => [GENERATE, PUBLISH].includes(line) || lines.indexOf(line) === index);
}

test.each<[string, (tools: ToolsUnderTest) => Promise<Called>, readonly string[]]>([
  ["generate_video", (tools) => tools.generate("Tides"), [GENERATE, VIDEOS]],
  ["publish_video", (tools) => tools.publish(JOB_ID), [STATUS, DOCUMENT, "POST /api/mcp", PUBLISH]],
  ["get_video_status", (tools) => tools.status(JOB_ID), [STATUS]],
  ["list_videos", (tools) => tools.list(), [VIDEOS]],
  ["list_videos with a limit", (tools) => tools.list(5), [DOCUMENT, "GET /api/v1/videos?limit=5"]],
  ["list_connected_platforms", (tools) => tools.platforms(), [DOCUMENT, "POST /api/mcp"]],
])("%s ends within 45 s if the service never answers", async (_, call, lines) => {
  const { rest, tools, waiting } = await silentService();

  expect(await outcomeOf(call(tools), waiting)).toEqual(IN_TIME);
  expect(eachOnce(rest.lines())).toEqual(lines);
});

test("generate_video ends within 45 s though it looked at an earlier job first", async () => {
  const { rest, tools, slow, waiting } = await silentService();
  rest.on(GENERATE, { json: { jobId: JOB_ID, status: "processing" } });
  await tools.generate("Tides");
  rest.on(GENERATE, slow());
  const almost = () => new Promise((resolve) => setTimeout(resolve, 1_400));
  rest.on(
    STATUS,
    slow(async () => (await almost(), { json: { status: "failed" } })),
  );

  expect(await outcomeOf(tools.generate("Tides"), waiting)).toEqual(IN_TIME);
  expect(eachOnce(rest.lines().slice(1))).toEqual([STATUS, GENERATE, VIDEOS]);
});

test("doctor ends within 20 s if the service never answers, and says what to fix", async () => {
  const { rest, waiting } = await silentService();
  const env = { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: rest.url };

  const clock = virtualClock();
  const { result, seconds } = await inVirtualTime(doctor({ env, clock }), waiting);

  expect({ code: result.code, inTime: seconds < 20 }).toEqual({ code: 1, inTime: true });
  expect(result.lines.slice(0, 5)).toEqual([
    "Before a video can be made, fix this:",
    "",
    "fail  service   Try again in a minute.",
    `                (${rest.url} gives no answer: it took longer than 8 s)`,
    expect.stringMatching(/^ok /),
  ]);
  expect(result.lines.at(-1)).toBe("Not checked: key, rate limit.");
});

test("an OpenAPI document that comes late delays the first call alone, by two seconds", async () => {
  const { rest, tools, slow, waiting } = await silentService();
  rest.on(VIDEOS, { json: { videos: [] } });
  let answer: (reply: Reply) => void = () => {};
  const late = new Promise<Reply>((resolve) => (answer = resolve));
  rest.on(
    DOCUMENT,
    slow(() => late),
  );

  const delays = [await outcomeOf(tools.list(5), waiting), await outcomeOf(tools.list(5), waiting)];

  expect(delays.map(({ seconds, code }) => [Math.round(seconds), code])).toEqual([
    [2, undefined],
    [0, undefined],
  ]);
  const limit = { name: "limit", in: "query", schema: { type: "integer", maximum: 3 } };
  answer({ json: { paths: { "/api/v1/videos": { get: { parameters: [limit] } } } } });
  await until(async () => {
    await tools.list(5);
    return rest.lines().at(-1) === `${VIDEOS}?limit=3`;
  });
  expect(rest.lines().slice(0, 3)).toEqual([DOCUMENT, `${VIDEOS}?limit=5`, `${VIDEOS}?limit=5`]);
});
