// A chat with MCP Apps in a page: the SDK's real client and the real AppBridge. The server's messages pass
// through functions that the test puts into the page.

import {
  Client,
  type CallToolResult,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import {
  AppBridge,
  getToolUiResourceUri,
  type McpUiHostContext,
  type McpUiResourceMeta,
  PostMessageTransport,
} from "@modelcontextprotocol/ext-apps/app-bridge";
import * as z from "zod";
import type { ChatOptions, PageChat } from "../page-chat.ts";

/** Functions that the test puts into the page. */
interface TestFunctions {
  sendToServer(message: JSONRPCMessage): Promise<void>;
  /** The address at which the card is served under this policy. */
  serveCard(html: string, meta: McpUiResourceMeta): Promise<string>;
  answerQuestion(
    message: string,
  ): Promise<{ action: "accept" | "decline"; content?: Record<string, string> }>;
}

declare global {
  // eslint-disable-next-line typescript/no-empty-object-type
  interface Window extends TestFunctions {
    chat: PageChat;
  }
}

class Chat implements PageChat {
  readonly openedLinks: string[] = [];
  readonly modelContext: unknown[] = [];
  receiveFromServer: (message: JSONRPCMessage) => void = () => {};
  #bridge: AppBridge | undefined;
  #client: Client | undefined;
  #result: Promise<CallToolResult> | undefined;
  #stripsResults = false;

  async #connect(options: ChatOptions): Promise<Client> {
    const client = new Client(
      { name: "card-test-host", version: "1.0.0" },
      {
        ...(options.protocol === "modern" && { versionNegotiation: { mode: "auto" } }),
        capabilities: {
          ...(options.asksUser === true && { elicitation: {} }),
          ...(options.runsTasks === true && { tasks: {} }),
          extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
        },
      },
    );
    if (options.asksUser === true)
      client.setRequestHandler("elicitation/create", ({ params }) => window.answerQuestion(params.message));
    const transport: Transport = {
      start: async () => {},
      close: async () => {},
      send: (message) => window.sendToServer(message),
    };
    this.receiveFromServer = (message) => transport.onmessage?.(message);
    await client.connect(transport);
    return client;
  }

  async generate(args: Record<string, unknown>, options: ChatOptions): Promise<void> {
    const client = (this.#client ??= await this.#connect(options));
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === "generate_video");
    const uri = getToolUiResourceUri(tool ?? {});
    if (uri === undefined) throw new Error("generate_video names no card.");
    // With the call, as VS Code does: before any link is known.
    const read = client.readResource({ uri });
    const call = { name: "generate_video", arguments: args };
    this.#result = options.runsTasks === true ? runAsTask(client, call) : client.callTool(call);
    this.#stripsResults = options.stripsResults === true;
    const [content] = (await read).contents;
    if (content === undefined || !("text" in content)) throw new Error("The card has no text.");
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- as MCP Apps has it
    const meta = (content._meta?.["ui"] ?? {}) as McpUiResourceMeta;
    await this.#mount(client, await window.serveCard(content.text, meta), options);
    await this.#bridge?.sendToolInput({ arguments: args });
    if (options.runsTasks === true) void this.sendResult();
    else if (options.holdsResult !== true) await this.sendResult();
  }

  async sendResult(instead?: CallToolResult): Promise<void> {
    const result = instead ?? (await this.#result);
    if (result === undefined) throw new Error("There is no result.");
    const { content, isError } = result;
    const stripped = { content, ...(isError !== undefined && { isError }) };
    await this.#bridge?.sendToolResult(this.#stripsResults ? stripped : result);
  }

  async #mount(client: Client, url: string, options: ChatOptions): Promise<void> {
    const {
      hostContext = {},
      hostCapabilities = { serverTools: {}, serverResources: {}, openLinks: {}, updateModelContext: {} },
    } = options;
    const frame = document.createElement("iframe");
    frame.title = "Card";
    frame.sandbox.add("allow-scripts");
    document.body.append(frame);
    const { contentWindow } = frame;
    if (contentWindow === null) throw new Error("The frame has no window.");
    const bridge = new AppBridge(client, { name: "card-test-host", version: "1.0.0" }, hostCapabilities, {
      hostContext,
    });
    bridge.onopenlink = ({ url: opened }) => {
      this.openedLinks.push(opened);
      return Promise.resolve({ isError: false });
    };
    bridge.onupdatemodelcontext = ({ content }) => {
      this.modelContext.push(content);
      return Promise.resolve({});
    };
    bridge.addEventListener("sizechange", ({ height = 0 }) => {
      frame.style.height = `${height}px`;
    });
    const initialized = new Promise<void>((resolve) => {
      bridge.addEventListener("initialized", () => resolve());
    });
    await bridge.connect(new PostMessageTransport(contentWindow, contentWindow));
    this.#bridge = bridge;
    frame.src = url;
    await initialized;
  }

  async sendCancelled(): Promise<void> {
    await this.#bridge?.sendToolCancelled({});
  }

  async publish(jobId: string, platform: string): Promise<void> {
    await this.#client?.callTool({ name: "publish_video", arguments: { jobId, platforms: [platform] } });
  }

  async roundTrip(): Promise<void> {
    await this.#client?.listTools();
  }

  changeContext(context: McpUiHostContext): void {
    this.#bridge?.setHostContext(context);
  }

  async tearDown(): Promise<void> {
    await this.#bridge?.teardownResource({});
  }
}

/** As a task of 2025-11-25, whose result is asked for at its end. */
async function runAsTask(client: Client, call: Record<string, unknown>): Promise<CallToolResult> {
  const ask = (method: string, params: Record<string, unknown>) =>
    client.request({ method, params }, z.any());
  const started = await ask("tools/call", { ...call, task: {} });
  if (started.task === undefined) return started;
  const { taskId } = started.task;
  while ((await ask("tasks/get", { taskId })).status === "working")
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  return ask("tasks/result", { taskId });
}

window.chat = new Chat();
