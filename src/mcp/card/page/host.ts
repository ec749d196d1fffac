// The host of the card: JSON-RPC over postMessage, as MCP Apps has it. Knows nothing of what is shown.

/** What the host sends and gets; the receiver checks what it needs. */
export type Params = Readonly<Record<string, unknown>>;

export interface Host {
  /** Rejects with the host's words. */
  request(method: string, params: Params): Promise<unknown>;
  notify(method: string, params: Params): void;
}

/** Handles messages from the moment it returns. Requests of the host are answered with an empty result. */
export function connectHost(handlers: Readonly<Record<string, (params: Params) => void>>): Host {
  const pending = new Map<unknown, (message: { result?: unknown; error?: { message: string } }) => void>();
  let lastId = 0;
  const post = (message: object) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  addEventListener("message", ({ source, data }) => {
    if (source !== parent || !data) return;
    const { id, method, params } = data;
    if (method) {
      handlers[method]?.(params ?? {});
      if (id !== undefined) post({ id, result: {} });
    } else {
      pending.get(id)?.(data);
      pending.delete(id);
    }
  });

  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        pending.set(++lastId, ({ result, error }) => {
          if (error) reject(new Error(error.message));
          else resolve(result);
        });
        post({ id: lastId, method, params });
      }),
    notify: (method, params) => post({ method, params }),
  };
}
