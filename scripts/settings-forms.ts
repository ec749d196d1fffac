// How forms ask for the server's settings and options: registry clients', by server.json, and the settings
// page of the .mcpb bundle, whose titles hold the names that the server's texts use for the settings. Pure.

import manifest from "../package.json" with { type: "json" };
import server from "../server.json" with { type: "json" };
import { COMMANDS } from "../src/command-line.ts";
import { type Setting, SETTINGS } from "../src/config.ts";

interface Field {
  readonly title: string;
  readonly type: "string" | "number" | "directory";
  readonly placeholder?: string;
  readonly isSecret?: true;
  /** For people who run the server on many computers: not on the bundle's settings page. */
  readonly isForTeams?: true;
  readonly choices?: readonly string[];
}

/** The settings that guard money, privacy or publicity, or without which nothing works. */
const FIELDS: Readonly<Record<string, Field>> = {
  FACELESS_API_KEY: { title: "API key", type: "string", placeholder: "fl_...", isSecret: true },
  FACELESS_BASE_URL: { title: "Service address", type: "string", placeholder: "https://videos.example.com" },
  FACELESS_SAVE_DIR: { title: "Folder for finished videos", type: "directory", placeholder: "~/Videos" },
  FACELESS_MAX_GENERATIONS: { title: "Maximum number of videos", type: "number" },
  FACELESS_CONFIRM_GENERATE: {
    title: "Ask before ordering",
    type: "string",
    choices: ["on", "off", "always"],
  },
  FACELESS_CONFIRM_PUBLISH: {
    title: "Ask before publishing",
    type: "string",
    choices: ["on", "off", "always"],
  },
  FACELESS_STATE_DIR: { title: "Folder for the record of orders and posts", type: "directory" },
  FACELESS_JOURNAL_URL: {
    title: "Database for the record of orders and posts",
    type: "string",
    placeholder: "postgres://...",
    isSecret: true,
    isForTeams: true,
  },
};
const OPTION_TITLES = new Map([
  ["sandbox", "Sandbox"],
  ["read-only", "Read only"],
  ["no-publish", "Never publish"],
]);

const settings = Object.values(SETTINGS).flatMap((setting) => {
  const field = FIELDS[setting.name];
  return field === undefined ? [] : [{ ...field, ...setting, description: describe(setting, field) }];
});
/** For people: a form shows the form of a value by its kind of field and its placeholder. */
function describe({ meaning, default: value }: Setting<unknown>, { choices }: Field): string {
  const said = value === "none" || choices !== undefined ? "" : ` If it is empty: ${value}.`;
  return `${meaning}.${said}`;
}

const options = Object.entries(COMMANDS[""].options).map(([name, { meaning }]) => ({
  name,
  title: OPTION_TITLES.get(name),
  description: meaning.charAt(0).toUpperCase() + meaning.slice(1),
}));

/** The text of server.json, whose other parts stay as they are. */
export function serverJson(): string {
  const formats = { number: "number", directory: "filepath", string: undefined };
  const generated = {
    version: manifest.version,
    packageArguments: options.map(({ name, description }) => ({
      type: "named",
      name: `--${name}`,
      description,
      format: "boolean",
      default: "false",
    })),
    environmentVariables: settings.map(({ name, description, type, placeholder, isSecret, choices }) => ({
      name,
      description,
      isSecret,
      format: formats[type],
      ...(choices && { choices, default: choices[0] }),
      placeholder,
    })),
  };
  const packages = server.packages.map((npm) => ({ ...npm, ...generated }));
  return `${JSON.stringify({ ...server, version: manifest.version, packages }, null, 2)}\n`;
}

/** The parts of the bundle's manifest that make its settings page and pass its values to the server. */
export function settingsPage() {
  const onPage = settings.filter(({ isForTeams }) => isForTeams !== true);
  const fields = [
    ...onPage.map(({ name, title, type, description, isSecret, choices }) => ({
      id: name.replace("FACELESS_", "").toLowerCase(),
      variable: name,
      entry: {
        type,
        title: `${title} (${name})`,
        description,
        ...(choices && { default: choices[0] }),
        ...(type === "number" && { min: 0 }),
        ...(isSecret && { sensitive: true }),
        required: false,
      },
    })),
    ...options.map(({ name, title, description }) => ({
      id: name.replace("-", "_"),
      variable: `FACELESS_BUNDLE_${name.replace("-", "_").toUpperCase()}`,
      entry: {
        type: "boolean",
        title: `${title} (--${name})`,
        description,
        default: false,
        required: false,
      },
    })),
  ];
  return {
    env: Object.fromEntries(fields.map(({ id, variable }) => [variable, `\${user_config.${id}}`])),
    user_config: Object.fromEntries(fields.map(({ id, entry }) => [id, entry])),
  };
}
