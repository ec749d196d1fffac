// A model server on loopback that answers by a script, over the APIs of real clients: Anthropic messages,
// OpenAI chat completions and responses, Gemini. The script sees the tools and results that a model would.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "../../fixtures/free-port.ts";
import { DIALECTS } from "./dialects.ts";

/** One request of a client, read the same way whatever API it came over. */
export interface Turn {
  /** The names of the tools that the model may call, as the client offers them. */
  readonly tools: readonly string[];
  /** The calls of this conversation so far, oldest first. */
  readonly calls: readonly Call[];
  /** Results that came after their calls had ended, as messages. */
  readonly lateResults: readonly string[];
}

/** A call that the model made before, and what it was shown of its result. */
interface Call {
  readonly tool: string;
  readonly shown: string;
}

export type Reply = { readonly say: string } | { readonly call: string; readonly args: object };

/** Decides the answer of each turn in which tools are offered. */
export type Script = (turn: Turn) => Reply;

/** Clients also ask for titles and the like, without offering tools. */
const ASIDE: Reply = { say: "A video about the sea" };

export async function startScriptedModel(script: Script) {
  /** Those in which tools were offered, oldest first. */
  const turns: Turn[] = [];
  /** The requests that the server did not know, as "METHOD path". */
  const unknown: string[] = [];
  const server = createServer((request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    const dialect = DIALECTS.find(({ path }) => path.test(pathname));
    if (request.method !== "POST" || dialect === undefined) {
      unknown.push(`${request.method} ${pathname}`);
      response.writeHead(404, { "content-type": "application/json" });
      return void response.end('{"error":{"type":"not_found_error","message":"Not found"}}');
    }
    const turn = dialect.read(body);
    const asked = turn.tools.length > 0;
    if (asked) turns.push(turn);
    dialect.write(response, asked ? script(turn) : ASIDE, body);
  }

  const port = await listen(server);
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, turns, unknown, close };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const body = await text(request);
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
