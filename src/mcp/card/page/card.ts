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
  /** `topic` is the service's own field, which it may not have. */
  readonly videos?: readonly { readonly jobId: string; readonly status: string; readonly topic?: unknown }[];
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
/** A search is a request to the service, where most reads are none. */
const SEARCH_MS = 6_000;
const MAX_SEARCHES = 100;
const MAX_PAUSE_MS = 60_000;
const MAX_FAILURES = 6;
/** How often a finished job is read for a link that the service has not listed yet. */
const MAX_LINK_READS = 20;
const ARMED_MS = 15_000;
/** A double click is one click. */
const SECOND_CLICK_MS = 700;

const { topic, settings, status, problem, progress, hint, result, link, publish, go, outcome, posts, parts } =
  elements;
const { publishes, asks, sandbox } = document.body.dataset;

const clips: Player[] = [];
const platformButtons = new Map<string, HTMLButtonElement>();
const chosen = new Set<string>();

let capabilities: McpUiInitializeResult["hostCapabilities"] = {};
let input: Params = {};
/** As the result names it or, while that is late, as the card has found it in the list. */
let jobId = "";
let job: Job | undefined;
/** No result came soon after the input: the call is a task, whose result comes when the video is ready. */
let isResultLate = false;
let searches = 0;
let isReading = false;
let isInView: boolean | undefined = true;
let failures = 0;
let linkReads = 0;
/** The link that was looked up again because it did not play. */
let failedUrl = "";
let arePlatformsKnown = false;
let isBusy = false;
/** As of Event.timeStamp; 0 while one click publishes nothing. */
let armedAt = 0;
let readTimer = 0;
let armTimer = 0;

// What is cast below comes from our own server, which has checked it, or is the host's word.
/* eslint-disable typescript/no-unsafe-type-assertion */

const host = connectHost({
  "tool-input": (params) => {
    input = (params["arguments"] ?? {}) as Params;
    showOrder();
    readTimer = setTimeout(() => {
      isResultLate = true;
      void follow();
    }, READ_MS);
  },
  "tool-result": (params) => {
    try {
      settle(dataOf(params).jobId);
      if (job) show(job);
      else setText(status, canRead() ? "Started." : "Started. Ask in the chat how far it is.");
      resume();
    } catch (error) {
      settle();
      setText(status, "No video was started.");
      setText(problem, wordsOf(error));
    }
  },
  "tool-cancelled": () => {
    // The render goes on.
    if (jobId) return;
    settle();
    setText(status, "The call was cancelled.");
  },
  "host-context-changed": applyContext,
  "resource-teardown": () => {
    // Nothing is asked of the host any more.
    capabilities = {};
    settle();
    disarm();
  },
});

const final = createPlayer("video", "The final video", elements.final, (url) => {
  if (url === failedUrl) return;
  failedUrl = url;
  void read();
});
const voice = createPlayer("audio", "The voiceover", elements.voice, offerToOpen);
elements.sandbox.hidden = sandbox === undefined;

on(elements.open, "click", () => open(link.value));
// The modern way needs a permission that hosts rarely give to a frame.
on(elements.copy, "click", () => {
  // What is hidden can't be selected.
  link.hidden = false;
  link.select();
  elements.copy.textContent = document.execCommand("copy") ? "Copied" : "Can't copy";
  link.hidden = !elements.open.hidden;
  elements.copy.focus();
});
on(go, "click", ({ timeStamp }) => {
  if (isBusy) return;
  if (!arePlatformsKnown) void loadPlatforms();
  else if (chosen.size && !armedAt) {
    armedAt = timeStamp;
    armTimer = setTimeout(disarm, ARMED_MS);
    setText(outcome, "Click again to make it public. That can't be undone from here.");
    showGo();
  } else if (armedAt && timeStamp - armedAt > SECOND_CLICK_MS) void publishNow();
});
// A held key is one click.
on(go, "keydown", (event) => {
  if (event.repeat) event.preventDefault();
});
on(document, "visibilitychange" as "change", resume);
new IntersectionObserver(([entry]) => {
  isInView = entry?.isIntersecting;
  resume();
}).observe(document.body);
new ResizeObserver(() => {
  const { scrollWidth, offsetHeight } = document.body;
  host.notify("size-changed", { width: scrollWidth, height: offsetHeight });
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
    host.notify("initialized", {});
  });

function applyContext({ theme, styles, containerDimensions }: McpUiHostContext = {}): void {
  const { style } = document.documentElement;
  if (theme) style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) style.setProperty(name, value ?? null);
  // A host cuts the card at its own height: what is below the video stays above that.
  const maxHeight = (containerDimensions as { maxHeight?: number } | undefined)?.maxHeight;
  if (maxHeight) style.setProperty("--video", `clamp(120px,${maxHeight - 230}px,280px)`);
}

