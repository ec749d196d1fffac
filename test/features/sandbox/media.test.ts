import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { testSandbox } from "./fixture.ts";

const folder = new URL("../../../src/sandbox/media/", import.meta.url);

async function finished() {
  const sandbox = await testSandbox({ renderSeconds: 0 });
  const jobId = await sandbox.generate({ duration: 30 });
  return { sandbox, jobId, final: `${sandbox.url}/media/final/${jobId}.mp4` };
}

test("the media files stream from the start and take less than 400 kB", async () => {
  const names = (await readdir(folder)).filter((name) => /\.(mp4|wav)$/.test(name)).sort();
  const files = await Promise.all(names.map((name) => readFile(new URL(name, folder))));

  const kinds = files.map((file) => {
    const index = file.indexOf("moov");
    if (index === -1) return file.toString("latin1", 0, 4);
    // The index comes before the pictures, so that a player can begin at once.
    const start = index < file.indexOf("mdat") ? "streams" : "waits for the end";
    return [start, ...["avc1", "mp4a"].filter((codec) => file.includes(codec))].join(" ");
  });
  expect(Object.fromEntries(names.map((name, i) => [name, kinds[i]]))).toEqual({
    "cloud.mp4": "streams avc1",
    "deep.mp4": "streams avc1",
    "final.mp4": "streams avc1 mp4a",
    "rain.mp4": "streams avc1",
    "river.mp4": "streams avc1",
    "voice.wav": "RIFF",
  });
  expect(files.reduce((sum, file) => sum + file.length, 0)).toBeLessThan(400_000);
});

test("the links of a finished job lead to files and need no key", async () => {
  const { sandbox, jobId, final } = await finished();
  const clips = [1, 2, 3, 4].map((clip) => `${sandbox.url}/media/clips/${jobId}/${clip}.mp4`);
  const links = [...clips, final, `${sandbox.url}/media/voice/${jobId}.wav`];

  const answers = await Promise.all(links.map((link) => fetch(link)));

  const types = answers.map(({ status, headers }) => `${status} ${headers.get("Content-Type")}`);
  expect(types).toEqual([...Array.from({ length: 5 }, () => "200 video/mp4"), "200 audio/wav"]);
  const files = await Promise.all(answers.map((answer) => answer.text()));
  expect(new Set(files).size).toBe(links.length);
});

test("a media link to an unknown job or file isn't found", async () => {
  const { sandbox, jobId } = await finished();
  const files = ["final/unknown.mp4", `clips/${jobId}/5.mp4`, `clips/${jobId}/01.mp4`, `clips/${jobId}.mp4`];
  const paths = [...files, "posts/tiktok/unknown.mp4", "river.mp4", "%2e%2e/sandbox.ts"];

  const answers = await Promise.all(paths.map((path) => sandbox.get(`/media/${path}`)));

  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 404));
});

test.each([
  ["bytes=0-1", 206, 0, 2],
  ["bytes=100-", 206, 100, undefined],
  ["bytes=-100", 206, -100, undefined],
  // Invalid, or not supported.
  ["bytes=0-1,5-6", 200, 0, undefined],
])("the range %s is answered with %i", async (Range, status, start, end) => {
  const { final } = await finished();
  const whole = await readFile(new URL("final.mp4", folder));

  const sent = await fetch(final, { headers: { Range } });

  const bytes = whole.subarray(start, end);
  const first = whole.indexOf(bytes);
  const range = status === 200 ? null : `bytes ${first}-${first + bytes.length - 1}/${whole.length}`;
  expect([sent.status, sent.headers.get("Content-Range")]).toEqual([status, range]);
  expect(bytes.equals(Buffer.from(await sent.arrayBuffer()))).toBe(true);
});
