// The names of settings on the bundle's settings page. Its users know them by these, and no variables. Pure.

/** By variable, in the order of the page. */
export const FORM_TITLES: Readonly<Record<string, string>> = {
  FACELESS_API_KEY: "Your key",
  FACELESS_BASE_URL: "Service address",
  FACELESS_SAVE_DIR: "Folder for finished videos",
  FACELESS_CONFIRM_GENERATE: "Ask before ordering",
  FACELESS_CONFIRM_PUBLISH: "Ask before posting",
  FACELESS_MAX_GENERATIONS: "Most videos in 24 hours",
  FACELESS_STATE_DIR: "Folder for the record of orders and posts",
};

/** The bundle's start file sets this. */
export function isStartedByBundle(env: Readonly<Record<string, string | undefined>>): boolean {
  return env["FACELESS_BUNDLE"] === "true";
}

/** The text with the titles of settings in place of their variables. */
export function inWordsOfForm(text: string): string {
  return text
    .replace(/\bFACELESS_[A-Z_]*[A-Z]\b/g, (name) => {
      const title = FORM_TITLES[name];
      return title === undefined ? name : `“${title}”`;
    })
    .replaceAll("this server's settings in your client", "this extension's settings")
    .replace(/\b([Rr])estart this server\b/g, (_, letter: string) =>
      letter === "R" ? "Switch this extension off and on again" : "switch this extension off and on again",
    )
    .replaceAll("start it with --sandbox", "turn on “Sandbox” in this extension's settings");
}
