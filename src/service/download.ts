// Downloads a finished video from wherever its link leads. Never sends the key. Checks each hop of the way, the address that a name
// resolves to included, and continues what was cut. Knows nothing of jobs and files. Loaded on first use: it needs undici.

import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, type Dispatcher } from "undici";
import type { ServiceConfig } from "../config.ts";
import { isLoopback } from "../loopback.ts";
import { createProxyAgent } from "./connection-pool.ts";
import { explainNetworkError, TransportFailure } from "./transport-failure.ts";
import { networkOf, type Network } from "./network.ts";
import {
  beginAnswer,
  DownloadFailure,
  type DownloadTarget,
  ReceivedFile,
  singleHeader,
  TargetFailure,
} from "./received-file.ts";

export interface DownloadRequest {
  readonly url: string;
  readonly target: DownloadTarget;
  /** Ends the download at once. */
  readonly signal: AbortSignal;
}

/** Without a problem, the target has the whole file. */
export interface DownloadResult {
  /** A clause for the user that follows a colon. Has no text of the other side's. */
  readonly problem?: string;
}

export type Download = (request: DownloadRequest) => Promise<DownloadResult>;

export interface DownloadLimits {
  readonly maxBytes: number;
  /** Without a byte for so long, the connection is given up. */
  readonly stallMs: number;
  /** For the whole download. */
  readonly deadlineMs: number;
  /** Before the second request for the same file; each further pause is twice as long. */
  readonly pauseMs: number;
}

export interface DownloadOptions {
  /** The service's: private addresses and plain http are for a service that is private itself. */
  readonly service: Pick<ServiceConfig, "baseUrl" | "proxies">;
  /** Of this bridge, for the user-agent. */
  readonly version: string;
  /** All IP addresses of a host name; the system's unless given. */
  readonly lookup?: Lookup;
  readonly limits?: Partial<DownloadLimits>;
}

