// Fills in an entry's placeholders as its client does, if they name a variable of this server: any other one
// of this terminal may be a secret, which an entry could have sent to a service. Pure.

import type { Environment } from "../../config.ts";
import type { ClientFormat } from "../client-formats.ts";

export interface Filled {
  readonly text: string;
  /** The variables of the shell whose values are in the text. */
  readonly taken: readonly string[];
  /** The variables that this shell doesn't set, or that aren't this server's. */
  readonly missing: readonly string[];
  /** True if only the client knows a part of the value. */
  readonly isHidden: boolean;
  /** A placeholder that the client leaves unchanged, without its fallback, which may be a secret. */
  readonly left: string | undefined;
}

/** ${NAME}, ${env:NAME}, ${{ secrets.NAME }}, {env:NAME}, $NAME and %NAME%: each works in some client. */
const ANY = /\$\{[^}]*\}|\{(?:env|file):[^}]*\}|^\$[A-Za-z_]\w*|^%[A-Z_]+%$/;

export function fillIn(text: string, { fills }: ClientFormat, env: Environment): Filled {
  const [taken, missing]: [string[], string[]] = [[], []];
  const left = ANY.exec(text)?.[0];
  const plain = { text, taken, missing, isHidden: false, left: undefined };
  if (left === undefined) return plain;
  // Nobody has tried this client.
  if (fills === undefined) return { ...plain, isHidden: true };
  const { ofShell = NONE, ofClient = NONE } = fills;
  const filled = text.replaceAll(ofShell, (whole: string, ...found: (string | number | Groups)[]) => {
    const groups = found.at(-1);
    const { name = "", bare: variable = name, fallback } = typeof groups === "object" ? groups : {};
    const value = isOurVariable(variable) ? env[variable] : undefined;
    if (value === undefined && fallback !== undefined && isOurVariable(variable)) return fallback;
    (value === undefined ? missing : taken).push(variable);
    return value ?? whole;
  });
  const rest = text.replaceAll(ofShell, "").replaceAll(ofClient, "");
  const isHidden = text.replaceAll(ofClient, "") !== text;
  return { text: filled, taken, missing, isHidden, left: ANY.exec(rest)?.[0].replace(/:-.*(?=\}$)/s, ":-…") };
}

export function isOurVariable(name: string): boolean {
  return name.startsWith("FACELESS_");
}

/** True if the text is whole. */
export function isKnown({ missing, isHidden, left }: Filled): boolean {
  return missing.length === 0 && !isHidden && left === undefined;
}

/** The groups of a pattern for variables of the shell. */
type Groups = Readonly<Partial<Record<"name" | "bare" | "fallback", string>>>;

const NONE = /(?!)/g;
