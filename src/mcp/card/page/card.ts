// The card: follows one job, plays what is there, and publishes after two clicks. What it shows comes from the job's resource, since
// hosts strip tool results. Everything public goes through publish_video, with its guard, limits and question.

import type { McpUiHostContext, McpUiInitializeResult } from "@modelcontextprotocol/ext-apps/app-bridge";
import { create, createButton, createPlayer, elements, on, type Player, setText } from "./elements.ts";
import { connectHost, type Params } from "./host.ts";

/** What our server says of a job, in the resource as in the tool's result. */
interface Job {
  readonly jobId: string;
  readonly status: string;
  readonly done: boolean;
  readonly videoUrls: readonly string[];
  readonly audioUrl?: string;
  readonly finalVideoUrl?: string;
  readonly progress?: { readonly total?: number; readonly completed?: number; readonly failed?: number };
  readonly savedTo?: string;
  readonly publishedTo?: readonly string[];
  readonly settings?: Params;
  /** Why the server no longer polls it. */
  readonly watchEnded?: string;
}

interface PlatformResult {
  readonly platform: string;
  readonly ok: boolean;
  readonly alreadyPublished?: boolean;
  readonly url?: unknown;
  readonly error?: unknown;
}

/** What our server's results hold, as far as the card looks at them. */
interface Data {
  readonly summary?: string;
  readonly jobId?: string;
  readonly resourceUri?: string;
  readonly platforms?: readonly { readonly platform: string; readonly account?: unknown }[];
  readonly results?: readonly PlatformResult[];
}

interface ToolResult {
  readonly content?: readonly { readonly text?: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: Data;
  readonly resultType?: string;
}

const READ_MS = 3_000;
const MAX_PAUSE_MS = 60_000;
const MAX_FAILURES = 6;
/** How often a finished job is read for a link that the service has not listed yet. */
const MAX_LINK_READS = 20;
const ARMED_MS = 15_000;
/** A double click is one click. */
const SECOND_CLICK_MS = 700;

const {
  topic,
  settings,
  status,
  problem,
  progress,
  checked,
  result,
  link,
  publish,
  go,
  outcome,
  posts,
  parts,
} = elements;
const { publishes, asks, sandbox } = document.body.dataset;

const clips: Player[] = [];
const platformButtons = new Map<string, HTMLButtonElement>();
const chosen = new Set<string>();

let capabilities: McpUiInitializeResult["hostCapabilities"] = {};
/** As BCP 47; undefined for the browser's own. */
let locale: string | undefined;
let input: Params = {};
let jobId = "";
let uri = "";
let job: Job | undefined;
let isReading = false;
let isInView = true;
let isTornDown = false;
let failures = 0;
let linkReads = 0;
/** The link that was looked up again because it did not play. */
let failedUrl = "";
let arePlatformsKnown = false;
let isBusy = false;
/** While the button copies, and not the user some text. */
let isCopying = false;
/** As of Event.timeStamp; 0 while one click publishes nothing. */
let armedAt = 0;
let readTimer = 0;
let armTimer = 0;

// What is cast below comes from our own server, which has checked it, or is the host's word.
/* eslint-disable typescript/no-unsafe-type-assertion */

const host = connectHost({
  "ui/notifications/tool-input": (params) => {
    input = (params["arguments"] ?? {}) as Params;
    showOrder();
  },
  "ui/notifications/tool-result": (params) => {
    try {
      ({ jobId = "", resourceUri: uri = "" } = dataOf(params));
      setText(status, canRead() ? "Started." : "Started. Ask in the chat how far it is.");
      void follow();
    } catch (error) {
      setText(status, "No video was started.");
      setText(problem, wordsOf(error));
    }
  },
  "ui/notifications/tool-cancelled": () => setText(status, "The call was cancelled."),
  "ui/notifications/host-context-changed": applyContext,
  "ui/resource-teardown": () => {
    isTornDown = true;
    clearTimeout(readTimer);
    disarm();
    for (const media of document.querySelectorAll<HTMLMediaElement>("video,audio")) {
      media.removeAttribute("src");
      media.load();
    }
  },
});

const final = createPlayer("video", "The final video", elements.final, (url) => {
  if (url === failedUrl) return;
  failedUrl = url;
  void read();
});
const voice = createPlayer("audio", "The voiceover", elements.voice, offerToOpen);
elements.sandbox.hidden = sandbox === undefined;

on(elements.open, "click", () => void open(link.value));
// The modern way needs a permission that hosts rarely give to a frame.
on(elements.copy, "click", () => {
  isCopying = true;
  elements.copy.textContent = document.execCommand("copy") ? "Copied" : "Can't copy";
  isCopying = false;
});
on(document, "copy", (event) => {
  if (!isCopying) return;
  event.clipboardData?.setData("text/plain", link.value);
  event.preventDefault();
});
on(go, "click", ({ timeStamp }) => {
  if (isBusy) return;
  if (!arePlatformsKnown) void loadPlatforms();
  else if (chosen.size > 0 && !armedAt) arm(timeStamp);
  else if (armedAt && timeStamp - armedAt > SECOND_CLICK_MS) void publishNow();
});
// A held key is one click.
on(go, "keydown", (event) => {
  if (event.repeat) event.preventDefault();
});
on(document, "visibilitychange" as "change", resume);
new IntersectionObserver(([entry]) => {
  isInView = entry?.isIntersecting === true;
  resume();
}).observe(document.body);
new ResizeObserver(() => {
  const { scrollWidth, offsetHeight } = document.body;
  host.notify("ui/notifications/size-changed", { width: scrollWidth, height: offsetHeight });
}).observe(document.body);

void host
  .request("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "faceless-video", version: "1" },
    appCapabilities: {},
  })
  .then((answer) => {
    const { hostCapabilities, hostContext } = answer as McpUiInitializeResult;
    capabilities = hostCapabilities ?? {};
    elements.open.hidden = !capabilities.openLinks;
    link.hidden = !elements.open.hidden;
    applyContext(hostContext);
    host.notify("ui/notifications/initialized", {});
  });

