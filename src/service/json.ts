// Reads the service's JSON within bounds, whatever it holds: without nulls, invisible characters and the API
// key. Everything that the service says passes here before anything is checked, cut or shown.

import type { Redact } from "../redact.ts";
import { stripUnsafeCharacters } from "../text.ts";
import type { Answer } from "./http.ts";

/** What would take too long to parse is refused. JSON of 4 MB that says something has fewer. */
const MAX_SEPARATORS = 250_000;
/** What goes beyond these is left out. */
const MAX_VALUES = 50_000;
/** Bounds one list or object. */
const MAX_ITEMS = 1_000;
const MAX_DEPTH = 20;

/** An answer with its JSON, cleaned; undefined where there is none. */
export interface ReadAnswer extends Answer {
  readonly json: unknown;
}

export interface JsonReader {
  /** The parsed text, cleaned; undefined if it is not JSON or has far too many values. */
  parse(text: string): unknown;
  /** The same JSON without nulls (properties and array elements), invisible characters and the key. */
  clean(value: unknown): unknown;
}

export function jsonReader(redact: Redact): JsonReader {
  const clean = (value: unknown) => new Cleaner(redact).clean(value, 0);
  const parse = (text: string) => {
    if (countSeparators(text) > MAX_SEPARATORS) return undefined;
    try {
      return clean(JSON.parse(text));
    } catch {
      return undefined;
    }
  };
  return { parse, clean };
}

/** Commas and opening brackets, in texts too: at least as many as the JSON has values beside the first. */
export function countSeparators(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x2c || code === 0x5b || code === 0x7b) count += 1;
  }
  return count;
}

class Cleaner {
  #valuesLeft = MAX_VALUES;
  readonly #redact: Redact;

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  clean(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth === MAX_DEPTH) return undefined;
    if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).flatMap((item) => this.#kept(item, depth));
    const fields: [string, unknown][] = [];
    for (const name in value) {
      if (fields.length === MAX_ITEMS) break;
      for (const kept of this.#kept(Reflect.get(value, name), depth)) fields.push([this.#text(name), kept]);
    }
    return Object.fromEntries(fields);
  }

  /** The value in a list, which is empty if it is left out. */
  #kept(value: unknown, depth: number): unknown[] {
    if (value === null || this.#valuesLeft === 0) return [];
    this.#valuesLeft -= 1;
    const kept = this.clean(value, depth + 1);
    return kept === undefined ? [] : [kept];
  }

  /** Most texts are plain ASCII. Invisible characters go first, since they could hide the key. */
  #text(text: string): string {
    return this.#redact(/^[\t\n -~]*$/.test(text) ? text : stripUnsafeCharacters(text));
  }
}