function canRead(): unknown {
  return capabilities.serverResources ?? capabilities.serverTools;
}

/** Ends the search with what the host says of the call. Another job than this one goes from the card. */
function settle(named = ""): void {
  clearTimeout(readTimer);
  isResultLate = false;
  if (jobId !== named) {
    job = undefined;
    linkReads = 0;
    for (const player of [final, voice, ...clips]) player.show();
    progress.hidden = hint.hidden = result.hidden = parts.hidden = true;
  }
  jobId = named;
}

/** Reads the job until it has ended, and searches for it first where the result is late; never while nobody sees the card. */
async function follow(): Promise<void> {
  if (!(jobId ? canRead() : isResultLate && capabilities.serverTools)) return;
  if (isReading || isOver() || document.hidden || !isInView) return;
  clearTimeout(readTimer);
  await read();
  if (isOver()) return;
  readTimer = setTimeout(follow, Math.min(MAX_PAUSE_MS, (jobId ? READ_MS : SEARCH_MS) * 2 ** failures));
}

function resume(): void {
  failures = 0;
  void follow();
}

function isOver(): unknown {
  if (failures >= MAX_FAILURES) return true;
  if (!job?.done) return job?.watchEnded || (!jobId && searches >= MAX_SEARCHES);
  return job.finalVideoUrl || job.status === "failed" || linkReads >= MAX_LINK_READS;
}

async function read(): Promise<void> {
  isReading = true;
  try {
    const id = jobId || (isResultLate && (await search()));
    if (id) {
      const answer = await readJob(id);
      // A video that was found and has ended is an earlier one: the list lags behind.
      if (isResultLate && !jobId && !answer.done) jobId = id;
      // The result may have come meanwhile, and knows better.
      if (jobId === id) {
        job = answer;
        if (job.done) linkReads += 1;
        show(job);
      }
    }
    failures = 0;
  } catch (error) {
    failures += 1;
    if (failures > 1) setText(problem, `The video can't be looked up: ${wordsOf(error)}`);
  }
  isReading = false;
}

/** The newest video that renders this topic; one without a topic counts if no other renders. */
async function search(): Promise<string | undefined> {
  searches += 1;
  const wanted = String(input["topic"]).trim();
  const { videos = [] } = await call("list_videos", {});
  const running = videos.filter(({ status: state }) => state !== "completed" && state !== "failed");
  return running.find(({ topic: listed = running[1] ? "" : wanted }) => {
    const text = String(listed);
    // Lists cut long texts.
    return text === wanted || (/.{99}…$/s.test(text) && wanted.startsWith(text.slice(0, -1)));
  })?.jobId;
}

async function readJob(id: string): Promise<Job> {
  if (!capabilities.serverResources) return call("get_video_status", { jobId: id }) as Promise<Job>;
  const { contents } = (await host.request("resources/read", {
    uri: `faceless://jobs/${encodeURIComponent(id)}`,
  })) as { contents: [{ text: string }] };
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

function show({
  status: state,
  done,
  videoUrls,
  audioUrl,
  finalVideoUrl,
  watchEnded,
  savedTo,
  publishedTo,
  progress: { total = 0, completed = videoUrls.length, failed = 0 } = {},
}: Job): void {
  showOrder();
  setText(problem, watchEnded);
  const rendering = `Rendering: ${completed}${total ? ` of ${total}` : ""} clips ready${failed ? `, ${failed} failed` : ""}.`;
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
  setText(hint, done ? "" : "Renders take 2 to 4 minutes.");

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
  // Nothing is made public before the result has named it.
  if (state === "completed" && !isResultLate && publishes !== undefined && capabilities.serverTools) {
    if (publish.hidden) void loadPlatforms();
    publish.hidden = false;
    for (const platform of publishedTo ?? []) markPublished(platform);
  }
}

/** The topic, and how the video was ordered. */
function showOrder(): void {
  const order: Params = { ...job?.settings, ...input };
  if (typeof order["topic"] === "string") setText(topic, order["topic"]);
  const seconds = order["duration"] && `${String(order["duration"])} s`;
  const values = [seconds, order["style"], order["language"], order["voice"]];
  setText(settings, values.filter(Boolean).join(" · "));
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
      createButton("Open", () => open(url)),
    );
}

async function open(url: string): Promise<void> {
  const answer = await host.request("ui/open-link", { url }).catch(() => ({ isError: true }));
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the host's word
  if ((answer as { isError?: boolean }).isError) setText(problem, "Your app did not open the link.");
}

async function loadPlatforms(): Promise<void> {
  isBusy = true;
  setText(outcome);
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

function disarm(): void {
  clearTimeout(armTimer);
  if (armedAt) setText(outcome);
  armedAt = 0;
  showGo();
}

function showGo(): void {
  const names = [...chosen].join(" and ");
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
