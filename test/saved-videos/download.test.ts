// How a finished video is downloaded over real HTTP: what is then on disk, and what the user is told.

import { expect, test } from "vitest";
import type { Lookup } from "../../src/saved-videos/download.ts";
import { type Handler, type Script, scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { proxyServer } from "../service/proxy-server.ts";
import { media, mediaUntil, notSaved, SAVED, saveFrom, saving, VIDEO } from "./saving.ts";

const PRIVATE = "its link leads to a private address";
const redirect = (location: string) => ({ status: 302, headers: { location } });
const asVideo = { "content-type": "video/mp4" };

test("a video is requested like by any visitor, with neither key nor cookie", async () => {
  const { outcome, path, host } = await saveFrom(media);

  expect(outcome).toEqual({ said: `It is saved as ${path}.`, files: SAVED });
  expect(host.requests.map(({ headers }) => headers)).toEqual([
    {
      host: host.url.replace("http://", ""),
      connection: "keep-alive",
      accept: "video/*, application/octet-stream;q=0.9, */*;q=0.5",
      "accept-encoding": "identity",
      "user-agent": "faceless-video-mcp/1.2.3",
    },
  ]);
});

test("a video is saved from where five redirects lead", async () => {
  const redirects = [1, 2, 3, 4, 5].map((n) => redirect(`?hop=${n}`));
  const { outcome } = await saveFrom([...redirects, media]);

  expect(outcome.files).toEqual(SAVED);
});

test("a download that is cut or stalls begins anew, and nothing of an earlier answer stays", async () => {
  const script = [mediaUntil(70_000, "cut"), mediaUntil(100_000, "stall"), media];
  const { outcome, host } = await saveFrom(script, { limits: { stallMs: 20 } });

  expect(outcome.files).toEqual(SAVED);
  expect(host.requests.map(({ headers }) => headers.range)).toEqual([undefined, undefined, undefined]);
});

test("a proxy sees the host of a video alone, and may be the only one to know its name", async () => {
  const proxy = await proxyServer("tunnel");
  const host = await scriptedService({ "GET /video.mp4": media });
  const link = `${host.url.replace("127.0.0.1", "localhost")}/video.mp4`;

  const { files } = await saving({ link, proxies: { http: proxy.url }, lookup: unknownName }).save();

  expect(files).toEqual(SAVED);
  expect(proxy.asked).toEqual([{ target: new URL(link).host, authorization: undefined }]);
  expect(proxy.received()).not.toContain("video.mp4");
});

const MAX_BYTES = 1024 * 1024;

/** Sends as fast as it is read. */
const endless: Handler = (_, { outgoing }) => {
  const more = () => {
    while (!outgoing.destroyed && outgoing.write(Buffer.alloc(65_536)));
  };
  outgoing.on("drain", more);
  more();
};

const typed = (type: string) => ({ headers: { "content-type": type }, body: VIDEO });

test.each<[string, Script, string, number]>([
  ["403", { status: 403 }, "its host answered HTTP 403", 1],
  ["a part of the file", { status: 206, body: VIDEO }, "its host answered HTTP 206", 1],
  ["a cut download each time", mediaUntil(1_000, "cut"), "the connection was closed (UND_ERR_SOCKET)", 3],
  ["a page to sign in", typed("text/html; charset=utf-8"), "its link does not lead to a video", 1],
  ["an error", typed("Application/JSON"), "its link does not lead to a video", 1],
  ["a compressed file", { headers: { "content-encoding": "gzip" } }, "its host compresses the file", 1],
  ["an empty file", { headers: asVideo }, "the file is empty", 1],
  [
    "a great length",
    { headers: { "content-length": `${MAX_BYTES + 1}` } },
    "the file is larger than 1 MB",
    1,
  ],
  ["a file without an end", endless, "the file is larger than 1 MB", 1],
  ["redirects in a circle", redirect("/video.mp4"), "its link redirects more than 5 times", 6],
])(
  "nothing is saved, and the user reads why, if the host sends %s",
  async (_what, script, problem, requests) => {
    const { outcome, host } = await saveFrom(script, { limits: { maxBytes: MAX_BYTES } });

    expect(outcome).toEqual(notSaved(problem));
    expect(host.lines()).toHaveLength(requests);
    await until(() => host.connections() === 0);
  },
);

test("a proxy that stalls is given up", async () => {
  const proxy = await proxyServer("stall");
  const { outcome } = await saveFrom(media, { proxies: { http: proxy.url }, limits: { deadlineMs: 100 } });

  expect(outcome).toEqual(notSaved("it took too long"));
  await until(() => proxy.connections() === 0);
});

test("the user reads that the host of a video can't be reached", async () => {
  const host = await scriptedService();
  await host.close();
  const noHost = saving({ link: `${host.url}/video.mp4` });
  const noName = saving({ link: "https://media.example.com/video.mp4", lookup: unknownName });

  expect(await noHost.save()).toEqual(notSaved("connection refused (ECONNREFUSED)"));
  expect(await noName.save()).toEqual(notSaved("the host name could not be resolved (ENOTFOUND)"));
});

test.each([
  ["http://media.example.com/video.mp4", "its link does not stay on https"],
  ["file:///etc/passwd", "its link does not stay on https"],
  ["https://169.254.169.254/latest/meta-data", PRIVATE],
  ["https://user:password@127.0.0.1/video.mp4", "its link has a user name or a password"],
  ["https://", "its link is not a URL"],
])("even of a service on this computer no redirect to %s is followed", async (location, problem) => {
  const { outcome } = await saveFrom(redirect(location), { lookup: unknownName });

  expect(outcome).toEqual(notSaved(problem));
});

const PUBLIC = "https://videos.example.com";

test.each(["https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/"])(
  "of a service on the internet no video is taken from %s",
  async (link) => {
    const { save } = saving({ link, baseUrl: PUBLIC, lookup: publicBut("10.0.0.5") });

    expect(await save()).toEqual(notSaved(PRIVATE));
  },
);

test.each(["10.0.0.5", "127.0.0.1", "::1"])(
  "a public service can't name a video on a host that resolves to %s, even by proxy",
  async (address) => {
    const host = await scriptedService();
    const proxy = await proxyServer("tunnel");
    const link = `https://media.example.com:${new URL(host.url).port}/video.mp4`;
    const options = { link, baseUrl: PUBLIC, lookup: publicBut(address) };

    expect(await saving(options).save()).toEqual(notSaved(PRIVATE));
    expect(await saving({ ...options, proxies: { https: proxy.url } }).save()).toEqual(notSaved(PRIVATE));
    expect({ connections: host.connections(), asked: proxy.asked }).toEqual({ connections: 0, asked: [] });
  },
);

test("a name is looked up once, and what was checked is what is connected to", async () => {
  const host = await scriptedService({ "GET /video.mp4": media });
  const asked: string[] = [];
  const lookup: Lookup = async (hostname) => [
    { address: asked.push(hostname) === 1 ? "127.0.0.1" : "10.0.0.5", family: 4 },
  ];
  const { save } = saving({ link: `${host.url.replace("127.0.0.1", "media.localhost")}/video.mp4`, lookup });

  expect((await save()).files).toEqual(SAVED);
  expect(asked).toEqual(["media.localhost"]);
});

test.each([
  ["a service in a private network", ["10.1.2.3"], "127.0.0.1"],
  ["a service with a public and a private address", ["93.184.216.34", "10.1.2.3"], "10.1.2.4"],
  ["a service with a public and a loopback address", ["93.184.216.34", "127.0.0.1"], "127.0.0.1"],
  ["a service whose name resolves to loopback", ["127.0.0.1"], "127.0.0.1"],
  ["a service with a private and a loopback address", ["10.1.2.3", "127.0.0.1"], "10.1.2.4"],
])("of %s at %j no video is taken from %s", async (_what, service, media) => {
  const lookup: Lookup = async (hostname) =>
    (hostname === "videos.lan" ? service : [media]).map((address) => ({ address, family: 4 }));
  const { save } = saving({ link: "https://media.lan/video.mp4", baseUrl: "https://videos.lan", lookup });

  expect(await save()).toEqual(notSaved(PRIVATE));
});

test("a service with only private addresses may name a video on a private network", async () => {
  const proxy = await proxyServer(403);
  const lookup: Lookup = async () => ["10.1.2.3", "fd00::1"].map((address) => ({ address, family: 0 }));
  const link = "https://media.lan/video.mp4";

  await saving({ link, baseUrl: "https://videos.lan", lookup, proxies: { https: proxy.url } }).save();

  expect(proxy.asked.map(({ target }) => target)).toContain("media.lan:443");
});

/** The address of media.example.com. All other names are public ones, which are never connected to. */
function publicBut(address: string): Lookup {
  return async (hostname) => [
    { address: hostname === "media.example.com" ? address : "93.184.216.34", family: 0 },
  ];
}

async function unknownName(): Promise<never> {
  throw Object.assign(new Error("No such name"), { code: "ENOTFOUND" });
}
