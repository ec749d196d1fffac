// Makes the sandbox's media in src/sandbox/media: a clip for each scene, the final video of every job, and its
// voiceover. Run it with `npm run media` in scripts/pictures; it draws for about ten minutes. It needs Debian's chromium,
// ffmpeg, festival and festvox-us-slt-hts. The scenes are in sandbox-media/scenes.ts.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { TOPIC } from "../../src/commands/demo.ts";
import { launchBrowser } from "../../test/external/card/chat.ts";
import { FONT_STYLE } from "./product-font.ts";

/** Lines of the demo's topic, without their pictures in brackets. */
const [first, second, third, , , , seventh, eighth] = TOPIC.split("\n").map((line) =>
  line.replace(/ \[.*\]/, ""),
);
const SCENES = { river: first, rain: second, cloud: third, deep: `${seventh} ${eighth}` };
const WIDTH = 360;
const HEIGHT = 640;
const FRAMES_PER_SECOND = 20;
const PAUSE_SECONDS = 0.35;
/** Each line begins when its picture fades in. */
const FADE_SECONDS = 0.4;

const X264 = "-pix_fmt yuv420p -c:v libx264 -profile:v high -preset veryslow -g 300 -aq-mode 3";
/** Takes out the flicker that costs most bytes. */
const CALM = "hqdn3d=2:2:5:5";
const FINAL_QUALITY = "-crf 42";
/** Clips are shown small. */
const CLIP_QUALITY = `-vf ${CALM},scale=252:448 -crf 38 -t 2.5 -an`;
const AAC = "-c:a aac -b:a 24k -ac 1 -ar 24000";
/** One byte a sample; all players know it. */
const MULAW = "-c:a pcm_mulaw -ac 1 -ar 16000";
/** Nothing about the machine, and the index first, so that a player begins at once. */
const PLAIN = "-bitexact -map_metadata -1 -movflags +faststart";
/** Warmer and closer than the synthesiser: fewer sibilants, an even level, a small room. */
const WARM =
  "highpass=f=70,equalizer=f=190:t=q:w=1:g=3,equalizer=f=6800:t=q:w=1.2:g=-6,acompressor=threshold=-20dB:ratio=3:attack=8:release=160:makeup=2,aecho=0.9:0.25:38|61:0.16|0.1,loudnorm=I=-17:TP=-2";
/** A quiet open chord, as if far away. */
const CHORD =
  "0.035*(sin(2*PI*110*t)+0.8*sin(2*PI*164.8*t)+0.6*sin(2*PI*220.6*t)+0.35*sin(2*PI*329.2*t)+0.2*sin(2*PI*493.9*t))*(0.75+0.25*sin(0.9*t))";

const folder = fileURLToPath(new URL("../../src/sandbox/media/", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "faceless-media-"));
const inWork = (name: string) => join(work, name);

const shots = Object.entries(SCENES).map(([scene, words = ""]) => {
  speak(words, inWork(`${scene}.wav`));
  return { scene, seconds: durationOf(inWork(`${scene}.wav`)) + FADE_SECONDS };
});
await draw();
for (const { scene } of shots)
  ffmpeg(
    ["-framerate", `${FRAMES_PER_SECOND}`, "-i", framesOf(scene)],
    X264,
    CLIP_QUALITY,
    PLAIN,
    join(folder, `${scene}.mp4`),
  );
narrate();
compose();
rmSync(work, { recursive: true });
for (const name of readdirSync(folder))
  process.stdout.write(`${name} ${statSync(join(folder, name)).size}\n`);