function applyContext(changed: McpUiHostContext = {}): void {
  const { theme, styles, containerDimensions } = changed;
  const { style } = document.documentElement;
  if (theme) style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) style.setProperty(name, value ?? null);
  if (styles?.css?.fonts) {
    const sheet = create("style");
    sheet.textContent = styles.css.fonts;
    document.head.append(sheet);
  }
  // A host cuts the card at its own height: what is below the video stays above that.
  const { maxHeight } = (containerDimensions ?? {}) as { maxHeight?: number };
  if (maxHeight) style.setProperty("--video", `${Math.max(120, Math.min(280, maxHeight - 230))}px`);
  try {
    [locale] = Intl.getCanonicalLocales(changed.locale ?? locale);
  } catch {
    // Not one that can be used.
  }
}

function canRead(): boolean {
  return Boolean(capabilities.serverResources ?? capabilities.serverTools);
}

/** Reads the job until it has ended; never while nobody sees the card. */
async function follow(): Promise<void> {
  clearTimeout(readTimer);
  if (!uri || isReading || isOver() || !canRead() || document.hidden || !isInView) return;
  await read();
  if (!isOver()) readTimer = setTimeout(follow, Math.min(MAX_PAUSE_MS, READ_MS * 2 ** failures));
}

function resume(): void {
  failures = 0;
  void follow();
}

function isOver(): boolean {
  if (isTornDown || failures >= MAX_FAILURES) return true;
  if (!job?.done) return Boolean(job?.watchEnded);
  return Boolean(job.finalVideoUrl) || job.status === "failed" || linkReads >= MAX_LINK_READS;
}

async function read(): Promise<void> {
  isReading = true;
  try {
    job = await readJob();
    failures = 0;
    if (job.done) linkReads += 1;
    if (!isTornDown) show(job);
  } catch (error) {
    failures += 1;
    if (failures > 1) setText(problem, `The video can't be looked up: ${wordsOf(error)}`);
  }
  isReading = false;
}

async function readJob(): Promise<Job> {
  if (!capabilities.serverResources) return (await call("get_video_status", { jobId })) as Job;
  const { contents } = (await host.request("resources/read", { uri })) as { contents: [{ text: string }] };
  return JSON.parse(contents[0].text);
}

/** The structured result, which is in the text too, for hosts that strip it. Throws the text of a failure. */
function dataOf({ content, isError, structuredContent, resultType }: ToolResult): Data {
  // The modern protocol's way to ask the user, where the host does not do it for the card.
  if (resultType === "input_required")
    throw new Error("Ask in the chat to publish it: your app can't ask you here.");
  const text = content?.[0]?.text ?? "";
  if (isError) throw new Error(text);
  const [summary, json] = text.split("\n");
  return structuredContent ?? { summary, ...JSON.parse(json ?? "") };
}

async function call(name: string, args: Params): Promise<Data> {
  return dataOf((await host.request("tools/call", { name, arguments: args })) as ToolResult);
}

function wordsOf(error: unknown): string {
  return (error as Error).message;
}

/* eslint-enable typescript/no-unsafe-type-assertion */

function show(shown: Job): void {
  const { status: state, done, videoUrls, audioUrl, finalVideoUrl, watchEnded, savedTo, publishedTo } = shown;
  const { total = 0, completed = videoUrls.length, failed = 0 } = shown.progress ?? {};
  const count = (value: number) => value.toLocaleString(locale);
  showOrder();
  setText(problem, watchEnded ?? "");
  const rendering = `Rendering: ${count(completed)}${total ? ` of ${count(total)}` : ""} clips ready${failed ? `, ${count(failed)} failed` : ""}.`;
  const ready = finalVideoUrl
    ? `Your video is ready.${savedTo ? ` Saved to ${savedTo}` : ""}`
    : "The clips are ready, the final video follows.";
  setText(
    status,
    !done ? rendering : state === "failed" ? "The render failed. Its credits are refunded." : ready,
  );
  progress.hidden = done;
  progress.max = total || 1;
  progress.value = total && completed + failed;
  const time = new Date().toLocaleTimeString(locale);
  setText(checked, done ? "" : `Renders take 2 to 4 minutes. Last checked ${time}.`);

  for (const [index, url] of videoUrls.entries()) (clips[index] ??= addClip(index + 1)).show(url);
  if (audioUrl) voice.show(audioUrl);
  parts.hidden = !videoUrls.length && !audioUrl;

  if (finalVideoUrl) {
    // The whole video is what matters now.
    if (result.hidden) parts.open = false;
    result.hidden = false;
    link.value = finalVideoUrl;
    final.show(finalVideoUrl);
  }
  if (state === "completed" && publishes !== undefined && capabilities.serverTools) {
    if (publish.hidden) void loadPlatforms();
    publish.hidden = false;
    for (const platform of publishedTo ?? []) markPublished(platform);
  }
}