/** As `lookup` of node:dns. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const LIMITS: DownloadLimits = {
  maxBytes: 500 * 1024 * 1024,
  stallMs: 30_000,
  deadlineMs: 30 * 60_000,
  pauseMs: 1_000,
};
const MAX_REDIRECTS = 5;
const MAX_ATTEMPTS = 8;
const MAX_PAUSE_MS = 8_000;
const CONNECT_TIMEOUT_MS = 10_000;

export function createDownload(options: DownloadOptions): Download {
  const downloader = new Downloader(options);
  return (request) => downloader.download(request);
}

class Downloader {
  readonly #service: DownloadOptions["service"];
  readonly #version: string;
  readonly #isProxied: boolean;
  readonly #lookup: Lookup;
  readonly #limits: DownloadLimits;

  constructor({ service, version, lookup = systemLookup, limits }: DownloadOptions) {
    this.#service = service;
    this.#isProxied = service.proxies.http !== undefined || service.proxies.https !== undefined;
    this.#version = version;
    this.#lookup = lookup;
    this.#limits = { ...LIMITS, ...limits };
  }

  async download({ url, target, signal }: DownloadRequest): Promise<DownloadResult> {
    try {
      return await this.#requestUntilWhole(url, new ReceivedFile(target), signal);
    } catch (error) {
      throw error instanceof TargetFailure ? error.cause : error;
    }
  }

  async #requestUntilWhole(
    url: string,
    received: ReceivedFile,
    signal: AbortSignal,
  ): Promise<DownloadResult> {
    const deadlineMs = performance.now() + this.#limits.deadlineMs;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#attempt(url, received, signal, deadlineMs);
        return {};
      } catch (error) {
        if (error instanceof TargetFailure) throw error;
        const failure = asDownloadFailure(error);
        const pauseMs = Math.min(MAX_PAUSE_MS, this.#limits.pauseMs * 2 ** (attempt - 1));
        const isLast = attempt === MAX_ATTEMPTS || performance.now() + pauseMs >= deadlineMs;
        if (signal.aborted || failure.next === "give up" || isLast) return { problem: failure.message };
        if (failure.next === "begin anew" || received.validator === undefined) await received.clear();
        // What an abort means is read from the signal, at the next attempt's start.
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  /** One request for what is missing, with its redirects. */
  async #attempt(
    url: string,
    received: ReceivedFile,
    signal: AbortSignal,
    deadlineMs: number,
  ): Promise<void> {
    const interrupt = new Interrupt(signal, this.#limits.stallMs, deadlineMs);
    let dispatcher: Dispatcher | undefined;
    try {
      const serviceNetwork = await interrupt.race(this.#serviceNetwork());
      dispatcher = this.#createDispatcher(serviceNetwork);
      let hop = this.#checkedUrl(url, serviceNetwork);
      for (let redirects = 0; ; redirects++) {
        if (this.#isProxied) await interrupt.race(this.#checkName(hop, serviceNetwork));
        const answer = await interrupt.race(
          dispatcher.request({
            origin: hop.origin,
            path: `${hop.pathname}${hop.search}`,
            method: "GET",
            headers: this.#headers(received),
          }),
        );
        const { statusCode, headers, body } = answer;
        if (!isRedirect(statusCode)) return await this.#receive(answer, received, interrupt);
        body.on("error", () => {}).destroy();
        if (redirects === MAX_REDIRECTS)
          throw new DownloadFailure(`its link redirects more than ${MAX_REDIRECTS} times`);
        hop = this.#checkedUrl(singleHeader(headers, "location") ?? "", serviceNetwork, hop);
      }
    } finally {
      interrupt.dispose();
      // Ends what is still under way: behind a proxy that has not answered, nothing else does.
      void dispatcher?.destroy().catch(() => {});
    }
  }

  /** The headers are those of any visitor: neither key nor cookie. */
  #headers({ bytes, validator }: ReceivedFile): Record<string, string> {
    return {
      accept: "video/*, application/octet-stream;q=0.9, */*;q=0.5",
      // A range of a compressed file is of no use.
      "accept-encoding": "identity",
      "user-agent": `faceless-video-mcp/${this.#version}`,
      ...(bytes > 0 && validator !== undefined && { range: `bytes=${bytes}-`, "if-range": validator }),
    };
  }

  async #receive(
    { statusCode, headers, body }: Dispatcher.ResponseData,
    received: ReceivedFile,
    interrupt: Interrupt,
  ): Promise<void> {
    try {
      await beginAnswer(statusCode, headers, received);
      this.#checkSize(received.totalBytes ?? 0);
      const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
      for (;;) {
        const next = await interrupt.race(chunks.next());
        if (next.done === true) break;
        this.#checkSize(received.bytes + next.value.length);
        await received.write(next.value);
      }
      if (received.totalBytes !== undefined && received.bytes !== received.totalBytes)
        throw new DownloadFailure("the file arrived incomplete", "continue");
      if (received.bytes === 0) throw new DownloadFailure("the file is empty");
    } finally {
      body.on("error", () => {}).destroy();
    }
  }

  #checkSize(bytes: number): void {
    const { maxBytes } = this.#limits;
    if (bytes > maxBytes)
      throw new DownloadFailure(`the file is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`);
  }

  /** Throws unless it is https, or plain http on this computer for a service that runs here too. `base` is the hop before. */
  #checkedUrl(text: string, serviceNetwork: Network, base?: URL): URL {
    if (!URL.canParse(text, base?.href)) throw new DownloadFailure("its link is not a URL");
    const url = new URL(text, base);
    const isLocal = isLoopback(url.hostname) && serviceNetwork === "loopback";
    if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal))
      throw new DownloadFailure("its link does not stay on https");
    if (url.username !== "" || url.password !== "")
      throw new DownloadFailure("its link has a user name or a password");
    const literal = url.hostname.replace(/^\[|\]$/g, "");
    // Node asks no lookup for an address.
    if (isIP(literal) !== 0 && !isAllowed(networkOf(literal), serviceNetwork)) throw privateAddressFailure();
    return url;
  }

  /** A proxy looks the name up by itself, so this is what can be known of it here; a name that only the proxy knows passes. */
  async #checkName({ hostname }: URL, serviceNetwork: Network): Promise<void> {
    const networks = await this.#networksOf(hostname);
    if (networks.length > 0 && !networks.some((network) => isAllowed(network, serviceNetwork)))
      throw privateAddressFailure();
  }

  #createDispatcher(serviceNetwork: Network): Dispatcher {
    const options: Agent.Options = {
      connect: { timeout: CONNECT_TIMEOUT_MS, lookup: this.#checkedLookup(serviceNetwork) },
      // The interrupt sees to both, also on the way through a proxy.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 16 * 1024,
      allowH2: false,
    };
    return this.#isProxied ? createProxyAgent(this.#service.proxies, options) : new Agent(options);
  }

  /** Names the addresses to connect to, so what was checked is what is connected to, whatever the name resolves to next. */
  #checkedLookup(serviceNetwork: Network): LookupFunction {
    return (hostname, { all }, callback) => {
      this.#lookup(hostname, { all: true }, (error, addresses) => {
        if (error !== null) return callback(error, "");
        const allowed = addresses.filter(({ address }) => isAllowed(networkOf(address), serviceNetwork));
        const [first] = allowed;
        if (first === undefined) callback(privateAddressFailure(), "");
        else if (all === true) callback(null, allowed);
        else callback(null, first.address, first.family);
      });
    };
  }

  /** Where the service itself is, as far as this computer can tell: a name that only the proxy can resolve counts as public. */
  async #serviceNetwork(): Promise<Network> {
    const { hostname } = this.#service.baseUrl;
    if (isLoopback(hostname)) return "loopback";
    const networks = await this.#networksOf(hostname);
    return networks.find((network) => network !== "public") ?? "public";
  }

  /** Of all addresses of a host; none where its name can't be resolved here. Takes `URL.hostname`. */
  async #networksOf(hostname: string): Promise<readonly Network[]> {
    const bare = hostname.replace(/^\[|\]$/g, "");
    if (isIP(bare) !== 0) return [networkOf(bare)];
    const addresses = await new Promise<readonly LookupAddress[]>((resolve) =>
      this.#lookup(bare, { all: true }, (error, found) => resolve(error === null ? found : [])),
    );
    return addresses.map(({ address }) => networkOf(address));
  }
}

