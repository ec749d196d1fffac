// Finds and makes the elements of the card. Text from outside is only ever set as text.

/** Finds an element of card.html. */
export function find(id: string): HTMLElement {
  const element = document.querySelector(`#${id}`);
  if (!(element instanceof HTMLElement)) throw new TypeError(`card.html has no ${id}.`);
  return element;
}

/** True if the server has set this flag: see card.ts of the server. */
export function hasFlag(name: "publishes" | "asks" | "asksFirst" | "sandbox"): boolean {
  return name in document.body.dataset;
}

/** Leaves an unchanged text alone, since a screen reader would read it again. Hides empty elements. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** At most 60 characters (code points) of the service's text, in quotation marks that it can't end. */
export function quote(text: string): string {
  const characters = Array.from(text);
  return JSON.stringify(characters.length <= 60 ? text : `${characters.slice(0, 59).join("")}…`);
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
  button.addEventListener("click", onClick);
  return button;
}

/** Shows the video at this link, unless only its signature is new. Without a link, empties the place. */
export function play(place: HTMLElement, label: string, url = "", onFailure?: () => void): void {
  const [address = ""] = url.split("?");
  if (place.dataset["url"] === address) return;
  place.dataset["url"] = address;
  place.textContent = "";
  if (url === "") return;
  const video = append(place, "video");
  video.controls = true;
  video.preload = "metadata";
  video.ariaLabel = label;
  video.addEventListener("error", () => {
    if (!video.isConnected) return;
    setText(place, `${label} can't play here: the app blocks it, or its link has expired. `);
    onFailure?.();
  });
  video.src = url;
}
