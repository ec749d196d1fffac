// Takes pictures of a page and makes an animated WebP of them: a third of a GIF's size, in all colours.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";

/** A README shouldn't take longer to load. */
const MAX_BYTES = 700_000;
/** Lossy, except for frames that are smaller without a loss. */
const QUALITY = ["-loop", "0", "-min_size", "-mixed", "-q", "62", "-m", "6"];

/** The pictures of a page, and how long each is shown. */
export class Film {
  readonly page: Page;
  readonly #folder = mkdtempSync(join(tmpdir(), "faceless-film-"));
  readonly #shots: string[] = [];

  constructor(page: Page) {
    this.page = page;
  }

  async shoot(seconds: number): Promise<void> {
    const path = join(this.#folder, `${this.#shots.length / 3}.png`);
    await this.page.screenshot({ path });
    this.#shots.push("-d", String(seconds * 1000), path);
  }

  async pointAt(element: Locator): Promise<void> {
    const { x = 0, y = 0, width = 0, height = 0 } = (await element.boundingBox()) ?? {};
    // Above the text below a button.
    await this.#movePointer(x + width * 0.8, y + height * 0.15);
    await this.shoot(0.6);
  }

  hidePointer(): Promise<void> {
    return this.#movePointer(-99, 0);
  }

  async #movePointer(x: number, y: number): Promise<void> {
    await this.page.evaluate(`Object.assign(pointer.style, { left: "${x}px", top: "${y}px" })`);
  }

  /** It begins with its last picture, the result, which is all that is seen where it doesn't move. */
  develop(path: string): void {
    const result = this.#shots.slice(-3);
    execFileSync("img2webp", [...QUALITY, ...result, ...this.#shots, "-o", path], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    rmSync(this.#folder, { recursive: true });
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MAX_BYTES}.`);
  }
}
