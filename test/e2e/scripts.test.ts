// The script of docs/SCRIPTS.md, as a user copies it: in an empty home, started as cron does.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, PUBLISH } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";

const DOCUMENT = readFileSync("docs/SCRIPTS.md", "utf8");
const isUnix = process.platform !== "win32";
const hasPrograms = isUnix && spawnSync("jq", ["--version"]).error === undefined;

/** The script that the document prints after these words. */
function scriptAfter(words: string): string {
  return /```sh\n([^]*?)```/.exec(DOCUMENT.slice(DOCUMENT.indexOf(words)))?.[1] ?? "";
}

/** A user's folder with the script and settings, for a service that makes each video at once. */
async function scriptsOfUser() {
  let orders = 0;
  const rest = await scriptedService({
    [GENERATE]: () => {
      const jobId = JOB_ID.replace(/.{4}$/, String(1000 + ++orders));
      const finalVideoUrl = `https://media.example/${orders}.mp4`;
      rest.on(`GET /api/v1/status/${jobId}`, { json: { status: "completed", videoUrls: [], finalVideoUrl } });
      return { json: { jobId, status: "processing" } };
    },
    [PUBLISH]: ({ json }) => {
      const { platforms }: { platforms: string[] } = Object(json);
      const results = platforms.map((platform) => ({
        platform,
        ok: true,
        url: `https://${platform}.example/1`,
      }));
      return { json: { results } };
    },
  });
  const [home, folder] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(home, ".faceless-video-mcp/app"), { recursive: true });
  writeFileSync(join(home, ".faceless-video-mcp/app/bin.cjs"), `require(${JSON.stringify(BUILT_FILE)})`);
  writeFileSync(
    join(folder, "settings"),
    `FACELESS_BASE_URL=${rest.url}\nFACELESS_API_KEY=${KEY}\nFACELESS_POLL_SECONDS=0.1\n`,
  );
  writeFileSync(join(folder, "video.sh"), scriptAfter("Write `video.sh`"));
  chmodSync(join(folder, "video.sh"), 0o700);
  const env = { HOME: home, PATH: `${dirname(SERVER_NODE)}:${process.env["PATH"]}` };
  return {
    rest,
    write: (name: string, text: string) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    },
    remove: (name: string) => rmSync(join(folder, name)),
    start: (script: string, ...args: string[]) => run(join(folder, script), args, { env }),
    sent: () => [GENERATE, PUBLISH].map((route) => rest.lines(route).length),
  };
}

test.runIf(hasPrograms)(
  "video.sh pays and posts once, says what is missing or misspelt, and loses no video",
  async () => {
    const { write, remove, start, sent } = await scriptsOfUser();
    // The local day, as `date` gives it.
    const day = spawnSync("date", ["+%F"], { encoding: "utf8" }).stdout.trim();
    const topic = `topics/${day}.txt`;

    for (const action of [["mkae"], []])
      expect(await start("video.sh", ...action)).toEqual({
        code: 2,
        stdout: "",
        stderr: "Usage: video.sh make or video.sh post\n",
      });
    expect(await start("video.sh", "post")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`There is no video for ${day}, so nothing was posted.`),
    });
    expect(await start("video.sh", "make")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`there is no file "${topic}"`),
    });
    write(topic, "Rain salts the sea. It takes salt from every rock that it meets on its way down.");
    expect((await start("video.sh", "make")).code).toBe(0);
    expect((await start("video.sh", "make")).code).toBe(0);
    remove(topic);
    expect((await start("video.sh", "make")).code).toBe(2);
    for (const posted of ["posted", "posted before"]) {
      const { code, stdout } = await start("video.sh", "post");
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining(`TikTok: ${posted}  https://tiktok.example/1`),
      ]);
    }
    expect(sent()).toEqual([1, 1]);
  },
);
