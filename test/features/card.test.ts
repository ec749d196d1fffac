// The card as clients get it: which clients, its size, and where it may play from. Needs no browser.

import { expect, test } from "vitest";
import { connectLegacy, connectModern, type ClientStart, TEST_CLIENTS } from "../fixtures/clients.ts";
import { JOB_ID, JOB_URI, KEY, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { scriptedService, type Scripts } from "../fixtures/scripted-service.ts";

const CARD_URI = "ui://faceless-video/card";

async function readCard(start: ClientStart) {
  const { raw } = await connectLegacy(start);
  const { contents } = await raw.readResource({ uri: CARD_URI });
  const [content] = contents;
  if (content === undefined || !("text" in content)) throw new Error("The card has no text.");
  return content;
}

async function scripted(scripts: Scripts, env: Record<string, string> = {}) {
  const service = await scriptedService(scripts);
  const account = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url };
  return { service, start: { env: { ...account, ...env } } };
}

function originsOf({ _meta }: { _meta?: Record<string, unknown> | undefined }): unknown {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- as MCP Apps has it
  return (_meta as { ui: { csp: { resourceDomains: unknown } } }).ui.csp.resourceDomains;
}

test.each(TEST_CLIENTS)(
  "%s finds the card through generate_video alone, and not among the resources",
  async (_, connect) => {
    const { raw } = await connect();

    const { tools } = await raw.listTools();
    const { resources } = await raw.listResources();
    const { resourceTemplates } = await raw.listResourceTemplates();

    const withCard = tools.filter(({ _meta }) => _meta !== undefined);
    expect(withCard.map(({ name, _meta }) => [name, _meta])).toEqual([
      ["generate_video", { ui: { resourceUri: CARD_URI } }],
    ]);
    expect(JSON.stringify([resources, resourceTemplates])).not.toContain("ui://");
    expect(raw.getServerCapabilities()).toMatchObject({ extensions: { "io.modelcontextprotocol/ui": {} } });
  },
);

test("the card is one document of at most 16 kB that loads nothing and sets no HTML", async () => {
  const content = await readCard({ args: ["--sandbox"], user: () => Promise.resolve({ action: "decline" }) });

  expect(content).toEqual({
    uri: CARD_URI,
    mimeType: "text/html;profile=mcp-app",
    text: expect.stringMatching(/^<!doctype html>\n<html lang="en">.*<\/html>\s*$/s),
    _meta: {
      ui: {
        csp: { resourceDomains: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)] },
        prefersBorder: true,
      },
    },
  });
  expect(Buffer.byteLength(content.text)).toBeLessThanOrEqual(16_000);
  expect(content.text).not.toMatch(/https?:\/\//);
  expect(content.text).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/,
  );
});

const ALWAYS = { env: { FACELESS_CONFIRM_PUBLISH: "always" } };

test.each<[string, ClientStart, boolean, string]>([
  ["a plain server", {}, false, "data-publishes"],
  ["a client that asks the user", {}, true, "data-publishes data-asks data-asks-first"],
  [
    "FACELESS_CONFIRM_GENERATE=off",
    { env: { FACELESS_CONFIRM_GENERATE: "off" } },
    true,
    "data-publishes data-asks",
  ],
  ["FACELESS_CONFIRM_PUBLISH=always, a client that can't ask", ALWAYS, false, ""],
  ["--no-publish", { args: ["--no-publish"] }, true, "data-asks data-asks-first"],
])(
  "the card knows if it may publish and if the client asks the user: %s",
  async (_, { args = [], env = {} }, asks, flags) => {
    const user = () => Promise.resolve({ action: "decline" as const });
    const { text } = await readCard({ args: ["--sandbox", ...args], env, ...(asks && { user }) });

    expect(/<body[^>]*>/.exec(text)?.[0]).toBe(`<body ${`${flags} data-sandbox`.trim()}>`);
  },
);

test("a read-only server has no card", async () => {
  const { raw } = await connectModern({ args: ["--sandbox", "--read-only"] });

  const { tools } = await raw.listTools();

  expect(tools.filter(({ _meta }) => _meta !== undefined)).toEqual([]);
  expect(raw.getServerCapabilities()?.extensions).toBeUndefined();
  await expect(raw.readResource({ uri: CARD_URI })).rejects.toThrow(/not found/i);
});

test("the card may play from the service and from the hosts of known videos", async () => {
  const videos = [
    { jobId: "1", status: "completed", finalVideoUrl: "https://cdn.example/f.mp4?signed=1" },
    { jobId: "2", status: "completed", finalVideoUrl: "https://cdn.example:8443/f.mp4" },
    { jobId: "3", status: "completed", finalVideoUrl: "https://cdn.example/g.mp4" },
  ];
  const { service, start } = await scripted({
    [VIDEOS]: { json: { videos } },
    [STATUS]: {
      json: { status: "processing", videoUrls: ["https://clips.example/1.mp4"] },
    },
  });
  const { raw, call } = await connectLegacy(start);
  await call("get_video_status", { jobId: JOB_ID });

  const read = async () => (await raw.readResource({ uri: CARD_URI })).contents.map(originsOf);
  // A busy machine may not get the list in time for the first card.
  await expect
    .poll(read)
    .toEqual([[service.url, "https://cdn.example", "https://cdn.example:8443", "https://clips.example"]]);
});

test("neither the content nor the number of links can widen the card's policy", async () => {
  const hosts = ["a;b.example", "*.example", "a,b.example", "'self'.example"];
  const links = ["data:video/mp4,x", "no link", ...hosts.map((host) => `https://${host}/f.mp4`)];
  const many = Array.from({ length: 30 }, (_, index) => `https://${index}.example/f.mp4`);
  const videos = [...links, ...many].map((finalVideoUrl, index) => ({
    jobId: `${index}`,
    status: "completed",
    finalVideoUrl,
  }));
  const { service, start } = await scripted({ [VIDEOS]: { json: { videos } } });

  await expect
    .poll(async () => originsOf(await readCard(start)))
    .toEqual([service.url, ...many.slice(0, 11).map((link) => new URL(link).origin)]);
});

test.each([
  ["a no", {}, /^Not started: you didn't confirm\. This call started no video and spent no credits\.$/],
  [
    "a doubt",
    { voice: "german" },
    /^Not sent, since it may not be what you mean\. .*"german".* no credits\.$/,
  ],
])("the card gets what to tell the person after %s, without a step for the model", async (_, more, told) => {
  const user = () => Promise.resolve({ action: "decline" as const });
  const { call } = await connectLegacy({ args: ["--sandbox"], user });

  const { _meta } = await call("generate_video", { topic: "Tides", ...more });

  expect(_meta?.["faceless/person"]).toMatch(told);
});

test("the card gets what to tell the person after a failed read, without a step for the model", async () => {
  const { start } = await scripted({ [STATUS]: { status: 401 } });
  const { raw } = await connectLegacy(start);

  const reading = raw.readResource({ uri: JOB_URI });

  const told = expect.stringMatching(/HTTP 401.* published nothing\.$/);
  await expect(reading).rejects.toMatchObject({ data: { "faceless/person": told } });
});
