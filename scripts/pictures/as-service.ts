// The sandbox behind another address and key, so that the pictures show what users of an account see: this program knows the sandbox
// by its key.

import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

interface Sandbox {
  readonly url: string;
  readonly apiKey: string;
}

export async function asService({ url, apiKey }: Sandbox) {
  const server = createServer((incoming, response) => void forward(incoming, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  // The type also covers pipes, which have no port.
  const ownUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = incoming;
    const sent = request(new URL(incoming.url ?? "/", url), {
      method,
      headers: { ...headers, authorization: `Bearer ${apiKey}` },
    });
    incoming.pipe(sent);
    const answered = once(sent, "response");
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- Node's own event
    const [answer] = (await answered) as [IncomingMessage];
    const body = await buffer(answer);
    const isJson = answer.headers["content-type"]?.includes("json") === true;
    // Media come through here, too: a card may load from one origin.
    const own = isJson ? Buffer.from(body.toString().replaceAll(url, ownUrl)) : body;
    const { "transfer-encoding": _, ...kept } = answer.headers;
    response.writeHead(answer.statusCode ?? 502, { ...kept, "content-length": own.length });
    response.end(own);
  }

  return {
    url: ownUrl,
    apiKey: "fl_example_of_a_picture",
    async close() {
      const closed = once(server, "close");
      server.closeAllConnections();
      server.close();
      await closed;
    },
  };
}