async function draw(): Promise<void> {
  const { output } = await build({
    input: fileURLToPath(new URL("sandbox-media/scenes.ts", import.meta.url)),
    platform: "browser",
    output: { format: "iife" },
    write: false,
  });
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.addStyleTag({ content: FONT_STYLE });
  await page.addScriptTag({ content: output[0].code });
  await page.evaluate('document.fonts.load("600 20px Inter").then(() => {})');
  for (const { scene, seconds } of shots) {
    await page.evaluate(`globalThis.drawAt = prepare(${JSON.stringify(scene)}, ${WIDTH}, ${HEIGHT})`);
    for (let frame = 0; frame < seconds * FRAMES_PER_SECOND; frame++) {
      const url = await page.evaluate<string>(`drawAt(${frame / FRAMES_PER_SECOND})`);
      const path = framesOf(scene).replace("%d", `${frame}`);
      writeFileSync(path, Buffer.from(url.split(",")[1] ?? "", "base64"));
    }
  }
  await browser.close();
}

function framesOf(scene: string): string {
  return inWork(`${scene}-%d.png`);
}

/** Speech without silence around it. */
function speak(words: string, path: string): void {
  const raw = inWork("raw.wav");
  execFileSync("text2wave", ["-eval", "(voice_cmu_us_slt_arctic_hts)", "-o", raw], { input: words });
  const trim = "silenceremove=start_periods=1:start_threshold=-45dB,areverse";
  ffmpeg(["-i", raw], `-af ${trim},${trim},apad=pad_dur=${PAUSE_SECONDS} -ac 1 -ar 32000`, path);
}

/** All lines, each as long after the one before as its picture. The voiceover file has the first one. */
function narrate(): void {
  const lines = shots.flatMap(({ scene }) => ["-i", inWork(`${scene}.wav`)]);
  ffmpeg([...lines, "-filter_complex", `concat=n=${shots.length}:v=0:a=1,${WARM}`], "", inWork("voice.wav"));
  const firstLine = `-t ${durationOf(inWork(`${shots[0]?.scene}.wav`))}`;
  ffmpeg(["-i", inWork("voice.wav")], firstLine, MULAW, PLAIN, join(folder, "voice.wav"));
}

/** The scenes, each faded into the next, with voice and chord. */
function compose(): void {
  const frames = shots.flatMap(({ scene }) => ["-framerate", `${FRAMES_PER_SECOND}`, "-i", framesOf(scene)]);
  let shown = "[0]";
  let seconds = 0;
  const fades = shots.slice(1).map((_, index) => {
    seconds += (shots[index]?.seconds ?? 0) - FADE_SECONDS;
    const from = shown;
    shown = `[v${index}]`;
    return `${from}[${index + 1}]xfade=duration=${FADE_SECONDS}:offset=${seconds}${shown}`;
  });
  seconds += shots.at(-1)?.seconds ?? 0;
  const chord = `aevalsrc='${CHORD}':d=${seconds},afade=d=1.5,afade=t=out:st=${seconds - 1.5}:d=1.5[chord]`;
  const mix = `[${shots.length}]apad[voice];[voice][chord]amix=duration=shortest:normalize=0[sound]`;
  const calm = `${shown}${CALM},scale=324:576[calm]`;
  const graph = [...fades, calm, chord, mix].join(";");
  const inputs = [
    ...frames,
    "-i",
    inWork("voice.wav"),
    "-filter_complex",
    graph,
    "-map",
    "[calm]",
    "-map",
    "[sound]",
  ];
  ffmpeg(inputs, X264, FINAL_QUALITY, AAC, `-t ${seconds}`, PLAIN, join(folder, "final.mp4"));
}

function durationOf(path: string): number {
  const answer = ["-show_entries", "format=duration", "-of", "csv=p=0"];
  return Number(execFileSync("ffprobe", ["-loglevel", "error", ...answer, path], { encoding: "utf8" }));
}

function ffmpeg(inputs: readonly string[], ...options: readonly string[]): void {
  const words = options
    .slice(0, -1)
    .flatMap((option) => option.split(" "))
    .filter((word) => word !== "");
  execFileSync("ffmpeg", ["-loglevel", "error", "-y", ...inputs, ...words, ...options.slice(-1)], {
    stdio: "inherit",
  });
}
