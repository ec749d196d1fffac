// The way to the service: through which proxy, if any, and whether that proxy and the service's name can be found. Sends
// nothing but a connection to the proxy.

import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import { isLoopback } from "../../loopback.ts";
import type { Environment, Proxies } from "../../config.ts";
import { type Check, codeOf, fail, pass, skip, within } from "./check.ts";

export interface Proxy {
  readonly url: URL;
  /** The variable that names it. */
  readonly variable: string;
}

/** The proxy that a request to `url` goes through, by the rules that undici's EnvHttpProxyAgent has. */
export function proxyFor(url: URL, proxies: Proxies, env: Environment): Proxy | undefined {
  const byHttps = url.protocol === "https:" && proxies.https !== undefined;
  const proxy = byHttps ? proxies.https : proxies.http;
  if (proxy === undefined || isExempt(url, proxies.none)) return undefined;
  const name = byHttps ? "HTTPS_PROXY" : "HTTP_PROXY";
  const variable = (env[name] ?? "").trim() === "" ? name.toLowerCase() : name;
  return { url: new URL(proxy), variable };
}

function isExempt({ host, protocol }: URL, none: string | undefined): boolean {
  if (none === undefined) return false;
  if (none === "*") return true;
  const [, hostname = host, port = protocol === "https:" ? "443" : "80"] =
    /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return none
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, name = "", onPort] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
      const domain = name.replace(/^\*?\./, "");
      if (onPort !== undefined && onPort !== port) return false;
      return hostname === domain || hostname.endsWith(`.${domain}`);
    });
}

const PROBE_MS = 3_000;

export async function checkProxy(baseUrl: URL, proxy: Proxy | undefined, env: Environment): Promise<Check> {
  if (proxy === undefined) {
    const isNamed = Object.entries(env).some(
      ([name, value]) => /^https?_proxy$/i.test(name) && value !== undefined && value.trim() !== "",
    );
    if (!isNamed) return pass("proxy", "none is set");
    const reason = isLoopback(baseUrl.hostname)
      ? "the service is on this machine"
      : "NO_PROXY exempts the host";
    return pass("proxy", `not used: ${reason}`);
  }
  const { url, variable } = proxy;
  const place = placeOf(url);
  const error = await within(PROBE_MS, probe(url), "no connection within 3 s");
  if (error === undefined) return pass("proxy", `${place} (${variable}) takes connections`);
  return fail(
    "proxy",
    `${place} (${variable}) can't be reached: ${error}`,
    `Check the host and the port in ${variable}, or remove it if your network needs no proxy`,
  );
}

/** Host and port, without the credentials that a proxy's URL may hold. */
export function placeOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? defaultPort(protocol) : port}`;
}

function defaultPort(protocol: string): string {
  return protocol === "https:" ? "443" : "80";
}

/** Why it can't be connected to, if so. */
function probe(url: URL): Promise<string | undefined> {
  const port = Number(url.port === "" ? defaultPort(url.protocol) : url.port);
  return new Promise((resolve) => {
    const socket = connect({ host: withoutBrackets(url.hostname), port, timeout: PROBE_MS });
    const end = (error?: string) => {
      socket.destroy();
      resolve(error);
    };
    socket
      .on("connect", () => end())
      .on("timeout", () => end("no connection within 3 s"))
      .on("error", (error) => end(codeOf(error) ?? "unknown failure"));
  });
}

export async function checkName({ hostname }: URL, proxy: Proxy | undefined): Promise<Check> {
  if (proxy !== undefined) return skip("dns", "the proxy resolves the name");
  const host = withoutBrackets(hostname);
  if (isIP(host) !== 0) return pass("dns", `${host} is an address, with nothing to resolve`);
  const found = await within(
    PROBE_MS,
    lookup(host, { all: true }).catch((error: unknown) => codeOf(error) ?? "unknown failure"),
    "no answer within 3 s",
  );
  if (typeof found !== "string")
    return pass("dns", `${host} has ${found.length === 1 ? "an address" : `${found.length} addresses`}`);
  return found === "ENOTFOUND"
    ? fail(
        "dns",
        `there is no host ${host} (${found})`,
        "Check the spelling of the host in FACELESS_BASE_URL",
      )
    : fail(
        "dns",
        `${host} could not be looked up (${found})`,
        "Check that this machine is online. If it reaches the web through a proxy alone, set HTTPS_PROXY",
      );
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
