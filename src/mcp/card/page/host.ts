// The host of the card: JSON-RPC over postMessage, as MCP Apps specifies it. Knows nothing of what is shown.

/** The parameters of a message; the receiver checks what it needs. */
export type Params = Readonly<Record<string, unknown>>;

export interface Failure {
  readonly message: string;
  /** What became of the request; undefined if the host has stripped _meta. */
  readonly outcome?: "not_sent" | "rejected" | "unknown" | undefined;
}

export type FailureMeta = Partial<{ "faceless/error": Partial<Failure>; "faceless/person": string }>;

/** A message of JSON-RPC, which a host is trusted to send. */
interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: unknown;
  readonly error?: { readonly data?: FailureMeta };
}

export interface Host {
  /** Rejects with a Failure. */
  request(method: string, params: Params): Promise<unknown>;
  /** The name has no prefix: all notifications have the same. */
  notify(name: string, params: Params): void;
}

/** Handles messages by their method's last part from now on. The host's requests get an empty result. */
export function connectHost(handlers: Readonly<Record<string, (params: Params) => void>>): Host {
  const pending = new Map<unknown, (message: Message) => void>();
  let lastId = 0;
  const post = (message: object) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  addEventListener("message", ({ source, data }: MessageEvent<Message | undefined>) => {
    if (source !== parent || data === undefined) return;
    const { id, method, params } = data;
    if (method !== undefined) {
      handlers[method.replace(/.*\//, "")]?.(params ?? {});
      if (id !== undefined) post({ id, result: {} });
    } else {
      pending.get(id)?.(data);
      pending.delete(id);
    }
  });

  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        pending.set(lastId, ({ result, error }) => {
          if (error === undefined) resolve(result);
          else reject(failureOf(error.data));
        });
        post({ id: lastId, method, params });
      }),
    notify: (name, params) => post({ method: `ui/notifications/${name}`, params }),
  };
}

/** A Failure in words for a person. Never in those for the model, which a host may pass on alone. */
export function failureOf(meta: FailureMeta = {}): Error {
  const words = meta["faceless/person"] ?? "The call failed. Ask in the chat for the reason.";
  return Object.assign(new Error(words), meta["faceless/error"]);
}
