// A chat that shows cards: Debian's chromium with the page of browser/chat.ts, over the built server. Each
// card has another origin than the chat, a sandbox, and the policy that MCP Apps prescribes.

import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { McpUiResourceMeta } from "@modelcontextprotocol/ext-apps/app-bridge";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { build } from "rolldown";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { findBrowser } from "../fixtures/browser.ts";
import { BUILT_FILE, SERVER_NODE } from "../../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, VIDEOS } from "../../fixtures/constants.ts";
import { listen } from "../../fixtures/free-port.ts";
import { scriptedService, type Scripts } from "../../fixtures/scripted-service.ts";
import type { ChatOptions, PageChat } from "./page-chat.ts";

export const TOPIC = { topic: "Why the sea is salty" };
/** The sandbox, whose videos are ready at once. */
export const DONE_AT_ONCE = { args: ["--sandbox"], env: { FACELESS_SANDBOX_SECONDS: "0" } };
/** Says where a scripted service lists the connected accounts. */
export const PLATFORMS_DOCUMENT = {
  json: { paths: { "/api/v1/platforms": { get: { operationId: "list_connected_platforms" } } } },
};

/** The browser that CARD_BROWSER names must exist. */
export const BROWSER = process.env["CARD_BROWSER"] ?? findBrowser();

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(BROWSER !== undefined && { executablePath: BROWSER }),
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      // A test that plays a video has to click it, as a user does.
      "--autoplay-policy=document-user-activation-required",
    ],
  });
}

export interface ChatStart extends ChatOptions {
  readonly browser: Browser;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Picture pixels per page pixel. */
  readonly pixelRatio?: number;
  /** True if the browser's clock stands still until the test moves it. */
  readonly stopsTime?: boolean;
  /** The user agrees to an order once this resolves. */
  readonly agreed?: Promise<void>;
  /** How the user answers any question but the one before an order. */
  readonly answer?: (question: string) => Promise<"yes" | "no"> | "yes" | "no";
}

export type Chat = Awaited<ReturnType<typeof openChat>>;

/** Opens chats in one browser. Chats are closed after their test, the browser after those of the file. */
export function useChats() {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  const open = async (start: Omit<ChatStart, "browser">) => {
    const chat = await openChat({ browser, ...start });
    onTestFinished(() => chat.close());
    return chat;
  };
  /** With a service that the test scripts; it starts JOB_ID and lists nothing. */
  const openScripted = async (scripts: Scripts, { env, ...start }: Partial<ChatStart> = {}) => {
    const service = await scriptedService({
      [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } },
      [VIDEOS]: { json: { videos: [] } },
      ...scripts,
    });
    const account = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url };
    return { service, chat: await open({ ...start, env: { ...account, ...env } }) };
  };
  /** With the sandbox, whose renders take 100 seconds of the clock that the test moves. */
  const openSandbox = async (start: Partial<ChatStart> = {}) => {
    let nowMs = Date.now();
    const sandbox = await startSandbox({ renderSeconds: 100, now: () => nowMs, requestsPerMinute: 10_000 });
    onTestFinished(() => sandbox.close());
    const account = { FACELESS_API_KEY: sandbox.apiKey, FACELESS_BASE_URL: sandbox.url };
    const chat = await open({ ...start, env: { ...account, FACELESS_POLL_SECONDS: "0.5" } });
    return { chat, passMinute: () => void (nowMs += 60_000) };
  };
  return { open, openScripted, openSandbox };
}

