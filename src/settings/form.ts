// The names of settings on the bundle's settings page. Its users know these names, not the variables. Pure.

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

/** What a user does with the settings, in words that fit most clients. Sentences take them from here. */
export const IN_CLIENT = {
  settings: "this server's settings in your client",
  restart: "restart this server",
  addSandbox: "start it with --sandbox",
};

/** Replacements for these words, and for variables, on the settings page. */
const ON_PAGE: readonly (readonly [string, string])[] = [
  [IN_CLIENT.settings, "this extension's settings"],
  [IN_CLIENT.restart, "switch this extension off and on again"],
  [IN_CLIENT.addSandbox, "turn on “Sandbox” in this extension's settings"],
  ...Object.entries(FORM_TITLES).map(([name, title]) => [name, `“${title}”`] as const),
];

export function inWordsOfForm(text: string): string {
  return ON_PAGE.reduce((changed, [words, onPage]) => changed.replaceAll(words, onPage), text);
}
