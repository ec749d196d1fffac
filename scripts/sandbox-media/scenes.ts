// Draws the sandbox's clips in a browser: three scenes of how salt comes into the sea, in flat shapes, which take
// few bytes as video. Pure functions of the time: each frame is the same in every run.

import type { Layer, Scene } from "./layer.ts";

const WIDTH = 360;
const HEIGHT = 640;
const canvas = document.createElement("canvas");
canvas.width = WIDTH;
canvas.height = HEIGHT;
const g = contextOf(canvas);

function contextOf(target: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = target.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("This browser draws no canvas.");
  return context;
}

/** A number from 0 to 1 that looks random, the same in every run. */
function random(seed: number, index: number): number {
  const x = Math.sin((index + 1) * 12.9898 + seed * 78.233) * 43758.5453;
  return x - Math.floor(x);
}

/** So many numbers from 0 on. */
function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** From top to bottom, at equal distances. */
function gradient(colours: readonly string[], from = 0, to = HEIGHT): CanvasGradient {
  const fill = g.createLinearGradient(0, from, 0, to);
  for (const [index, colour] of colours.entries()) fill.addColorStop(index / (colours.length - 1), colour);
  return fill;
}

/** Light of this colour, `#rrggbb`. */
function glow(x: number, y: number, radius: number, colour: string): void {
  const fill = g.createRadialGradient(x, y, 0, x, y, radius);
  fill.addColorStop(0, `${colour}aa`);
  fill.addColorStop(1, `${colour}00`);
  g.fillStyle = fill;
  g.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
}

/** Fills what lies below the line `heightAt(x)`. */
function below(heightAt: (x: number) => number, fill: string): void {
  g.fillStyle = fill;
  g.beginPath();
  g.moveTo(-10, HEIGHT + 10);
  for (let x = -10; x <= WIDTH + 10; x += 3) g.lineTo(x, heightAt(x));
  g.lineTo(WIDTH + 10, HEIGHT + 10);
  g.fill();
}

function ellipse(x: number, y: number, width: number, height: number, fill: string): void {
  g.fillStyle = fill;
  g.beginPath();
  g.ellipse(x, y, width, height, 0, 0, 2 * Math.PI);
  g.fill();
}

/** A ridge of mountains, from sines that share no period. */
function ridge(seed: number, y: number, height: number): (x: number) => number {
  const phase = (index: number) => random(seed, index) * 9;
  return (x) =>
    y -
    height *
      (0.5 * Math.abs(Math.sin(x / 71 + phase(0))) +
        0.3 * Math.abs(Math.sin(x / 37 + phase(1))) +
        0.14 * Math.sin(x / 17 + phase(2)) +
        0.06 * Math.sin(x / 7 + phase(3)));
}

/** The sun sets behind a sea. */
function sea(t: number): void {
  g.fillStyle = gradient(["#2b1a4f", "#7a2f6b", "#e0605a", "#ffb35c", "#ffe0a0"], 0, 370);
  g.fillRect(0, 0, WIDTH, HEIGHT);
  const sun = { x: 180, y: 306 + t * 3 };
  glow(sun.x, sun.y, 230, "#fff0b8");
  ellipse(sun.x, sun.y, 74, 74, "#fff3cf");
  for (const index of range(5)) {
    const number = random(5, index);
    const x = ((number * 560 + t * (5 + index * 2)) % 640) - 130;
    const y = 130 + index * 34;
    const fill = `rgba(255, 214, 190, ${0.16 + 0.05 * index})`;
    ellipse(x, y, 88, 7, fill);
    ellipse(x + 40, y - 7, 52, 7, fill);
  }
  for (const [index, x] of [92, 128, 236].entries()) {
    const flap = Math.sin(t * 5 + index * 2) * 5;
    g.strokeStyle = "#3a1b4acc";
    g.lineWidth = 2.5;
    g.beginPath();
    const y = 206 + index * 17 - t * 3;
    g.moveTo(x + t * 9 - 12, y - flap);
    g.quadraticCurveTo(x + t * 9 - 4, y - 5, x + t * 9, y);
    g.quadraticCurveTo(x + t * 9 + 4, y - 5, x + t * 9 + 12, y - flap);
    g.stroke();
  }
  const water = ["#c65a66", "#a04468", "#7a3268", "#562661", "#3a1c54", "#241343"];
  for (const [index, colour] of water.entries()) {
    const y = 352 + index * index * 7.4 + index * 10;
    const speed = (index % 2 === 0 ? 1 : -1) * (12 + index * 7);
    const size = 2 + index * 2.2;
    below(
      (x) =>
        y +
        size * Math.sin((x + t * speed) / (17 + index * 9)) +
        size * 0.5 * Math.sin((x - t * speed * 0.7) / (9 + index * 4) + index),
      colour,
    );
    // The sun on the water.
    for (let row = 0; row < 3; row++) {
      const [a, b] = [random(index * 3 + row, 0), random(index * 3 + row, 1)] as const;
      const width = (26 + 20 * a - index * 1.5) * (0.7 + 0.3 * Math.sin(t * (2 + b) + row + index));
      const x = sun.x + (b - 0.5) * 34 + 5 * Math.sin(t * 1.6 + index + row);
      ellipse(x, y + 12 + row * (8 + index * 3.4), width, 1.6 + index * 0.5, "#ffe3a6b0");
    }
  }
}

