// Fills in an entry's placeholders as its client does, if they name a variable of this server: any other one
// of this terminal may be a secret, which an entry could have sent to a service. Pure.

import type { Environment } from "../../config.ts";
import type { ClientFormat } from "../client-formats.ts";

export interface Filled {
  /** The placeholder itself if it is left, without its fallback, which may be a secret. */
  readonly text: string;
  /** The variables of the shell that the value is taken from. */
  readonly names: readonly string[];
  /**
   * `unset`: this shell doesn't set such a variable, or it isn't this server's. `hidden`: only the client knows
   * a part of the value. `left`: the client doesn't fill in a placeholder.
   */
  readonly state: "known" | "unset" | "hidden" | "left";
}

/** ${NAME}, ${env:NAME}, ${{ secrets.NAME }}, {env:NAME}, $NAME and %NAME%: each works in some client. */
const ANY = /\$\{[^}]*\}|\{(?:env|file):[^}]*\}|^\$[A-Za-z_]\w*|^%[A-Z_]+%$/;

export function fillIn(text: string, { fills }: ClientFormat, env: Environment): Filled {
  const names: string[] = [];
  if (!ANY.test(text)) return { text, names, state: "known" };
  // Nobody has tried this client.
  if (fills === undefined) return { text, names, state: "hidden" };
  const { ofShell = NONE, ofClient = NONE } = fills;
  let isUnset = false;
  const filled = text.replaceAll(ofShell, (whole: string, ...found: (string | number | Groups)[]) => {
    const groups = found.at(-1);
    const { name = "", bare: variable = name, fallback } = typeof groups === "object" ? groups : {};
    const value = isOurVariable(variable) ? (env[variable] ?? fallback) : undefined;
    if (value === undefined || value !== fallback) names.push(variable);
    isUnset ||= value === undefined;
    return value ?? whole;
  });
  const rest = text.replaceAll(ofShell, "").replaceAll(ofClient, "");
  const left = ANY.exec(rest)?.[0].replace(/:-.*(?=\}$)/s, ":-…");
  if (left !== undefined) return { text: left, names, state: "left" };
  if (text.replaceAll(ofClient, "") !== text) return { text, names, state: "hidden" };
  return { text: filled, names, state: isUnset ? "unset" : "known" };
}

export function isOurVariable(name: string): boolean {
  return name.startsWith("FACELESS_");
}

/** The groups of a pattern for variables of the shell. */
type Groups = Readonly<Partial<Record<"name" | "bare" | "fallback", string>>>;

const NONE = /(?!)/g;
