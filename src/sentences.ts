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

/** A template in which "[they|you]" is "they" to a model and "you" to a person. Values are never read so. */
export function say(strings: TemplateStringsArray, ...values: readonly (Text | number)[]): Text {
  const template = strings.reduce((before, next, index) => `${before}\uE000${index - 1};${next}`);
  const read = (audience: Audience, choice: string) =>
    template
      .replace(/\[([^|\]]*)\|([^\]]*)\]/g, choice)
      .replace(/\uE000(\d+);/g, (_, index: string) => textFor(audience, values[Number(index)] ?? ""));
  return { model: read("model", "$1"), person: read("person", "$2") };
}

/** A tool by its name to a model, and to a person the command that calls it. */
export function toolOrCommand(name: string, options = ""): Text {
  return { model: name, person: `\`${`call ${name} ${options}`.trim()}\`` };
}

/** Joins the sentences that apply. */
export function inSentences(...sentences: readonly (string | false | undefined)[]): string;
export function inSentences(...sentences: readonly (Text | false | undefined)[]): Text;
export function inSentences(...sentences: readonly (Text | false | undefined)[]): Text {
  const join = (audience: Audience) =>
    sentences.flatMap((sentence) => (sentence && textFor(audience, sentence)) || []).join(" ");
  if (!sentences.some((sentence) => typeof sentence === "object")) return join("model");
  return { model: join("model"), person: join("person") };
}
