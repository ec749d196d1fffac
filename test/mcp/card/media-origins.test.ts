// Which origins the card may play from, with a list that comes when the test says so.

import { expect, it } from "vitest";
import { JobStore } from "../../../src/jobs/job-store.ts";
import { MediaOrigins } from "../../../src/mcp/card/media-origins.ts";
import type { Video } from "../../../src/service/answers.ts";
import { createVirtualClock } from "../../bench/virtual-clock.ts";
import { job } from "../../jobs/polled-service.ts";

const OWN = "https://videos.example";
const log = { debug() {}, info() {}, warn() {}, error() {} };

function setUp(listVideos: () => Promise<{ videos: Video[] }>, origin = () => Promise.resolve(OWN)) {
  const jobs = new JobStore(createVirtualClock(0));
  const requests: unknown[] = [];
  const origins = new MediaOrigins({
    service: {
      origin,
      listVideos: (query, options) => {
        requests.push([query, options?.deadlineMs]);
        return listVideos();
      },
    },
    jobs,
    folder: undefined,
    log,
  });
  return { jobs, origins, requests };
}

const video = (finalVideoUrl: string): Video => ({
  jobId: finalVideoUrl,
  status: "completed",
  finalVideoUrl,
});

it("names the service first, then the newest videos, by one request that ends in 1.5 s", async () => {
  const videos = [
    video("https://a.example/1.mp4"),
    video("https://b.example/2.mp4"),
    video("https://a.example/3"),
  ];
  const { origins, requests } = setUp(() => Promise.resolve({ videos }));

  expect(await origins.list()).toEqual([OWN, "https://a.example", "https://b.example"]);
  expect(requests).toEqual([[{}, 1_500]]);
});

it("names what is known where the list fails, and nothing of a service that can't be reached", async () => {
  const { jobs, origins } = setUp(
    () => Promise.reject(new Error("down")),
    () => Promise.reject(new Error("not set up")),
  );
  jobs.put(job("a", { videoUrls: ["https://clips.example/1.mp4"], audioUrl: "https://voice.example/1.wav" }));

  expect(await origins.list()).toEqual(["https://clips.example", "https://voice.example"]);
});

it("names at most twelve beside the service's", async () => {
  const videos = Array.from({ length: 20 }, (_, index) => video(`https://${index}.example/`));
  const { origins } = setUp(() => Promise.resolve({ videos }));

  expect(await origins.list()).toHaveLength(13);
});

it.each([
  "https://a;b.example/",
  "https://*.example/",
  "https://a,b.example/",
  "https://'self'.example/",
  "data:video/mp4,x",
  "no link",
])("leaves out %j, which would say something else in a policy", async (link) => {
  const { origins } = setUp(() => Promise.resolve({ videos: [video(link)] }));

  expect(await origins.list()).toEqual([OWN]);
});
