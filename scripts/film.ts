// Takes pictures of a page and makes an animated GIF of them, with ffmpeg.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";

/** A README shouldn't take longer to load. */
const MAX_BYTES = 600_000;

/** The pictures of a page, and how long each is shown. */
export class Film {
  readonly page: Page;
  readonly #folder = mkdtempSync(join(tmpdir(), "faceless-film-"));
  readonly #shots: { readonly path: string; readonly seconds: number }[] = [];

  constructor(page: Page) {
    this.page = page;
  }

  async shoot(seconds: number): Promise<void> {
    const path = join(this.#folder, `${this.#shots.length}.png`);
    await this.page.screenshot({ path });
    this.#shots.push({ path, seconds });
  }

  async pointAt(element: Locator): Promise<void> {
    const { x = 0, y = 0, width = 0, height = 0 } = (await element.boundingBox()) ?? {};
    await this.#movePointer(x + width * 0.8, y + height * 0.4);
    await this.shoot(0.5);
  }

  hidePointer(): Promise<void> {
    return this.#movePointer(-99, 0);
  }

  async #movePointer(x: number, y: number): Promise<void> {
    await this.page.evaluate(`Object.assign(pointer.style, { left: "${x}px", top: "${y}px" })`);
  }

  /** One palette for all pictures, and of each picture only what has changed. */
  develop(path: string): void {
    const list = join(this.#folder, "list.txt");
    const last = this.#shots.at(-1)?.path;
    // The last one once more: without it, its time is ignored.
    writeFileSync(
      list,
      `${this.#shots.map((shot) => `file ${shot.path}\nduration ${shot.seconds}\n`).join("")}file ${last}\n`,
    );
    const filter =
      "split[a][b];[a]palettegen=max_colors=256[p];[b][p]paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle";
    const input = ["-f", "concat", "-safe", "0", "-i", list];
    execFileSync("ffmpeg", ["-loglevel", "error", "-y", ...input, "-vf", filter, "-fps_mode", "vfr", path], {
      stdio: "inherit",
    });
    rmSync(this.#folder, { recursive: true });
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MAX_BYTES}.`);
  }
}
