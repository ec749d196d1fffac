// Explains a failed connection: the error of Node or undici as a reason and a fix that a user can follow, and
// whether the request was sent. Knows nothing of operations.

import { say, type Text } from "../sentences.ts";
import type { ServiceResponse } from "./responses.ts";

/** `internal`: a fault of this computer or this server, which no network can cure. */
export type FailureKind = "timeout" | "cancelled" | "unreadable" | "network" | "internal";

/** What a network failure means and how to fix it. */
export interface NetworkFailure {
  readonly kind: FailureKind;
  /** A clause that follows a colon, with the code if searching for it helps. */
  readonly reason: string;
  /** One or two sentences for the user. */
  readonly fix: Text;
}

export const TRY_AGAIN: Text = say`Try again [once, in a minute. If that fails too, tell the user|in a minute].`;
export const CHECK_URL =
  "Check FACELESS_BASE_URL: it must lead to the service itself, not to its website or a sign-in page.";
const CHECK_NETWORK = "Check the network, the proxy settings and FACELESS_BASE_URL.";

/**
 * By patterns of the codes of Node, undici and this server: the first that fits counts. Codes never say
 * whether the request was sent. `%s` stands for the code.
 */
const FAILURES: Readonly<Record<string, readonly [reason: string, fix: Text, kind?: FailureKind]>> = {
  UND_ERR_CONNECT_TIMEOUT: [
    "no connection within 5 s",
    "Check the network. If the service is reached only through a proxy, set HTTPS_PROXY. " +
      "A firewall may block the way.",
    "timeout",
  ],
  UND_ERR_HEADERS_TIMEOUT: ["the answer took too long", TRY_AGAIN, "timeout"],
  "UND_ERR_RES_EXCEEDED_MAX_SIZE|ERR_BUFFER_TOO_LARGE": ["it is larger than 4 MB", CHECK_URL, "unreadable"],
  UND_ERR_HEADERS_OVERFLOW: ["its headers are larger than 64 kB", CHECK_URL, "unreadable"],
  BAD_ENCODING: [
    "its compression can't be undone",
    "Try again in a minute. If that fails too, a gateway in front of the service compresses wrongly: " +
      "its operator has to correct it.",
    "unreadable",
  ],
  UND_ERR_ABORTED: [
    "the proxy refused the connection",
    "Ask the operator of the proxy to allow this host, or name it in NO_PROXY if it can be reached directly.",
  ],
  PROXY_WANTS_PASSWORD: [
    "the proxy asks for a user name and a password, and its setting has none (HTTP 407)",
    "Put them into the proxy's setting, as in http://user:password@proxy.example:8080.",
  ],
  PROXY_REFUSES_PASSWORD: [
    "the proxy refuses the user name and the password that its setting has (HTTP 407)",
    "Correct them in the proxy's setting. " +
      "Some characters are written there in another way: @ as %40, / as %2F, % as %25.",
  ],
  PROXY_WANTS_OTHER_SIGN_IN: [
    "the proxy takes no password but NTLM, Kerberos or another sign-in that this server can't make (HTTP 407)",
    "Run a small proxy that signs in for this computer, such as Px or Cntlm, and put its address into the " +
      "proxy's setting, such as http://127.0.0.1:3128. " +
      "Or ask the operator of the proxy to let this host through without a sign-in.",
  ],
  ECONNREFUSED: [
    "connection refused (%s)",
    "Nothing listens at this address: check the host and the port in FACELESS_BASE_URL.",
  ],
  "ECONNRESET|UND_ERR_SOCKET": ["the connection was closed (%s)", CHECK_NETWORK],
  "ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN": [
    "the host could not be found or reached (%s)",
    "Check the spelling of the host in FACELESS_BASE_URL, and that this computer is online.",
  ],
  ".*_SELF_SIGNED_CERT|SELF_SIGNED_CERT.*|UNABLE_TO_(?:GET|VERIFY)_.*": [
    "TLS failed: the issuer of the certificate is not trusted (%s)",
    "If the service or your company's network has a certificate authority of its own, set " +
      "NODE_EXTRA_CA_CERTS to the path of its certificate (PEM) in the env of this server's entry.",
  ],
  "CERT_HAS_EXPIRED|CERT_NOT_YET_VALID": [
    "TLS failed: the certificate is not valid today (%s)",
    "Check the clock of this computer. " +
      "If it is right, the service's operator has to renew the certificate.",
  ],
  "ERR_SSL_(?:TLSV13_ALERT_CERTIFICATE_REQUIRED|SSLV3_ALERT_(?:HANDSHAKE_FAILURE|BAD_CERTIFICATE))": [
    "TLS failed: the other side wants a certificate of this computer, or another version of TLS (%s)",
    "This server can't show a certificate. " +
      "Ask the operator of the service or its gateway for an address that needs none.",
  ],
  "EPROTO|ERR_(?:SSL|TLS)_.*|.*(?:CERT|ISSUER|SIGNATURE).*": [
    "TLS failed (%s)",
    "Check the host and the port in FACELESS_BASE_URL (the usual port for https needs no number), and " +
      "whether something inspects the connection.",
  ],
  // undici's assertions check what an answer may be, such as its status.
  "ERR_ASSERTION|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|HPE_.*|HTTPParserError": [
    "the answer is not valid HTTP (%s)",
    "Check the port in FACELESS_BASE_URL, and whether the address should begin with https://. " +
      "If both are right, a gateway of the service sends wrong headers: its operator has to correct it.",
  ],
  "E(?:AI_|ADDR|CONN|HOST|NET|PIPE|PROTO|SERVFAIL|ACCES|PERM|TIMEDOUT).*|UND_ERR_(?!INVALID).*|ERR_STREAM_PREM.*":
    ["the connection failed (%s)", CHECK_NETWORK],
  // undici reads answers with it.
  NO_WEB_ASSEMBLY: [
    "Node.js has no WebAssembly on this computer, because its memory is limited (ulimit -v) " +
      "or by an option such as --jitless",
    "Set NODE_OPTIONS=--disable-wasm-trap-handler in the env of this server's entry, and remove --jitless " +
      "if it is set. Node.js 24 needs no such option for limited memory.",
    "internal",
  ],
  // An error that no network causes is a fault of this computer or this server.
  "E[A-Z\\d]+": [
    "this computer failed (%s)",
    "Check the limits of this computer: its memory, and how many files a program may open.",
    "internal",
  ],
};
const FAULT = [
  "this server itself failed (%s)",
  "Report this with the log of the server (FACELESS_LOG_LEVEL=debug).",
  "internal",
] as const;

