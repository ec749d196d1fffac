// How the documents for users start this program: in a clone until npm has the package, and with npx from then on.
// The only place that knows both, so that a release changes `isOnNpm` in package.json and nothing else.

import manifest from "../package.json" with { type: "json" };

const IN_CLONE = "node dist/bin.cjs";
const WITH_NPX = "cd ~; npx -y faceless-video-mcp";
/** `cd ~`, because npx obeys the files of the folder in which it starts. Windows PowerShell 5 has no `&&`. */
const EITHER = /node dist\/bin\.cjs(?=[ `\n])|cd ~; npx -y faceless-video-mcp(?=[ `\n])/g;

/** The documents whose readers may have no clone. */
export const FOR_USERS: readonly string[] = [
  "README.md",
  "llms-install.md",
  "llms.txt",
  "docs/CLIENTS.md",
  "docs/ERRORS.md",
  "docs/SCRIPTS.md",
  "docs/SETTINGS.md",
  ".github/ISSUE_TEMPLATE/bug.yml",
];

/** The document with the commands that work while `isOnNpm` is so. */
export function withLaunch(text: string, isOnNpm: boolean = manifest.isOnNpm): string {
  return text.replace(EITHER, isOnNpm ? WITH_NPX : IN_CLONE);
}

/** A command of this program. */
export function programCommand(words: string, isOnNpm: boolean = manifest.isOnNpm): string {
  return `${isOnNpm ? WITH_NPX : IN_CLONE} ${words}`;
}