/** The topic, and how the video was ordered. */
function showOrder(): void {
  const order: Params = { ...job?.settings, ...input };
  if (typeof order["topic"] === "string") setText(topic, order["topic"]);
  const seconds = Number(order["duration"]);
  const length = seconds > 0 && seconds.toLocaleString(locale, { style: "unit", unit: "second" });
  const values = ["style", "language", "voice"].map((name) => order[name]);
  setText(settings, [length, ...values].filter(Boolean).join(" · "));
}

function addClip(number: number): Player {
  const item = create("li");
  elements.clips.append(item);
  return createPlayer("video", `Clip ${number}`, item, offerToOpen);
}

function offerToOpen(url: string, place: HTMLElement): void {
  if (capabilities.openLinks)
    place.append(
      " ",
      createButton("Open", () => void open(url)),
    );
}

async function open(url: string): Promise<void> {
  const answer = await host.request("ui/open-link", { url }).catch(() => ({ isError: true }));
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the host's word
  if ((answer as { isError?: boolean }).isError) setText(problem, "Your app did not open the link.");
}

async function loadPlatforms(): Promise<void> {
  isBusy = true;
  setText(outcome, "");
  showGo();
  try {
    const { platforms = [], summary = "" } = await call("list_connected_platforms", {});
    arePlatformsKnown = true;
    for (const { platform, account } of platforms) addPlatform(platform, account);
    setText(outcome, platforms.length ? "" : summary);
  } catch (error) {
    setText(outcome, wordsOf(error));
  }
  isBusy = false;
  showGo();
}

function addPlatform(platform: string, account?: unknown): HTMLButtonElement {
  const known = platformButtons.get(platform);
  if (known) return known;
  const button = createButton(typeof account === "string" ? `${platform} ${account}` : platform, () => {
    disarm();
    if (!chosen.delete(platform)) chosen.add(platform);
    button.ariaPressed = String(chosen.has(platform));
    showGo();
  });
  button.ariaPressed = "false";
  platformButtons.set(platform, button);
  elements.platforms.append(button);
  return button;
}

function markPublished(platform: string): void {
  const button = addPlatform(platform);
  chosen.delete(platform);
  button.ariaPressed = null;
  button.disabled = true;
  button.textContent = `${platform}: public`;
  showGo();
}

function arm(timeStamp: number): void {
  armedAt = timeStamp;
  armTimer = setTimeout(disarm, ARMED_MS);
  setText(outcome, "Click again to make it public. That can't be undone from here.");
  showGo();
}

function disarm(): void {
  clearTimeout(armTimer);
  if (armedAt) setText(outcome, "");
  armedAt = 0;
  showGo();
}

function showGo(): void {
  const names = new Intl.ListFormat("en").format(chosen);
  const publishing = armedAt ? `Yes, publish on ${names} now` : `Publish on ${names}…`;
  const choosing = chosen.size ? publishing : "Choose where to publish";
  setText(go, isBusy ? "One moment…" : arePlatformsKnown ? choosing : "Try again");
  go.ariaDisabled = String(isBusy || (arePlatformsKnown && !chosen.size));
  go.classList.toggle("armed", armedAt > 0);
}

async function publishNow(): Promise<void> {
  disarm();
  isBusy = true;
  showGo();
  setText(
    outcome,
    `Publishing…${asks === undefined ? "" : " If your app asks you to confirm, answer there: beside the chat input or in its notifications."}`,
  );
  posts.textContent = "";
  try {
    const { summary = "", results = [] } = await call("publish_video", { jobId, platforms: [...chosen] });
    setText(outcome, summary);
    for (const post of results) showPost(post);
    const text = `The user chose to publish video ${jobId} in its card. ${summary}`;
    if (capabilities.updateModelContext)
      void host.request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});
  } catch (error) {
    setText(outcome, wordsOf(error));
  }
  isBusy = false;
  showGo();
  void read();
}

function showPost({ platform, ok, alreadyPublished, url, error }: PlatformResult): void {
  const item = create("li");
  const state = ok ? (alreadyPublished ? "was public already" : "published") : "not published";
  item.textContent = `${platform}: ${state}${typeof error === "string" ? `: ${error}` : ""}`;
  if (typeof url === "string") offerToOpen(url, item);
  posts.append(item);
  if (ok) markPublished(platform);
}
