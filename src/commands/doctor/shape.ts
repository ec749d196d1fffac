// Describes the form of a JSON value: names and types of its fields, and no value. A name is shown only if it
// stands in the service's documents, since other names may be ids, accounts or titles. Pure.

/** One field, in all places where the value has it. */
export interface Field {
  /** `videos[].jobId`: a list's elements have one path. `{1}` is one name that isn't shown, in each place. */
  readonly path: string;
  /** Every form that its values have. */
  readonly forms: readonly string[];
}

export type IsPublicName = (name: string) => boolean;

/** The limits of levels, fields, elements and names that are read. */
const MAX = { depth: 8, fields: 200, elements: 100, hiddenNames: 30 } as const;
/** Stands for any name that isn't shown. */
export const HIDDEN = "{…}";

/** The fields of a value, each with its forms, in the order in which they come. */
export function shapeOf(value: unknown, isPublic: IsPublicName): readonly Field[] {
  const forms = new Map<string, Set<string>>();
  const hidden = new Map<string, string>();
  const show = (name: string) => {
    if (isPublic(name)) return name;
    if (!hidden.has(name) && hidden.size < MAX.hiddenNames) hidden.set(name, `{${hidden.size + 1}}`);
    return hidden.get(name) ?? HIDDEN;
  };
  const visit = (at: unknown, path: string, depth: number) => {
    const known = forms.get(path) ?? new Set();
    if (!forms.has(path) && forms.size >= MAX.fields) return;
    forms.set(path, known.add(formOf(at)));
    if (depth >= MAX.depth || typeof at !== "object" || at === null) return;
    if (Array.isArray(at)) {
      for (const element of at.slice(0, MAX.elements)) visit(element, `${path}[]`, depth + 1);
      return;
    }
    for (const [name, field] of Object.entries<unknown>({ ...at }).slice(0, MAX.fields))
      visit(field, [path, show(name)].filter(Boolean).join("."), depth + 1);
  };
  visit(value, "", 0);
  return Array.from(forms, ([path, found]) => ({ path, forms: [...found].sort() }));
}

/** The form of a value, and nothing that distinguishes it from another value of this form. */
export function formOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "empty list" : "list";
  if (typeof value === "number")
    return Number.isInteger(value) ? integerForm(String(Math.abs(value))) : "number";
  if (typeof value !== "string") return typeof value;
  if (value === "") return "empty text";
  const [, form = "text"] = TEXT_FORMS.find(([pattern]) => pattern.test(value)) ?? [];
  return /^\d+$/.test(value) ? `text, ${integerForm(value)}` : form;
}

/** Keeps the number of digits, which distinguishes seconds, milliseconds and times. */
function integerForm(digits: string): string {
  return digits.length >= 9 ? `integer of ${digits.length} digits` : "integer";
}

const TEXT_FORMS: readonly (readonly [RegExp, string])[] = [
  [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, "UUID"],
  [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, "UUID in capitals"],
  [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "time in UTC"],
  [/^\d{4}-\d\d-\d\d[T ][\d:.]+(?:[+-][\d:]+)?$/, "time"],
  [/^\d{4}-\d\d-\d\d$/, "date"],
  [/^https:\/\/\S+$/i, "https link"],
  [/^http:\/\/\S+$/i, "http link"],
  [/^\/\S*$/, "path"],
  [/^[a-z][a-z\d+.-]*:\S+$/i, "another URI"],
  [/^[a-z]+$/, "word"],
  [/^\S+$/, "text without blanks"],
];
