// Downloads a finished video from wherever its link leads. Never sends the key. Checks each hop of the way
// and the addresses that its name resolves to. Knows nothing of jobs and files. Loaded on first use: it
// needs undici.

import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import type { Dispatcher } from "undici";
import type { Clock } from "../clock.ts";
import type { ServiceConfig } from "../config.ts";
import { isLoopback } from "../loopback.ts";
import { createDispatcher, isProxied } from "../service/proxy.ts";
import { explainNetworkError } from "../service/transport-failure.ts";
import { networkOf, type Network } from "./network.ts";
import { DownloadFailure } from "./saved-videos.ts";

const LIMITS = {
  maxBytes: 500 * 1024 * 1024,
  /** A connection that brings no byte for this long is given up. */
  stallMs: 30_000,
  /** The limit of the whole download. */
  deadlineMs: 30 * 60_000,
};
export type DownloadLimits = Readonly<typeof LIMITS>;

/** Resolves to all IP addresses of a host name. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface DownloaderOptions {
  /** The service's: private addresses and plain http are for a service that is private itself. */
  readonly service: Pick<ServiceConfig, "baseUrl" | "proxies">;
  readonly version: string;
  readonly clock: Pick<Clock, "after">;
  /** The system's unless given. */
  readonly lookup?: Lookup;
  readonly limits?: Partial<DownloadLimits>;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

export class Downloader {
  readonly #options: DownloaderOptions;
  readonly #limits: DownloadLimits;

  constructor(options: DownloaderOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Yields the file as it arrives. Throws a DownloadFailure if it is no video or does not arrive whole. */
  async *download(url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const stop = new AbortController();
    const tooLong = new DownloadFailure("it took too long");
    const cancelDeadline = this.#options.clock.after(this.#limits.deadlineMs, () => stop.abort(tooLong));
    try {
      yield* this.#follow(url, AbortSignal.any([signal, stop.signal]));
    } catch (error) {
      if (error instanceof DownloadFailure) throw error;
      throw new DownloadFailure(explainNetworkError(error).reason, { mayPass: true });
    } finally {
      cancelDeadline();
      // A signal that never aborts would keep its listeners for ever.
      stop.abort();
    }
  }

  /** Requests the link and what it redirects to, and yields the file that is there. */
  async *#follow(link: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    // A lookup does not look at the signal, nor does undici before the proxy has answered.
    const aborted = new Promise<never>((_, reject) => {
      const abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
    });
    const serviceNetwork = await Promise.race([aborted, this.#serviceNetwork()]);
    let url = checkedUrl(link, serviceNetwork);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const addresses = await Promise.race([aborted, this.#allowedAddresses(url.hostname, serviceNetwork)]);
      const dispatcher = this.#createDispatcher(addresses);
      try {
        const request = dispatcher.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: "GET",
          // Any visitor sends these: there is neither key nor cookie.
          headers: {
            accept: "video/*, application/octet-stream;q=0.9, */*;q=0.5",
            "accept-encoding": "identity",
            "user-agent": `faceless-video-mcp/${this.#options.version}`,
          },
          signal,
        });
        const answer = await Promise.race([aborted, request]);
        answer.body.on("error", () => {});
        if (!REDIRECTS.has(answer.statusCode)) return yield* this.#receive(answer);
        url = checkedUrl(headerOf(answer, "location"), serviceNetwork, url);
      } finally {
        // Ends what is still under way: behind a proxy that has not answered, nothing else does.
        void dispatcher.destroy().catch(() => {});
      }
    }
    throw new DownloadFailure(`its link redirects more than ${MAX_REDIRECTS} times`);
  }

  async *#receive(answer: Dispatcher.ResponseData): AsyncGenerator<Uint8Array, void> {
    if (answer.statusCode !== 200) throw new DownloadFailure(`its host answered HTTP ${answer.statusCode}`);
    if (/^(text|image|audio)\/|^application\/\S*(json|xml)/i.test(headerOf(answer, "content-type")))
      throw new DownloadFailure("its link does not lead to a video");
    if (!/^(identity)?$/i.test(headerOf(answer, "content-encoding")))
      throw new DownloadFailure("its host compresses the file");
    this.#checkSize(Number(headerOf(answer, "content-length")));
    let bytes = 0;
    const chunks: AsyncIterable<Uint8Array> = answer.body;
    // undici throws where less arrives than Content-Length says.
    for await (const chunk of chunks) {
      bytes += chunk.length;
      this.#checkSize(bytes);
      yield chunk;
    }
    if (bytes === 0) throw new DownloadFailure("the file is empty");
  }

  #checkSize(bytes: number): void {
    const { maxBytes } = this.#limits;
    if (bytes > maxBytes)
      throw new DownloadFailure(`the file is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`);
  }

  /** Connects to these addresses and no others, whatever the name resolves to next: they were checked. */
  #createDispatcher(addresses: readonly LookupAddress[]): Dispatcher {
    const lookup: LookupFunction = (hostname, { all }, callback) => {
      const [first] = addresses;
      if (first === undefined)
        callback(Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" }), "");
      else if (all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    const options = {
      headersTimeout: this.#limits.stallMs,
      bodyTimeout: this.#limits.stallMs,
      maxHeaderSize: 16 * 1024,
      allowH2: false,
    };
    return createDispatcher(this.#options.service.proxies, options, lookup);
  }

  /** Throws if none of them may be connected to. Empty if only the proxy can resolve the name. */
  async #allowedAddresses(hostname: string, serviceNetwork: Network): Promise<readonly LookupAddress[]> {
    const addresses = await this.#resolve(hostname).catch((error: unknown) => {
      if (isProxied(this.#options.service.proxies)) return undefined;
      throw error;
    });
    if (addresses === undefined) return [];
    const allowed = addresses.filter(({ address }) =>
      ["public", serviceNetwork].includes(networkOf(address)),
    );
    if (allowed.length === 0) throw new DownloadFailure("its link leads to a private address");
    return allowed;
  }

  /** The network that may hold its files besides the internet. Only a name, never DNS, makes it loopback. */
  async #serviceNetwork(): Promise<Network> {
    const { hostname } = this.#options.service.baseUrl;
    if (isLoopback(hostname)) return "loopback";
    const addresses = await this.#resolve(hostname).catch(() => []);
    const isPrivate =
      addresses.length > 0 && addresses.every(({ address }) => networkOf(address) === "private");
    return isPrivate ? "private" : "public";
  }

  /** Takes `URL.hostname`. */
  async #resolve(hostname: string): Promise<readonly LookupAddress[]> {
    const { lookup = (name) => systemLookup(name, { all: true }) } = this.#options;
    const address = hostname.replace(/^\[|\]$/g, "");
    const family = isIP(address);
    return family === 0 ? lookup(hostname) : [{ address, family }];
  }
}

/** Throws unless it is https, or http on this computer for a service that runs here too. */
function checkedUrl(text: string, serviceNetwork: Network, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new DownloadFailure("its link is not a URL");
  const url = new URL(text, base);
  const isLocal = isLoopback(url.hostname) && serviceNetwork === "loopback";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal))
    throw new DownloadFailure("its link does not stay on https");
  if (url.username !== "" || url.password !== "")
    throw new DownloadFailure("its link has a user name or a password");
  return url;
}

/** The first value; empty where there is none. */
function headerOf({ headers }: Dispatcher.ResponseData, name: string): string {
  return [headers[name]].flat()[0] ?? "";
}
