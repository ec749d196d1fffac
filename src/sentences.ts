// Sentences that know who reads them: a model that speaks with its user, or a person. Pure.

export type Audience = "model" | "person";

/** A sentence or more. A string reads the same to both. */
export type Text = string | Readonly<Record<Audience, string>>;

export function textFor(audience: Audience, text: Text | number): string {
  return typeof text === "object" ? text[audience] : String(text);
}

export function mapText(text: Text, change: (words: string) => string): Text {
  return typeof text === "string" ? change(text) : { model: change(text.model), person: change(text.person) };
}

type Parts = Readonly<Record<Audience, readonly string[]>>;
/** By template: words, and between them the places of values. */
const PARTS = new WeakMap<TemplateStringsArray, Parts>();

/** A template in which "[they|you]" reads "they" to a model, "you" to a person. Values are never parsed. */
export function say(strings: TemplateStringsArray, ...values: readonly (Text | number)[]): Text {
  const parts = PARTS.get(strings) ?? readTemplate(strings);
  const read = (audience: Audience) =>
    parts[audience].reduce((said, part, at) =>
      at % 2 === 0 ? said + part : said + textFor(audience, values[Number(part)] ?? ""),
    );
  return { model: read("model"), person: read("person") };
}

function readTemplate(strings: TemplateStringsArray): Parts {
  // A mark beyond Latin-1 would double the bytes of every text with such a part, up to the whole message.
  const template = strings.reduce((before, next, index) => `${before}\0${index - 1};${next}`);
  const read = (choice: string) => template.replace(/\[([^|\]]*)\|([^\]]*)\]/g, choice).split(/\0(\d+);/);
  const parts = { model: read("$1"), person: read("$2") };
  PARTS.set(strings, parts);
  return parts;
}

/** A tool by its name to a model, and to a person the command that calls it. */
export function toolOrCommand(name: string, options = ""): Text {
  return { model: name, person: `\`${`call ${name} ${options}`.trim()}\`` };
}

/** Joins the sentences that apply. */
export function inSentences(...sentences: readonly (string | false | undefined)[]): string;
export function inSentences(...sentences: readonly (Text | false | undefined)[]): Text;
export function inSentences(...sentences: readonly (Text | false | undefined)[]): Text {
  const read = (audience: Audience) => {
    let said = "";
    for (const sentence of sentences) {
      const words = sentence ? textFor(audience, sentence) : "";
      said += said === "" || words === "" ? words : ` ${words}`;
    }
    return said;
  };
  const [model, person] = [read("model"), read("person")];
  return model === person ? model : { model, person };
}