/** Rain falls on mountains, and a river takes it away. */
function rain(t: number): void {
  g.fillStyle = gradient(["#16324a", "#2f6478", "#7fb0ae", "#cfe3d2"], 0, 430);
  g.fillRect(0, 0, WIDTH, HEIGHT);
  glow(256, 250, 190, "#fdf6d8");
  for (const index of range(7)) {
    const number = random(9, index);
    const x = 30 + index * 52 + 12 * Math.sin(t * 0.5 + number * 6) + t * 4;
    ellipse(x, 66 + number * 44, 70, 34 + number * 14, index % 2 === 0 ? "#1c3c52" : "#234a60");
  }
  below(ridge(1, 372, 128), "#79a6a6");
  below(ridge(4, 414, 132), "#4d8389");
  below(ridge(8, 466, 118), "#2f6069");
  below((x) => 470 + (x - 180) ** 2 / 760 + 5 * Math.sin(x / 23), "#1e4a4c");
  below((x) => 540 + (x - 150) ** 2 / 900 + 4 * Math.sin(x / 31 + 2), "#15383c");
  // The river comes out of the valley, wider and wider.
  const middle = (s: number) => 182 + 46 * Math.sin(s * 5.2 + 0.4) * (0.25 + s);
  const half = (s: number) => 4 + 92 * s * s;
  const yAt = (s: number) => 452 + 200 * s;
  g.fillStyle = gradient(["#d9efe6", "#8fc7c9", "#4d9aa8"], 452, HEIGHT);
  g.beginPath();
  for (let s = 0; s <= 1.001; s += 0.04) g.lineTo(middle(s) - half(s), yAt(s));
  for (let s = 1; s >= -0.001; s -= 0.04) g.lineTo(middle(s) + half(s), yAt(s));
  g.fill();
  for (const index of range(16)) {
    const number = random(3, index);
    const s = (index / 16 + t * 0.11) % 1;
    const x = middle(s) + (number - 0.5) * 1.5 * half(s);
    ellipse(x, yAt(s), 2 + 22 * s, 0.8 + 1.8 * s, "#ffffff90");
  }
  g.strokeStyle = "#e8f6f850";
  g.lineWidth = 1.6;
  g.beginPath();
  for (const index of range(45)) {
    const across = random(6, index + 45);
    const y = ((random(6, index) * 900 + t * (430 + 90 * across)) % 560) + 96;
    const x = across * (WIDTH + 80) - 30 - (y - 96) * 0.09;
    g.moveTo(x, y);
    g.lineTo(x - 2, y + 20);
  }
  g.stroke();
}

/** Light falls into a sea in which a whale swims. */
function deep(t: number): void {
  g.fillStyle = gradient(["#a5ecdd", "#3fb7c4", "#1779a4", "#0d4a7c", "#082a52"]);
  g.fillRect(0, 0, WIDTH, HEIGHT);
  for (const index of range(6)) {
    const number = random(2, index);
    const x = 20 + index * 66 + 16 * Math.sin(t * 0.8 + number * 6);
    const opacity = 0.2 + 0.1 * Math.sin(t * 1.4 + index);
    g.fillStyle = gradient([`rgba(255, 255, 240, ${opacity})`, "rgba(255, 255, 240, 0)"], 0, 500);
    g.beginPath();
    g.moveTo(x - 8, -10);
    g.lineTo(x + 14 + 12 * number, -10);
    g.lineTo(x - 60 + 40 * number, 520);
    g.lineTo(x - 130, 520);
    g.fill();
  }
  below((x) => 556 + 10 * Math.sin(x / 47 + 1), "#0a3a63");
  whale(196 - t * 13, 286 + 6 * Math.sin(t * 1.1), t);
  for (const index of range(14)) {
    const number = random(7, index);
    const x = ((number * 420 + index * 31 + t * 34) % 440) - 40;
    const y = 428 + 46 * Math.sin(index * 1.9) + 5 * Math.sin(t * 2 + index);
    fish(x, y, 6 + 3 * number, t * 9 + index);
  }
  for (const index of range(9)) {
    const number = random(4, index);
    const x = 4 + index * 44 + 12 * number;
    kelp(x, 96 + 130 * number * number, t, index);
  }
  below((x) => 602 + 8 * Math.sin(x / 33), "#06223f");
  for (const index of range(12)) {
    const number = random(8, index);
    const y = HEIGHT - ((number * 640 + t * (40 + 30 * number)) % 660);
    const x = 30 + index * 27 + 6 * Math.sin(t * 2 + index);
    g.strokeStyle = "#e8ffff90";
    g.lineWidth = 1.5;
    g.beginPath();
    g.arc(x, y, 2 + 4 * number, 0, 2 * Math.PI);
    g.stroke();
  }
}

