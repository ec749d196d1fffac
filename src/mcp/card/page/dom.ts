// Finds and makes the elements of the card. Text from outside is only ever set as text.

/* eslint-disable unicorn/prefer-add-event-listener -- one listener of each event, in fewer bytes */

type Id =
  | "topic"
  | "facts"
  | "status"
  | "error"
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

/** Leaves a text that is already there alone: a live region would say it again. Empty elements are hidden. */
export function setText(element: HTMLElement, text = ""): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A longer text is cut after so many characters (code points), and ends with an ellipsis. */
export function cut(text: string, length: number): string {
  return text.replace(new RegExp(`^(.{${length}})..+`, "su"), "$1…");
}

/** A text of the service in quotation marks that it can't end, at most 60 characters of it. */
export function quote(text: string): string {
  return JSON.stringify(cut(text, 59));
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
  button.onclick = onClick;
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
  video.onerror = () => {
    if (!video.isConnected) return;
    setText(place, `${label} can't play here: the app blocks it, or its link has expired. `);
    onFailure?.();
  };
}