/** Makes a chat, which the caller closes. */
export async function openChat({ browser, args = [], env = {}, ...start }: ChatStart) {
  const {
    viewport = { width: 720, height: 900 },
    pixelRatio = 1,
    stopsTime = false,
    agreed,
    answer = () => "no",
    ...options
  } = start;
  /** Written as "tools/call publish_video" or "resources/read faceless://jobs/…". */
  const sent: string[] = [];
  /** Errors in the console, and uncaught ones. */
  const errors: string[] = [];
  const questions: string[] = [];
  const web = await serveChat();
  const server = new StdioClientTransport({
    command: SERVER_NODE,
    args: [BUILT_FILE, ...args],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      FACELESS_STATE_DIR: "off",
      ...env,
    },
    stderr: "ignore",
  });
  const page = await browser.newPage({ viewport, deviceScaleFactor: pixelRatio });
  if (stopsTime) await page.clock.install();
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  await page.exposeFunction("sendToServer", async (message: JSONRPCMessage) => {
    sent.push(describe(message));
    await server.send(message);
  });
  await page.exposeFunction("serveCard", web.serveCard);
  await page.exposeFunction("answerQuestion", async (question: string) => {
    const order = /^(Pay for|Make) a video/.exec(question);
    if (order !== null) {
      await agreed;
      return { action: "accept", content: { decision: `${order[1]} this video` } };
    }
    questions.push(question);
    // The choice names no accounts.
    const platforms = / on ([^?]*)\?/.exec(question)?.[1]?.replace(/ \([^)]*\)/g, "");
    return (await answer(question)) === "yes"
      ? { action: "accept", content: { decision: `Publish on ${platforms}` } }
      : { action: "decline" };
  });
  await page.goto(web.chatUrl);
  const inPage = await page.evaluateHandle<PageChat>("chat");
  const inChat =
    <Name extends Exclude<keyof PageChat, "openedLinks" | "modelContext">>(name: Name) =>
    (...args: Parameters<PageChat[Name]>): Promise<void> =>
      // As text: the types are too deep for the evaluation's own.
      inPage.evaluate(
        (chat, text) => {
          const [method, values] = JSON.parse(text);
          return Reflect.apply(Reflect.get(chat, method), chat, values);
        },
        JSON.stringify([name, args]),
      );
  // The server may still write when the page is gone.
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- a Transport has no other way
  server.onmessage = (message) =>
    void inPage
      .evaluate((chat, text) => chat.receiveFromServer(JSON.parse(text)), JSON.stringify(message))
      .catch(() => {});
  await server.start();
  return {
    page,
    sent,
    errors,
    questions,
    /** Calls generate_video and gives its card, which comes below those of earlier calls. */
    async generate(values: Record<string, unknown>) {
      await inChat("generate")(values, options);
      return page.frameLocator("iframe >> nth=-1");
    },
    /** Moves the stopped clock by this many seconds and lets the page send what is due. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second += 4) {
        await page.clock.runFor(4_000);
        await inChat("roundTrip")();
      }
    },
    changeContext: inChat("changeContext"),
    publish: inChat("publish"),
    sendResult: inChat("sendResult"),
    sendCancelled: inChat("sendCancelled"),
    tearDown: inChat("tearDown"),
    openedLinks: () => inPage.evaluate((chat) => chat.openedLinks),
    modelContext: () => inPage.evaluate((chat) => chat.modelContext),
    async close() {
      await page.close();
      await server.close();
      web.close();
    },
  };
}

function describe(message: JSONRPCMessage): string {
  if (!("method" in message)) return "answer";
  const { name, uri } = message.params ?? {};
  return [message.method, name, uri].filter((part) => typeof part === "string").join(" ");
}

let script: Promise<string> | undefined;

/** The chat's page on one origin, and its cards on another. */
async function serveChat() {
  script ??= build({
    input: fileURLToPath(new URL("browser/chat.ts", import.meta.url)),
    platform: "browser",
    output: { format: "iife" },
    write: false,
  }).then(({ output: [{ code }] }) => code);
  const code = await script;
  const cards: { readonly html: string; readonly policy: string }[] = [];
  const pages = createServer(({ url }, response) => {
    const card = cards[Number(url?.slice("/card/".length))];
    if (card !== undefined)
      response
        .writeHead(200, { "content-type": "text/html", "content-security-policy": card.policy })
        .end(card.html);
    else if (url === "/chat.js") response.writeHead(200, { "content-type": "text/javascript" }).end(code);
    else response.writeHead(200, { "content-type": "text/html" }).end(CHAT);
  });
  const port = await listen(pages);
  return {
    chatUrl: `http://127.0.0.1:${port}/`,
    serveCard(html: string, { csp }: McpUiResourceMeta): string {
      cards.push({ html, policy: policyOf(csp?.resourceDomains ?? []) });
      // Another host name is another origin.
      return `http://localhost:${port}/card/${cards.length - 1}`;
    },
    close() {
      pages.close();
      pages.closeAllConnections();
    },
  };
}

const CHAT =
  '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Chat</title><style>body{margin:0}iframe{width:100%;border:0}</style><body><script src="/chat.js"></script>';

/** The policy that the specification of MCP Apps prescribes. */
function policyOf(domains: readonly string[]): string {
  const named = domains.join(" ");
  return `default-src 'none'; script-src 'self' 'unsafe-inline' ${named}; style-src 'self' 'unsafe-inline' ${named}; img-src 'self' data: ${named}; font-src 'self' ${named}; media-src 'self' data: ${named}; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'`;
}
