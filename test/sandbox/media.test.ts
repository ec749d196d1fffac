import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { envelope, testSandbox } from "./fixture.ts";

const folder = new URL("../../src/sandbox/media/", import.meta.url);

async function load(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  return {
    status: response.status,
    type: response.headers.get("Content-Type"),
    length: Number(response.headers.get("Content-Length")),
    range: response.headers.get("Content-Range"),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

async function finished() {
  const sandbox = await testSandbox({ renderSeconds: 0 });
  const jobId = await sandbox.generate({ duration: 15 });
  return { sandbox, jobId, final: `${sandbox.url}/media/final/${jobId}.mp4` };
}

test("the five media files stream from the start and take less than 300 kB", async () => {
  const names = (await readdir(folder)).filter((name) => /\.(mp4|wav)$/.test(name)).sort();
  const files = await Promise.all(names.map((name) => readFile(new URL(name, folder))));

  const kinds = files.map((file) => {
    if (file.toString("latin1", 0, 4) === "RIFF") return file.toString("latin1", 8, 16);
    // Fast start: the index comes before the pictures, so that a player can begin at once.
    const fastStart = file.indexOf("moov") < file.indexOf("mdat");
    return [file.toString("latin1", 4, 8), fastStart, file.includes("avc1"), file.includes("mp4a")];
  });
  const movie = ["ftyp", true, true, true];
  expect(Object.fromEntries(names.map((name, i) => [name, kinds[i]]))).toEqual({
    "deep.mp4": movie,
    "final.mp4": movie,
    "rain.mp4": movie,
    "sea.mp4": movie,
    "voice.wav": "WAVEfmt ",
  });
  expect(files.reduce((sum, file) => sum + file.length, 0)).toBeLessThan(300_000);
});

test("the links of a job lead to whole files, without a key", async () => {
  const { sandbox, jobId, final } = await finished();
  await sandbox.post("/api/v1/publish", { jobId, platforms: ["tiktok"] });
  const urls = [
    `${sandbox.url}/media/clips/${jobId}/1.mp4`,
    `${sandbox.url}/media/clips/${jobId}/2.mp4`,
    final,
    `${sandbox.url}/media/posts/tiktok/${jobId}.mp4`,
    `${sandbox.url}/media/voice/${jobId}.wav`,
  ];

  const files = await Promise.all(urls.map((url) => load(url)));

  const movie = [200, "video/mp4", true, "ftyp"];
  const shapes = files.map(({ status, type, length, bytes }) => {
    const signature = /ftyp|RIFF/.exec(bytes.toString("latin1", 0, 8))?.[0];
    return [status, type, length === bytes.length, signature];
  });
  expect(shapes).toEqual([movie, movie, movie, movie, [200, "audio/wav", true, "RIFF"]]);
  const [first, second, whole, post] = files.map(({ bytes }) => bytes.toString("base64"));
  expect(new Set([first, second, whole]).size).toBe(3);
  expect(post === whole).toBe(true);
});

test("a media link answers 404 for an unknown job or file", async () => {
  const { sandbox, jobId } = await finished();
  const paths = [
    "final/unknown.mp4",
    `clips/${jobId}/3.mp4`,
    `clips/${jobId}/01.mp4`,
    `posts/tiktok/${jobId}.mp4`,
    "sea.mp4",
    "%2e%2e/sandbox.ts",
  ];

  const answers = await Promise.all(paths.map((path) => sandbox.get(`/media/${path}`)));

  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 404));
  expect(answers[0]?.body).toEqual(envelope("not_found", "No such file."));
});

test.each([
  ["bytes=0-99", 206, 0, 100],
  ["bytes=100-", 206, 100, undefined],
  // Invalid, or not supported.
  ["bytes=0-1,5-6", 200, 0, undefined],
  ["bytes=999999999-", 200, 0, undefined],
])("a file for the range %s is sent with %i", async (Range, status, first, end) => {
  const { final } = await finished();
  const whole = (await load(final)).bytes;

  const sent = await load(final, { headers: { Range } });

  const bytes = whole.subarray(first, end);
  const range = status === 200 ? null : `bytes ${first}-${first + bytes.length - 1}/${whole.length}`;
  expect(sent).toEqual({ status, type: "video/mp4", length: bytes.length, range, bytes });
});
