// Reads the text of one setting: its value, or what is wrong with it. Pure. Never shows a value.

import { isAbsolute, join } from "node:path";
import { isLoopback } from "./loopback.ts";

/** What is wrong with a text, as a predicate, and the fix, without a full stop. Never contains the text. */
export interface Mistake {
  readonly problem: string;
  readonly fix: string;
}

export const NEW_KEY = "Create a key in the account settings of the service, section API";
/** Placeholders of the documents and the printed entries for the user's own values. */
export const EXAMPLE_KEY = "fl_example";
export const EXAMPLE_URL = "https://videos.example.com";
/** The key that only a sandbox takes. */
export const SANDBOX_KEY = "fl_sandbox";
/** Replaces the key if the other settings are read without one. No service knows it. */
export const NO_KEY = "fl_none";
/** "fl_example", "fl_...", "fl_xxxx", "fl_your_key" and "fl_<key>": what documents write in a key's place. */
const EXAMPLE_KEYS = /^fl_(?:example|your.*|<.*>|…|(.)\1{2,60})$/iu;
const STILL_EXAMPLE = "is still the example";
const SWAP_BACK = "If the values of FACELESS_API_KEY and FACELESS_BASE_URL were swapped, swap them back";
export const IN_QUOTES = { problem: "is in quotes", fix: "Remove the quotes around it" };
/** Printable, and short: redaction searches every text for the key's spellings. */
const USABLE_KEY = /^fl_[^"'`\\\s\P{ASCII}\p{Cc}]{1,509}$/u;

export function isMistake(value: unknown): value is Mistake {
  return value instanceof Object && "problem" in value;
}

export function isQuoted(text: string): boolean {
  return /^["'`“”‘’].*["'`“”‘’]$/s.test(text);
}

export function parseKey(key: string): string | Mistake {
  const fix = `Check that the whole key was copied, and nothing else. ${NEW_KEY}`;
  if (/^https?:/i.test(key)) return { problem: "holds a URL, not a key", fix: SWAP_BACK };
  if (EXAMPLE_KEYS.test(key))
    return { problem: STILL_EXAMPLE, fix: `Put your own key in its place. ${NEW_KEY}` };
  if (!key.startsWith("fl_")) return { problem: "does not begin with fl_", fix };
  if (!USABLE_KEY.test(key)) return { problem: "has characters or a length that no key has", fix };
  return key;
}

export function parseBaseUrl(text: string): URL | Mistake {
  const fix = `Set it to the service's whole address, such as ${EXAMPLE_URL}`;
  if (text.startsWith("fl_")) return { problem: "holds an API key, not a URL", fix: SWAP_BACK };
  if (!URL.canParse(text)) return { problem: "is not a URL", fix };
  // The parser makes the host lower case and drops a default port.
  const url = new URL(text);
  const isHttp = url.protocol === "http:";
  if (!isHttp && url.protocol !== "https:") return { problem: "is not an http(s) URL", fix };
  if (isHttp && !isLoopback(url.hostname))
    return {
      problem: "does not use https, so the key would be sent unencrypted",
      fix: "Begin it with https://",
    };
  if (url.username !== "" || url.password !== "")
    return { problem: "holds a user name or a password", fix: "Remove them, and the @ after them" };
  if (/[?#]/.test(text))
    return { problem: "has a query or a fragment", fix: "Remove everything from ? or # on" };
  url.hostname = url.hostname.replace(/\.$/, "");
  if (url.origin === EXAMPLE_URL)
    return { problem: STILL_EXAMPLE, fix: "Put your service's address in its place" };
  url.pathname = url.pathname.replace(/\/+$/, "");
  const apiPath = /\/api(?:\/mcp$|\/v1(?=\/|$)|$)/.exec(url.pathname)?.[0];
  if (apiPath !== undefined)
    return {
      problem: `holds ${apiPath}, which is a path of the service's API`,
      fix: `Remove ${apiPath} and everything after it`,
    };
  return url;
}

/** Accepts a bare host:port, as many tools do. undici throws for everything that is refused here. */
export function parseProxy(text: string): string | Mistake | undefined {
  // "jane" in "CORP\jane" would be read as the host's path.
  if (text.includes("\\"))
    return { problem: "has a backslash", fix: "Write a backslash as %5C, as in http://CORP%5Cjane:…" };
  const address = text.includes("://") ? text : `http://${text}`;
  if (/^pac\+|\.pac(?:$|[?#])|\/wpad\./i.test(address))
    return {
      problem: "names a PAC file, which can't be used",
      fix: "Set it to the proxy that the file names, such as http://proxy.example:8080",
    };
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return undefined;
  const { href, username, password, pathname, search, hash } = new URL(address);
  if (pathname !== "/" || search !== "" || hash !== "" || /[?#]/.test(text))
    return {
      problem: "has a path, a query or a fragment",
      fix: "End it after the host and the port. In a user name or password, write / as %2F, ? as %3F and # as %23",
    };
  if (/%(?![\dA-F]{2})/i.test(username + password))
    return { problem: "has a user name or password with a %", fix: "Write % as %25 in them" };
  return href;
}

/** An IPv6 address without brackets. A host with a port has one colon. */
const IPV6 = /^[\da-f.]*(?::[\da-f.]*){2,}$/i;

/** Writes it as undici reads it: `*` only by itself, no trailing dots, and IPv6 addresses in brackets. */
export function parseNoProxy(text: string): string {
  const hosts = text
    .split(/[,\s]+/)
    .map((host) => (IPV6.test(host) ? `[${host}]` : host.replace(/\.(?=$|:\d+$)/, "")));
  return hosts.includes("*") ? "*" : hosts.filter((host) => host !== "").join(",");
}

/** A relative path would lie in whatever folder the client starts the server from. */
export function parseFolder(text: string, homeDir: string): string | Mistake {
  if (homeDir === "" && text.startsWith("~"))
    return { problem: "begins with ~, but this user has no home folder", fix: "Set it to an absolute path" };
  const path = /^~(?=$|[/\\])/.test(text) ? join(homeDir, text.slice(1)) : text;
  // Windows, where no home begins with /, takes the drive of the current folder if none is named.
  const onWindows = homeDir !== "" && !homeDir.startsWith("/");
  if (isAbsolute(path) && (!onWindows || /^([a-z]:|[/\\]{2})/i.test(path))) return path;
  return {
    problem: "is a relative path, which depends on where your client starts this server",
    fix: "Set it to an absolute path, or to one that begins with ~",
  };
}

/** Decimal digits alone: neither a sign nor an exponent. */
export function parseNumber(text: string, min: number, max: number): number | undefined {
  const isInRange = /^(\d+(\.\d*)?|\.\d+)$/.test(text) && Number(text) >= min && Number(text) <= max;
  return isInRange ? Number(text) : undefined;
}

export function parseWhole(text: string, min: number, max: number): number | undefined {
  return /^\d+$/.test(text) ? parseNumber(text, min, max) : undefined;
}

export function oneOf<Value extends string>(...choices: readonly Value[]) {
  return {
    values: `one of ${choices.join(", ")}`,
    parse: (text: string) => choices.find((choice) => choice === text.toLowerCase()),
  };
}