/** An error that FAILURES explains by this code. */
export function networkError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** The connection to the user's proxy failed; `cause` says how. Never shows the user name or password. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  readonly variable: string;

  constructor({ hostname, port, protocol }: URL, variable: string, cause: Error) {
    const address = `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
    super(`the connection to the proxy at ${address}, which ${variable} names, failed`, { cause });
    this.variable = variable;
  }
}

/** Returns what an error of Node or undici means and how to fix it. */
export function explainNetworkError(error: unknown): NetworkFailure {
  if (error instanceof ProxyError) {
    const { kind, reason } = explainNetworkError(error.cause);
    const fix =
      `Check that the proxy runs and that ${error.variable} is right. ` +
      "If the service can be reached directly, name its host in NO_PROXY.";
    return { kind, reason: `${error.message}: ${reason}`, fix };
  }
  const code = codeOf(error);
  const pattern = Object.keys(FAILURES).find((form) => new RegExp(`^(?:${form})$`).test(code)) ?? "";
  const [reason, fix, kind = "network"] = FAILURES[pattern] ?? FAULT;
  return { kind, reason: reason.replace("%s", code), fix };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  if (error.message.includes("WebAssembly")) return "NO_WEB_ASSEMBLY";
  // Errors of Node and undici have a string, a DOMException has a number.
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

export interface TransportFacts extends Omit<NetworkFailure, "fix"> {
  /** False only if certainly no byte of the request was sent. */
  readonly sent: boolean;
  readonly fix?: Text;
  /** Set if the status line arrived before the body failed. */
  readonly status?: number | undefined;
  /** The answer that may still come. It rejects with a TransportFailure if none does. */
  readonly late?: Promise<ServiceResponse>;
}

/** No usable answer. */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";
  readonly facts: TransportFacts & NetworkFailure;

  constructor(facts: TransportFacts, cause?: unknown) {
    super(`${facts.kind}: ${facts.reason}`, { cause });
    const fix = facts.kind === "timeout" && facts.sent ? TRY_AGAIN : CHECK_NETWORK;
    this.facts = { fix, ...facts };
  }
}
