// Describes the form of a JSON value: names and types of its fields, and no value. A name is shown only if it is
// made of words that any API might use, or stands in the service's documents, since a map's names may be ids,
// accounts or titles. Pure.

/** One field, in all places where the value has it. */
export interface Field {
  /** `videos[].jobId`: a list's elements have one path. `{…}` stands for a name that isn't shown. */
  readonly path: string;
  /** Every form that its values have. */
  readonly forms: readonly string[];
}

export type IsPublicName = (name: string) => boolean;

/** The limits of levels, fields, elements and names that are read. */
const MAX = { depth: 8, fields: 200, elements: 100 } as const;
const HIDDEN = "{…}";

const WORDS = new Set(
  `account accounts active address age ai all amount api archived aspect at attempt attempts audience audio author
  available avatar balance by bytes cancelled caption captions category channel channels charged clip clips code codec
  collection color comment comments complete completed confirmed connected connection connections content cost count
  country created creator credit credits currency current cursor data date default deleted description detail details
  disabled disconnected display done download downloads draft due duration early edited eligible email empty enabled end
  ended ends entries entry errno error errors estimated eta etag event events expired expires expiry external failed
  failure false favorite feature fields file filename files final finished first flag followers following for format fps from
  frame full generate generation generations handle has hash hd header headers height hidden history href icon id ids
  image images in index info input instance is item items job jobs key keys kind label language languages last left
  length level like likes limit link linked links list locale location lock login loops max media message messages meta
  metadata method min mime minutes mode model modified months more ms music name needs network next nickname no not note
  notes number object of offset on order origin output owner page pages pagination paging params parent part path paused
  payload pending per percent percentage permalink permissions picture pipeline pixels plan platform platforms play plays
  position post posted posts preview previous price priority privacy private problem processed processing product
  profile progress project prompt provider public publish published query queue queued quota rate ratio reason
  reauth reconnect refresh refunded region remaining render renders repeat request requests required reset resolution
  response result results resume retries retry retryable role root scene scenes scheduled schema scope scopes score
  script search seconds section seed self sent seq service session set share shares size slug social sort source speed
  stage start started starts stat state states stats status step steps story storage stream style styles sub subtitle
  subtitles success summary tag tags target task template text thread thumb thumbnail thumbnails time timestamp timezone
  title to token tokens topic total trace transcript type types unit units unlisted updated upload uploads uri url urls
  used user username users uuid valid value values version video videos view views visibility voice voiceover volume
  waiting webhook width words
  facebook instagram linkedin pinterest reels shorts snapchat threads tiktok twitter x youtube`.split(/\s+/),
);

/** True for a name of one or a few words that any API might use: `finalVideoUrl`, `created_at`, `x-type`. */
export function isOrdinaryName(name: string): boolean {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[ _.-]+/)
    .filter((word) => word !== "");
  return words.length > 0 && words.length <= 5 && words.every((word) => WORDS.has(word));
}

/** The fields of a value, each with its forms, in the order in which they come. */
export function shapeOf(value: unknown, isPublic: IsPublicName): readonly Field[] {
  const forms = new Map<string, Set<string>>();
  const visit = (at: unknown, path: string, depth: number) => {
    const known = forms.get(path) ?? new Set();
    if (!forms.has(path) && forms.size >= MAX.fields) return;
    forms.set(path, known.add(formOf(at)));
    if (depth >= MAX.depth || typeof at !== "object" || at === null) return;
    if (Array.isArray(at)) {
      for (const element of at.slice(0, MAX.elements)) visit(element, `${path}[]`, depth + 1);
      return;
    }
    const fields = Object.entries<unknown>({ ...at }).slice(0, MAX.fields);
    const isShown = isMap(fields, isPublic) ? () => false : isPublic;
    for (const [name, field] of fields)
      visit(field, [path, isShown(name) ? name : HIDDEN].filter(Boolean).join("."), depth + 1);
  };
  visit(value, "", 0);
  return Array.from(forms, ([path, found]) => ({ path, forms: [...found].sort() }));
}

/** True for an object whose names are probably data: one of them isn't public, and all values have one form. */
function isMap(fields: readonly (readonly [string, unknown])[], isPublic: IsPublicName): boolean {
  const forms = new Set(fields.map(([, value]) => describeKind(value)));
  return fields.length > 1 && forms.size === 1 && fields.some(([name]) => !isPublic(name));
}

function describeKind(value: unknown): string {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? `object ${Object.keys(value).sort().join()}` : formOf(value);
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

/** Shows a status or code if it is an ordinary word, and otherwise its form alone. */
export function describeWord(value: unknown, isKnown: (word: string) => boolean): string {
  if (typeof value !== "string") return formOf(value);
  if (isKnown(value)) return value;
  return isOrdinaryName(value) ? `${value} (not documented)` : `${formOf(value)} (not documented)`;
}
