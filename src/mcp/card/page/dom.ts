// Finds and makes the elements of the card. Text from outside is only ever set as text.

type Id =
  | "topic"
  | "facts"
  | "status"
  | "problem"
  | "final"
  | "publish"
  | "platforms"
  | "outcome"
  | "posts"
  | "clips";

interface Elements extends Record<Id, HTMLElement> {
  readonly progress: HTMLProgressElement;
  readonly open: HTMLButtonElement;
  readonly go: HTMLButtonElement;
}

/** Finds the elements of card.html that have an id. */
export function findElements(): Elements {
  const withIds = Array.from(body.querySelectorAll("[id]"), (element) => [element.id, element]);
  // The markup is ours.
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(withIds) as Elements;
}

/** The server describes itself in `dataset`. */
export const { body } = document;

export function on<Type extends keyof HTMLElementEventMap>(
  target: Pick<EventTarget, "addEventListener">,
  type: Type,
  listener: (event: HTMLElementEventMap[Type]) => unknown,
): void {
  // The overloads of a target are narrower than its events.
  // eslint-disable-next-line typescript/no-unsafe-type-assertion
  target.addEventListener(type, listener as EventListener);
}

/** Leaves a text that is already there alone: a live region would say it again. Empty elements are hidden. */
export function setText(element: HTMLElement, text = ""): void {
  if (element.textContent !== text) element.textContent = text;
}

export function append<Tag extends keyof HTMLElementTagNameMap>(
  place: HTMLElement,
  tag: Tag,
  text = "",
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  element.textContent = text;
  place.append(element);
  return element;
}

export function appendButton(place: HTMLElement, text: string, onClick: () => unknown): HTMLButtonElement {
  const button = append(place, "button", text);
  on(button, "click", onClick);
  return button;
}

/** Shows the video at this link, unless only its signature is new. Without a link the place is emptied. */
export function play(place: HTMLElement, label: string, url = "", onFailure?: () => void): void {
  const [address] = url.split("?");
  if (place.dataset["url"] === address) return;
  place.dataset["url"] = address;
  place.textContent = "";
  if (!url) return;
  const video = append(place, "video");
  video.controls = true;
  video.preload = "metadata";
  video.ariaLabel = label;
  video.src = url;
  on(video, "error", () => {
    if (!video.isConnected) return;
    setText(place, `${label} can't play here: this app blocks it, or its link has expired. `);
    onFailure?.();
  });
}
