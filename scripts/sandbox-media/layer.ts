// What the script and the page of scenes.ts know of each other.

export type Scene = "sea" | "rain" | "deep";

export interface Layer {
  readonly scene: Scene;
  /** The time within the scene. */
  readonly seconds: number;
  /** Over the layers before it, from 0 to 1. */
  readonly opacity: number;
}