function whale(x: number, y: number, t: number): void {
  const tail = 9 * Math.sin(t * 1.6);
  g.save();
  g.translate(x, y);
  g.fillStyle = "#0c3f6b";
  g.beginPath();
  g.moveTo(-112, 4);
  g.bezierCurveTo(-104, -34, -50, -46, 4, -36);
  g.bezierCurveTo(56, -27, 84, -8, 122, tail - 8);
  g.bezierCurveTo(134, tail - 20, 148, tail - 30, 164, tail - 30);
  g.bezierCurveTo(158, tail - 16, 150, tail - 6, 142, tail - 1);
  g.bezierCurveTo(152, tail + 4, 160, tail + 12, 166, tail + 24);
  g.bezierCurveTo(148, tail + 22, 132, tail + 14, 122, tail + 4);
  g.bezierCurveTo(84, 16, 40, 34, -20, 36);
  g.bezierCurveTo(-70, 37, -106, 28, -112, 4);
  g.fill();
  // The belly, a fin and the eye.
  g.fillStyle = "#5fa3bd";
  g.beginPath();
  g.moveTo(-110, 8);
  g.bezierCurveTo(-78, 16, -30, 18, 26, 26);
  g.bezierCurveTo(-20, 37, -100, 38, -110, 8);
  g.fill();
  g.fillStyle = "#0a355b";
  g.beginPath();
  g.moveTo(-36, 22);
  g.bezierCurveTo(-26, 44, -8, 62 + tail, 16, 66 + tail);
  g.bezierCurveTo(14, 44, 2, 28, -10, 20);
  g.fill();
  ellipse(-84, 2, 3, 3, "#d8f2f2");
  g.restore();
}

function fish(x: number, y: number, size: number, phase: number): void {
  ellipse(x, y, size * 1.7, size * 0.7, "#ffd9a0");
  g.beginPath();
  g.moveTo(x - size * 1.4, y);
  g.lineTo(x - size * 2.7, y - size * 0.8 + Math.sin(phase));
  g.lineTo(x - size * 2.7, y + size * 0.8 + Math.sin(phase));
  g.fill();
}

function kelp(x: number, height: number, t: number, index: number): void {
  g.strokeStyle = index % 2 === 0 ? "#0c4f57" : "#083c4c";
  g.lineWidth = 9;
  g.lineCap = "round";
  g.beginPath();
  for (let s = 0; s <= 1.001; s += 0.1)
    g.lineTo(x + (4 + 16 * s) * s * Math.sin(t * 1.3 + index + s * 4), 620 - height * s);
  g.stroke();
}

/** Where no player puts its controls, and large enough for a clip of a hundred pixels. */
function label(): void {
  g.fillStyle = "#00000059";
  g.beginPath();
  g.roundRect(90, 26, 180, 46, 23);
  g.fill();
  g.fillStyle = "#fff";
  g.font = "bold 25px DejaVu Sans";
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.letterSpacing = "2px";
  g.fillText("SANDBOX", WIDTH / 2 + 1, 50);
}

const SCENES: Readonly<Record<Scene, (seconds: number) => void>> = { sea, rain, deep };

/** The picture of these layers as a data URL. */
function draw(layers: readonly Layer[]): string {
  for (const { scene, seconds, opacity } of layers) {
    const under = g.getImageData(0, 0, WIDTH, HEIGHT);
    SCENES[scene](seconds);
    if (opacity < 1) mix(under, opacity);
  }
  label();
  return canvas.toDataURL("image/png");
}

/** Lets `under` shine through what is drawn. */
function mix({ data: under }: ImageData, opacity: number): void {
  const picture = g.getImageData(0, 0, WIDTH, HEIGHT);
  const { data: over } = picture;
  for (const [index, value] of under.entries()) over[index] = value + ((over[index] ?? 0) - value) * opacity;
  g.putImageData(picture, 0, 0);
}

// The script calls it.
Object.assign(globalThis, { draw });
