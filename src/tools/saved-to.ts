// What results say of a video that is saved on this computer.

import * as z from "zod";
import type { SavedVideo } from "../jobs/saved-videos.ts";

export const savedToField = () => ({
  savedTo: z.string().describe("File on the computer that runs this server").optional(),
});

/** With the path of the saved file, in place of a field of the service's with that name. */
export function withSavedTo<Fields extends object>(
  fields: Fields,
  saved: SavedVideo | undefined,
): Fields & { readonly savedTo?: string } {
  const own = { ...fields };
  Reflect.deleteProperty(own, "savedTo");
  return saved?.state === "saved" ? { ...own, savedTo: saved.path } : own;
}

/** A sentence with a blank in front, or nothing. A link comes before it, so it must not begin with a character that could belong to one. */
export function describeSaved(saved: SavedVideo | undefined): string {
  if (saved === undefined) return "";
  if (saved.state === "failed")
    return ` It could not be saved on this computer: ${saved.problem}. A later get_video_status tries again.`;
  return saved.state === "saved" ? ` It is saved as ${saved.path}.` : ` It is being saved as ${saved.path}.`;
}