/** Rejects when the download is no longer wanted, its time is over, or nothing has arrived for too long. */
class Interrupt {
  readonly #signal: AbortSignal;
  readonly #stallTimer: NodeJS.Timeout;
  readonly #deadlineTimer: NodeJS.Timeout;
  readonly #interrupted: Promise<never>;
  #reject: (reason: DownloadFailure) => void = () => {};

  constructor(signal: AbortSignal, stallMs: number, deadlineMs: number) {
    this.#signal = signal;
    this.#interrupted = new Promise((_, reject) => (this.#reject = reject));
    // Between two races nobody listens.
    this.#interrupted.catch(() => {});
    const stalled = new DownloadFailure(`nothing arrived for ${Math.ceil(stallMs / 1000)} s`, "continue");
    this.#stallTimer = setTimeout(() => this.#reject(stalled), stallMs).unref();
    const tooLong = new DownloadFailure("it took too long");
    this.#deadlineTimer = setTimeout(() => this.#reject(tooLong), deadlineMs - performance.now()).unref();
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  /** The promise's own end, unless it is interrupted first. */
  async race<Value>(promise: Promise<Value>): Promise<Value> {
    promise.catch(() => {});
    this.#stallTimer.refresh();
    return Promise.race([this.#interrupted, promise]);
  }

  dispose(): void {
    clearTimeout(this.#stallTimer);
    clearTimeout(this.#deadlineTimer);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = () => this.#reject(new DownloadFailure("this server is shutting down"));
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** A private service may have its media in its own network, one on this computer in both. */
function isAllowed(network: Network, serviceNetwork: Network): boolean {
  if (network === "public") return true;
  if (network === "special") return false;
  return serviceNetwork === "loopback" || network === serviceNetwork;
}

function privateAddressFailure(): DownloadFailure {
  return new DownloadFailure("its link leads to a private address");
}

function asDownloadFailure(error: unknown): DownloadFailure {
  if (error instanceof DownloadFailure) return error;
  if (error instanceof TransportFailure) return new DownloadFailure(error.reason);
  return new DownloadFailure(explainNetworkError(error).reason, "continue");
}
