// What results say of a video that is saved on this computer.

import * as z from "zod";
import type { SavedVideo } from "../saved-videos/saved-videos.ts";

export const savedToField = () => ({
  savedTo: z.string().describe("File on the computer that runs this server").optional(),
});

/** The field, where the video is saved. */
export function savedToOf(saved: SavedVideo | undefined): { readonly savedTo?: string } {
  return saved?.state === "saved" ? { savedTo: saved.path } : {};
}

/** A sentence, or nothing. */
export function describeSaved(saved: SavedVideo | undefined): string {
  if (saved === undefined) return "";
  if (saved.state === "failed")
    return `It could not be saved on this computer: ${saved.problem}. A later get_video_status tries again.`;
  return saved.state === "saved" ? `It is saved as ${saved.path}.` : `It is being saved as ${saved.path}.`;
}
