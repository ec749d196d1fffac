// Makes the sandbox's media in src/sandbox/media: three clips of 4 seconds, the final video of every job, and the
// voiceover. Run it with `npx tsx scripts/sandbox-media.ts`. It needs Debian's chromium, ffmpeg, espeak-ng and
// fonts-dejavu-core. The scenes are in sandbox-media/scenes.ts.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { launchBrowser } from "../test/checks/card/chat.ts";
import type { Layer, Scene } from "./sandbox-media/layer.ts";

const CLIP_SECONDS = 4;
const FADE_SECONDS = 0.5;
const CLIPS: readonly (readonly [Scene, string])[] = [
  ["sea", "A sandbox voiceover. Nothing was charged."],
  ["rain", "This is a sandbox clip. Your story goes here."],
  ["deep", "Just a sample. Your video comes later."],
];
const FINAL_SECONDS = CLIPS.length * (CLIP_SECONDS - FADE_SECONDS) + FADE_SECONDS;
const FINAL_WORDS =
  "This stands in for your final video. It is a sandbox: nothing was rendered, charged or posted.";
const VIDEO = "-pix_fmt yuv420p -c:v libx264 -profile:v high -preset veryslow -crf 32 -tune animation -g 240";
const AUDIO = "-c:a aac -b:a 20k -ac 1 -ar 22050";
/** Nothing about the machine, and the index first, so that a player begins at once. */
const PLAIN = "-bitexact -map_metadata -1 -movflags +faststart";

const folder = fileURLToPath(new URL("../src/sandbox/media/", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "faceless-media-"));
const browser = await launchBrowser();
const page = await browser.newPage();
const { output } = await build({
  input: fileURLToPath(new URL("sandbox-media/scenes.ts", import.meta.url)),
  platform: "browser",
  output: { format: "iife" },
  write: false,
});
await page.addScriptTag({ content: output[0].code });

for (const [scene, words] of CLIPS) {
  speak(words, `${scene}.wav`);
  await makeVideo(scene, CLIP_SECONDS, 24, (seconds) => [{ scene, seconds, opacity: 1 }]);
}
speak(FINAL_WORDS, "final.wav");
await makeVideo("final", FINAL_SECONDS, 20, (time) =>
  CLIPS.map(([scene], index) => {
    const seconds = time - index * (CLIP_SECONDS - FADE_SECONDS);
    return { scene, seconds, opacity: index === 0 ? 1 : Math.min(1, seconds / FADE_SECONDS) };
  }).filter(({ seconds }) => seconds >= 0 && seconds <= CLIP_SECONDS),
);
ffmpeg(["-i", join(work, "sea.wav")], "-c:a copy", PLAIN, join(folder, "voice.wav"));

await browser.close();
rmSync(work, { recursive: true });
for (const name of readdirSync(folder))
  process.stdout.write(`${name} ${statSync(join(folder, name)).size}\n`);

/** With the sound NAME.wav of the working folder. */
async function makeVideo(
  name: string,
  seconds: number,
  framesPerSecond: number,
  layersAt: (seconds: number) => readonly Layer[],
): Promise<void> {
  for (let frame = 0; frame < seconds * framesPerSecond; frame++) {
    const url = await page.evaluate<string>(`draw(${JSON.stringify(layersAt(frame / framesPerSecond))})`);
    writeFileSync(join(work, `${frame}.png`), Buffer.from(url.split(",")[1] ?? "", "base64"));
  }
  const inputs = [
    "-framerate",
    `${framesPerSecond}`,
    "-i",
    join(work, "%d.png"),
    "-i",
    join(work, `${name}.wav`),
  ];
  ffmpeg(inputs, `-t ${seconds}`, VIDEO, AUDIO, PLAIN, join(folder, `${name}.mp4`));
}

/** Speech without silence around it, as a file of the working folder. */
function speak(words: string, name: string): void {
  const raw = join(work, "raw.wav");
  execFileSync("espeak-ng", ["-v", "en-us+f3", "-s", "185", "-w", raw, words]);
  const trim = "silenceremove=start_periods=1:start_threshold=-45dB,areverse";
  ffmpeg(["-i", raw], `-af ${trim},${trim},loudnorm=I=-18:TP=-2 -ac 1 -ar 8000`, join(work, name));
}

function ffmpeg(inputs: readonly string[], ...options: readonly string[]): void {
  const words = options.slice(0, -1).flatMap((option) => option.split(" "));
  execFileSync("ffmpeg", ["-loglevel", "error", "-y", ...inputs, ...words, ...options.slice(-1)], {
    stdio: "inherit",
  });
}
