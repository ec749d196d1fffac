// How forms ask for the server's settings and options: registry clients', by server.json, and the settings page of the
// .mcpb bundle, which people fill in who make videos and know no variables. Pure.

import manifest from "../package.json" with { type: "json" };
import server from "../server.json" with { type: "json" };
import { EXAMPLE_URL } from "../src/settings/values.ts";
import { FORM_TITLES } from "../src/settings/form.ts";
import { type Setting, SETTINGS } from "../src/config.ts";

interface RegistryField {
  readonly placeholder: string;
  readonly format?: "filepath";
  readonly isSecret?: true;
}

/** Registry clients ask for each of these, one after the other. SETTINGS.md has the others. */
const REGISTRY_FIELDS: Readonly<Record<string, RegistryField>> = {
  FACELESS_API_KEY: { placeholder: "fl_...", isSecret: true },
  FACELESS_BASE_URL: { placeholder: EXAMPLE_URL },
  FACELESS_SAVE_DIR: { placeholder: "~/Videos", format: "filepath" },
};

/** The text of server.json, whose other parts stay as they are. */
export function serverJson(): string {
  const settings = Object.values<Setting<unknown>>(SETTINGS);
  const generated = {
    version: manifest.version,
    // Without key and address, the sandbox.
    packageArguments: [{ type: "positional", value: "--sandbox=auto" }],
    environmentVariables: Object.entries(REGISTRY_FIELDS).map(([name, { isSecret, format, placeholder }]) => {
      const setting = settings.find((each) => each.name === name);
      return { name, description: `${setting?.meaning}.`, isSecret, format, placeholder };
    }),
  };
  const packages = server.packages.map((npm) => ({ ...npm, ...generated }));
  return `${JSON.stringify({ ...server, version: manifest.version, packages }, null, 2)}\n`;
}

const CHOICES = "Write on, off or always.";
/** The page's fields by the ends of their variables, in its order. */
const PAGE = {
  BUNDLE_SANDBOX: {
    type: "boolean",
    title: "Sandbox",
    description:
      "Try everything without an account: you get sample clips, and nothing is paid or posted. While the key and the address are empty, it is on by itself.",
    default: false,
  },
  API_KEY: {
    type: "string",
    description: "It begins with fl_. You make it on the service's website: account settings, section API.",
    sensitive: true,
  },
  BASE_URL: {
    type: "string",
    description: `The address that you got with your account, such as ${EXAMPLE_URL}`,
  },
  SAVE_DIR: {
    type: "directory",
    description: "Every finished video is saved there. If you choose none, you get links.",
  },
  CONFIRM_GENERATE: {
    type: "string",
    description: `${CHOICES} on: you are asked before each video that costs credits, if Claude can ask. always: nothing is ordered without your yes. off: you are asked only before the same video is paid for again, and before an order that looks like a mistake.`,
    default: "on",
  },
  CONFIRM_PUBLISH: {
    type: "string",
    description: `${CHOICES} on: you are asked before each post, if Claude can ask. always: nothing is posted without your yes. off: you are asked only before the same video is posted again.`,
    default: "on",
  },
  MAX_GENERATIONS: {
    type: "number",
    description: "No more new videos are ordered in any 24 hours. If it is empty, there is no limit.",
    min: 0,
  },
  BUNDLE_NO_PUBLISH: {
    type: "boolean",
    title: "Never post",
    description: "Videos are made, and nothing is ever posted.",
    default: false,
  },
  BUNDLE_READ_ONLY: {
    type: "boolean",
    title: "Only look",
    description: "Your videos are listed, and nothing is ever ordered or posted.",
    default: false,
  },
  STATE_DIR: {
    type: "directory",
    description:
      "The record keeps a video from being paid for or posted twice. Choose a folder only if you have two accounts: one for each.",
  },
} as const;

/** The parts of the bundle's manifest that make its settings page and pass its values to the server. */
export function settingsPage() {
  const fields = Object.entries<object>(PAGE).map(([name, entry]) => ({
    id: name.replace("BUNDLE_", "").toLowerCase(),
    variable: `FACELESS_${name}`,
    entry: { title: FORM_TITLES[`FACELESS_${name}`], ...entry, required: false },
  }));
  return {
    env: Object.fromEntries(fields.map(({ id, variable }) => [variable, `\${user_config.${id}}`])),
    user_config: Object.fromEntries(fields.map(({ id, entry }) => [id, entry])),
  };
}
