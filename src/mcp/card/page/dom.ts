// What the card is made of. Text from outside is only ever set as text.

type Id =
  | "topic"
  | "sandbox"
  | "settings"
  | "status"
  | "problem"
  | "final"
  | "publish"
  | "platforms"
  | "outcome"
  | "posts"
  | "voice"
  | "clips";

interface Elements extends Record<Id, HTMLElement> {
  readonly progress: HTMLProgressElement;
  readonly parts: HTMLDetailsElement;
  readonly open: HTMLButtonElement;
  readonly go: HTMLButtonElement;
}

/** Those of card.html that have an id. */
export function findElements(): Elements {
  const withIds = Array.from(document.querySelectorAll("[id]"), (element) => [element.id, element]);
  // The markup is ours.
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(withIds) as Elements;
}

export function on<Type extends keyof HTMLElementEventMap>(
  target: Pick<EventTarget, "addEventListener">,
  type: Type,
  listener: (event: HTMLElementEventMap[Type]) => unknown,
): void {
  // The overloads of a target are narrower than its events.
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  target.addEventListener(type, listener as EventListener);
}

export function create<Tag extends keyof HTMLElementTagNameMap>(tag: Tag): HTMLElementTagNameMap[Tag] {
  return document.createElement(tag);
}

/** Hidden while there is nothing to say. Left alone if it says that already: a live region would say it again. */
export function setText(element: HTMLElement, text = ""): void {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}

export function createButton(text: string, onClick: () => unknown): HTMLButtonElement {
  const button = create("button");
  button.textContent = text;
  on(button, "click", onClick);
  return button;
}

/** Shows the media at this link, unless it is the one that is shown, signed anew. Without a link it is emptied. */
export type Player = (url?: string) => void;

/** A video or a voice in `place`. Where it can't be played, a note takes its place; then `onFailure` is called with its link. */
export function createPlayer(
  kind: "video" | "audio",
  label: string,
  place: HTMLElement,
  onFailure: (url: string, note: HTMLElement) => void,
): Player {
  const media = create(kind);
  const note = create("p");
  let shown = "";
  media.controls = true;
  media.preload = "metadata";
  media.ariaLabel = label;
  media.hidden = note.hidden = true;
  place.append(media, note);
  on(media, "error", () => {
    // Emptied on purpose.
    if (!media.hasAttribute("src")) return;
    media.hidden = true;
    setText(note, `${label} can't play here: this app may block its host, or its link has expired.`);
    onFailure(shown, note);
  });
  return (url = "") => {
    if (url === shown || (note.hidden && withoutSignature(url) === withoutSignature(shown))) return;
    shown = url;
    media.hidden = !url;
    note.hidden = true;
    media.src = url;
    if (!url) media.removeAttribute("src");
  };
}

function withoutSignature(url: string): string | undefined {
  return url.split("?")[0];
}
