// What can go wrong while a finished video is downloaded, over real HTTP: what is left on disk, and what the user is told.

import { expect, describe, test } from "vitest";
import type { Lookup } from "../../src/saved-videos/download.ts";
import { type Handler, type Script, scriptedService } from "../fixtures/scripted-service.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { until } from "../fixtures/until.ts";
import { FILE_NAME, filesIn, media, mediaUntil, saving, type SavingOptions, VIDEO } from "./saving.ts";
import { proxyServer } from "../service/proxy-server.ts";

const VIDEO_PATH = "GET /video.mp4";
const SAVED = { [FILE_NAME]: "the video" };
const ATTEMPTS = 3;

/** Saves a video from a host with this script. */
async function saveFrom(script: Script, options: Partial<SavingOptions> = {}) {
  const host = await scriptedService({ [VIDEO_PATH]: script });
  const { save, ...rest } = saving({ link: `${host.url}/video.mp4`, ...options });
  return { host, outcome: await save(), ...rest };
}

/** What the user is told of a video that could not be saved, with nothing left behind. */
const notSaved = (problem: string) => ({
  said: `It could not be saved on this computer: ${problem}. A later get_video_status tries again.`,
  files: {},
});

const redirect = (location: string) => ({ status: 302, headers: { location } });

describe("a video is saved whole", () => {
  test("from its link, by a request that has neither key nor cookie", async () => {
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

  test("from where five redirects lead", async () => {
    const redirects = [1, 2, 3, 4, 5].map((n) => redirect(`?hop=${n}`));
    const { outcome } = await saveFrom([...redirects, media]);

    expect(outcome.files).toEqual(SAVED);
  });

  test.each([
    ["MP4", "video/mp4", Buffer.from("\0\0\0\x18ftypmp42\0\0\0\0mp42isom")],
    ["WebM that its host calls a web page", "text/html", Buffer.from("1a45dfa39f4286810142f78101", "hex")],
    ["unknown bytes without a type", "", Buffer.from("a1b2c3d4e5f600", "hex")],
  ])("as %s", async (_what, type, body) => {
    const { outcome } = await saveFrom({ headers: { "content-type": type }, body });

    expect(outcome.files).toEqual({ [FILE_NAME]: body.toString("latin1") });
  });

  test("though its first packet alone could be text", async () => {
    const folder = temporaryFolder();
    const script: Handler = async (_, { outgoing }) => {
      outgoing.write("G");
      await until(() => Object.values(filesIn(folder)).includes("G"));
      outgoing.end("\0");
    };
    const { outcome } = await saveFrom(script, { folder });

    expect(outcome.files).toEqual({ [FILE_NAME]: "G\0" });
  });

  test("after it was cut and after it stalled: each request asks for the whole, and nothing of an earlier answer stays", async () => {
    const script = [mediaUntil(70_000, "cut"), mediaUntil(100_000, "stall"), media];
    const { outcome, host } = await saveFrom(script, { limits: { stallMs: 20 } });

    expect(outcome.files).toEqual(SAVED);
    expect(host.requests.map(({ headers }) => headers.range)).toEqual([undefined, undefined, undefined]);
  });

  test("when the host is overloaded for a moment", async () => {
    const { outcome } = await saveFrom([{ status: 503 }, { status: 429 }, media]);

    expect(outcome.files).toEqual(SAVED);
  });

  test("through the proxy, which sees the host alone and may be the only one to know its name", async () => {
    const proxy = await proxyServer("tunnel");
    const host = await scriptedService({ [VIDEO_PATH]: media });
    const link = `${host.url.replace("127.0.0.1", "localhost")}/video.mp4`;

    const { save } = saving({ link, proxies: { http: proxy.url }, lookup: unknownName });

    expect((await save()).files).toEqual(SAVED);
    expect(proxy.asked).toEqual([{ target: new URL(link).host, authorization: undefined }]);
    expect(proxy.received()).not.toContain("video.mp4");
  });
});

describe("nothing is left on disk, and the user reads why, if", () => {
  test.each([403, 404, 410])("the host answers %i, which is not asked again", async (status) => {
    const { outcome, host } = await saveFrom({ status });

    expect(outcome).toEqual(notSaved(`its host answered HTTP ${status}`));
    expect(host.lines()).toHaveLength(1);
  });

  test("the host answers 500 each time", async () => {
    const { outcome, host } = await saveFrom({ status: 500 });

    expect(outcome).toEqual(notSaved("its host answered HTTP 500"));
    expect(host.lines()).toHaveLength(ATTEMPTS);
  });

  test("it is cut each time", async () => {
    const { outcome, host } = await saveFrom(mediaUntil(1_000, "cut"));

    expect(outcome).toEqual(notSaved("the connection was closed (UND_ERR_SOCKET)"));
    expect(host.lines()).toHaveLength(ATTEMPTS);
  });

  test("no host is there", async () => {
    const host = await scriptedService();
    await host.close();

    expect(await saving({ link: `${host.url}/video.mp4` }).save()).toEqual(
      notSaved("connection refused (ECONNREFUSED)"),
    );
  });

  test("no host has its name", async () => {
    expect(await saving({ link: "https://media.example.com/video.mp4", lookup: unknownName }).save()).toEqual(
      notSaved("the host name could not be resolved (ENOTFOUND)"),
    );
  });

  test.each([
    ["before the answer", "hang", "the answer took too long"],
    ["in the middle", mediaUntil(1_000, "stall"), "the answer stopped arriving"],
  ] as const)("the host stalls each time, %s", async (_when, script, problem) => {
    const { outcome, host } = await saveFrom(script, { limits: { stallMs: 20 } });

    expect(outcome).toEqual(notSaved(problem));
    await until(() => host.connections() === 0);
  });

  test("the proxy stalls", async () => {
    const proxy = await proxyServer("stall");
    const { outcome } = await saveFrom(media, { proxies: { http: proxy.url }, limits: { deadlineMs: 100 } });

    expect(outcome).toEqual(notSaved("it took too long"));
    await until(() => proxy.connections() === 0);
  });

  test("it trickles on past the time for the whole", async () => {
    const { outcome } = await saveFrom(
      (_, { outgoing }) => {
        const trickle = setInterval(() => outgoing.write("x"), 5);
        outgoing.on("close", () => clearInterval(trickle));
      },
      { limits: { deadlineMs: 100 } },
    );

    expect(outcome).toEqual(notSaved("it took too long"));
  });

  test("its length says that it is too large, before a byte of it is taken", async () => {
    const { outcome } = await saveFrom(
      { headers: { "content-length": String(1024 * 1024 + 1) } },
      { limits: { maxBytes: 1024 * 1024 } },
    );

    expect(outcome).toEqual(notSaved("the file is larger than 1 MB"));
  });

  test("it has no length and no end", async () => {
    let sent = 0;
    const { outcome, host } = await saveFrom(
      (_, { outgoing }) => {
        const more = () => {
          sent += 65_536;
          return !outgoing.destroyed && outgoing.write(Buffer.alloc(65_536));
        };
        outgoing.on("drain", () => {
          while (more());
        });
        while (more());
      },
      { limits: { maxBytes: 1024 * 1024 } },
    );

    expect(outcome).toEqual(notSaved("the file is larger than 1 MB"));
    await until(() => host.connections() === 0);
    expect(host.lines()).toHaveLength(1);
    expect(sent).toBeGreaterThan(1024 * 1024);
  });

  test.each([
    ["a web page", "\ufeff\n<!DOCTYPE html><title>Sign in</title>"],
    ["a web page", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">${"é".repeat(1_000)}`],
    ["an XML document", '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>'],
    ["JSON", '{"error":"expired"}'],
    ["text", "Not here.\r\n"],
  ])("its link leads to %s that its host calls a video: %j", async (found, body) => {
    const { outcome } = await saveFrom({ headers: { "content-type": "video/mp4" }, body });

    expect(outcome).toEqual(notSaved(`its link leads to ${found}, not to a video`));
  });

  test("it has text without an end, which is not read on", async () => {
    const { outcome, host } = await saveFrom((_, { outgoing }) => void outgoing.write("x".repeat(1_000)));

    expect(outcome).toEqual(notSaved("its link leads to text, not to a video"));
    await until(() => host.connections() === 0);
  });

  test.each([
    ["an image", "image/png"],
    ["sound", "Audio/mpeg"],
  ])("its host says that it is %s", async (found, type) => {
    const { outcome } = await saveFrom({ headers: { "content-type": type }, body: VIDEO });

    expect(outcome).toEqual(notSaved(`its link leads to ${found}, not to a video`));
  });

  test("it is compressed or empty", async () => {
    const compressed = await saveFrom({ headers: { "content-encoding": "gzip" }, body: "x" });
    const empty = await saveFrom({ headers: { "content-type": "video/mp4" } });

    expect(compressed.outcome).toEqual(notSaved("its host compresses the file"));
    expect(empty.outcome).toEqual(notSaved("the file is empty"));
  });

  test("its link redirects in a circle", async () => {
    const { outcome, host } = await saveFrom(redirect("/video.mp4"));

    expect(outcome).toEqual(notSaved("its link redirects more than 5 times"));
    expect(host.lines()).toHaveLength(6);
  });

  test.each([
    ["http://media.example.com/video.mp4", "its link does not stay on https"],
    ["file:///etc/passwd", "its link does not stay on https"],
    ["ftp://127.0.0.1/video.mp4", "its link does not stay on https"],
    ["https://169.254.169.254/latest/meta-data", "its link leads to a private address"],
    ["https://[fe80::1]/video.mp4", "its link leads to a private address"],
    ["https://[::ffff:169.254.169.254]/", "its link leads to a private address"],
    ["https://0.0.0.0/video.mp4", "its link leads to a private address"],
    ["https://user:password@127.0.0.1/video.mp4", "its link has a user name or a password"],
    ["https://", "its link is not a URL"],
    ["", "its link redirects more than 5 times"],
  ])("it is redirected to %s", async (location, problem) => {
    const { outcome } = await saveFrom(redirect(location), { lookup: noLookup });

    expect(outcome).toEqual(notSaved(problem));
  });
});

describe("of a service on the internet, no video is taken from", () => {
  const PUBLIC = "https://videos.example.com";

  test.each([
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://10.0.0.5/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://100.64.0.1/",
    "https://[fd00::1]/",
    "https://169.254.169.254/",
  ])("the private address in %s", async (link) => {
    expect(await saving({ link, baseUrl: PUBLIC, lookup: toPublicAddress }).save()).toEqual(
      notSaved("its link leads to a private address"),
    );
  });

  test.each([["10.0.0.5"], ["127.0.0.1"], ["169.254.169.254"], ["::1"], ["fd00::1"], ["::ffff:192.168.0.1"]])(
    "a name that resolves to %s, and nothing is connected to",
    async (address) => {
      const host = await scriptedService();
      const lookup: Lookup = async (hostname) =>
        hostname === "media.example.com" ? [{ address, family: 0 }] : toPublicAddress(hostname);
      const link = `https://media.example.com:${new URL(host.url).port}/video.mp4`;

      expect(await saving({ link, baseUrl: PUBLIC, lookup }).save()).toEqual(
        notSaved("its link leads to a private address"),
      );
      expect(host.connections()).toBe(0);
    },
  );

  test("this computer over plain http, though something there would answer", async () => {
    const { outcome, host } = await saveFrom(media, { baseUrl: PUBLIC, lookup: toPublicAddress });

    expect(outcome).toEqual(notSaved("its link does not stay on https"));
    expect(host.lines()).toEqual([]);
  });

  test.each([
    ["a private address", "https://10.0.0.5/"],
    ["a name that resolves to one", "https://intranet.example.com/"],
  ])("%s through the proxy either", async (_what, link) => {
    const proxy = await proxyServer("tunnel");
    const lookup: Lookup = async (hostname) =>
      hostname === "intranet.example.com" ? [{ address: "10.0.0.5", family: 4 }] : toPublicAddress(hostname);

    const { save } = saving({ link, baseUrl: PUBLIC, lookup, proxies: { https: proxy.url } });
    expect(await save()).toEqual(notSaved("its link leads to a private address"));
    expect(proxy.asked).toEqual([]);
  });
});

test("of a service in a private network, a video is not taken from this computer", async () => {
  const lookup: Lookup = async (hostname) => [
    { address: hostname === "videos.lan" ? "10.1.2.3" : "127.0.0.1", family: 4 },
  ];
  const link = "https://media.lan/video.mp4";

  expect(await saving({ link, baseUrl: "https://videos.lan", lookup }).save()).toEqual(
    notSaved("its link leads to a private address"),
  );
});

/** Of an address that is only asked about, never connected to. */
const toPublicAddress: Lookup = async () => [{ address: "93.184.216.34", family: 4 }];

const unknownName: Lookup = () =>
  Promise.reject(Object.assign(new Error("No such name"), { code: "ENOTFOUND" }));

const noLookup: Lookup = () => {
  throw new Error("No name had to be looked up.");
};
