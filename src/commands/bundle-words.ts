// Started from the .mcpb bundle, texts name settings as the bundle's settings page does: its users have no variables and no command
// line. The page is in .config/mcpb/manifest.json. Pure: works on finished text, whatever it is part of. Straight quotes would break JSON.

/** The titles of the page's settings by what they set. */
export const TITLES = {
  FACELESS_API_KEY: "API key",
  FACELESS_BASE_URL: "Service address",
  FACELESS_SAVE_DIR: "Folder for finished videos",
  FACELESS_MAX_GENERATIONS: "Maximum number of videos",
  FACELESS_CONFIRM_PUBLISH: "Ask before publishing",
  "--sandbox": "Sandbox",
  "--read-only": "Read only",
  "--no-publish": "Never publish",
} as const;

const PAGE = "this server's settings page";

/** Whole phrases first: they have to fit a page instead of a file or a command line. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [
    /put it in the env of this server's entry in your client/g,
    `enter it on ${PAGE} (Settings, Extensions, Faceless Video)`,
  ],
  [
    / Then restart this server\. To try it without an account, start it with --sandbox\./g,
    " To try it without an account, switch on “Sandbox” there.",
  ],
  [/ and restart this server with it/g, ` and enter it on ${PAGE}`],
  [/ in this server's settings( and restart the server)?/g, ` on ${PAGE}`],
  [/FACELESS_CONFIRM_PUBLISH=off/g, "switching off “Ask before publishing”"],
  // The page has neither.
  [/, or set FACELESS_STATE_DIR to another folder and restart the server/g, ""],
  [/ \(FACELESS_LOG_LEVEL=debug\)/g, ""],
];
const NAMES =
  /FACELESS_(?:API_KEY|BASE_URL|SAVE_DIR|MAX_GENERATIONS|CONFIRM_PUBLISH)\b|--(?:sandbox|read-only|no-publish)\b/g;

export function inBundleWords(text: string): string {
  const phrased = PHRASES.reduce((rest, [pattern, words]) => rest.replace(pattern, words), text);
  return phrased.replace(NAMES, (name) => `“${titleOf(name)}”`);
}

function titleOf(name: string): string {
  return Object.entries(TITLES).find(([setting]) => setting === name)?.[1] ?? name;
}
