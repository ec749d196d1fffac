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

/** By the codes of Node and undici, which never say whether the request was sent. */
export const NETWORK_FAILURES: Readonly<Record<string, NetworkFailure>> = {
  UND_ERR_CONNECT_TIMEOUT: failure(
    "no connection within 5 s",
    "Check the network. If the service is reached only through a proxy, set HTTPS_PROXY. A firewall may block the way.",
    "timeout",
  ),
  UND_ERR_HEADERS_TIMEOUT: failure("the answer took too long", TRY_AGAIN, "timeout"),
  UND_ERR_RES_EXCEEDED_MAX_SIZE: failure("it is larger than 4 MB", CHECK_URL, "unreadable"),
  UND_ERR_HEADERS_OVERFLOW: failure("its headers are larger than 64 kB", CHECK_URL, "unreadable"),
  UND_ERR_ABORTED: failure(
    "the proxy refused the connection",
    "Ask the operator of the proxy to allow this host, or name the host in NO_PROXY if it can be reached directly.",
  ),
  PROXY_WANTS_PASSWORD: failure(
    "the proxy asks for a user name and a password, and its setting has none (HTTP 407)",
    "Put them into the proxy's setting, as in http://user:password@proxy.example:8080.",
  ),
  PROXY_REFUSES_PASSWORD: failure(
    "the proxy refuses the user name and the password that its setting has (HTTP 407)",
    "Correct them in the proxy's setting. Some characters are written there in another way: @ as %40, / as %2F, % as %25.",
  ),
  PROXY_WANTS_OTHER_SIGN_IN: failure(
    "the proxy takes no password but NTLM, Kerberos or another sign-in that this server can't make (HTTP 407)",
    "Run a small proxy that signs in for this computer, such as Px or Cntlm, and put its address into the proxy's setting, such as http://127.0.0.1:3128. Or ask the operator of the proxy to let this host through without a sign-in.",
  ),
  ECONNREFUSED: failure(
    "connection refused (ECONNREFUSED)",
    "Nothing listens at this address: check the host and the port in FACELESS_BASE_URL.",
  ),
  ...failures(["ECONNRESET", "UND_ERR_SOCKET"], "the connection was closed", CHECK_NETWORK),
  ...failures(["ETIMEDOUT"], "no address of the host answered in time", CHECK_NETWORK),
  ...failures(
    ["ENOTFOUND", "EAI_AGAIN"],
    "the host name could not be resolved",
    "Check the spelling of the host in FACELESS_BASE_URL, and that this computer is online.",
  ),
  ...failures(
    ["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN"],
    "there is no route to it",
    "Check that this computer is online.",
  ),
  ...failures(
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ],
    "TLS failed: the issuer of the certificate is not trusted",
    "If the service or your company's network has a certificate authority of its own, set NODE_EXTRA_CA_CERTS to the path of its certificate (PEM) in the env of this server's entry.",
  ),
  ...failures(
    ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"],
    "TLS failed: the certificate is not valid today",
    "Check the clock of this computer. If it is right, the service's operator has to renew the certificate.",
  ),
  ...failures(
    ["ERR_TLS_CERT_ALTNAME_INVALID"],
    "TLS failed: the certificate belongs to another host",
    "Check the spelling of the host in FACELESS_BASE_URL.",
  ),
  ...failures(
    [
      "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
      "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE",
      "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE",
    ],
    "TLS failed: the other side wants a certificate of this computer, or another version of TLS",
    "This server can't show a certificate. Ask the operator of the service or its gateway for an address that needs none.",
  ),
  ...failures(
    ["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"],
    "TLS failed: the other side does not speak TLS",
    "Check the port in FACELESS_BASE_URL: something that does not speak TLS answers there. The usual port for https needs no number.",
  ),
  ...failures(
    [
      "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
      // undici checks with it what an answer may be, such as its status.
      "ERR_ASSERTION",
      "HPE_INVALID_HEADER_TOKEN",
      "HPE_UNEXPECTED_CONTENT_LENGTH",
      "HPE_INVALID_TRANSFER_ENCODING",
      "HPE_INVALID_CHUNK_SIZE",
      "HPE_CR_EXPECTED",
      "HPE_LF_EXPECTED",
    ],
    "the answer breaks the rules of HTTP",
    "Try from another network. If that fails too, a gateway of the service sends wrong headers: its operator has to correct it.",
  ),
  HTTPParserError: failure(
    "the answer is not HTTP",
    "Check the port in FACELESS_BASE_URL, and whether the address should begin with https://.",
  ),
};

function failure(reason: string, fix: Text, kind: FailureKind = "network"): NetworkFailure {
  return { kind, reason, fix };
}

function failures(codes: readonly string[], reason: string, fix: Text): Record<string, NetworkFailure> {
  return Object.fromEntries(codes.map((code) => [code, failure(`${reason} (${code})`, fix)]));
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
    const fix = `Check that the proxy runs and that ${error.variable} is right. If the service can be reached directly, name its host in NO_PROXY.`;
    return failure(`${error.message}: ${reason}`, fix, kind);
  }
  const code = codeOf(error);
  const known = Object.hasOwn(NETWORK_FAILURES, code) ? NETWORK_FAILURES[code] : undefined;
  if (known !== undefined) return known;
  if (/^ERR_(?:SSL|TLS)_|CERT|ISSUER|SIGNATURE/.test(code))
    return failure(
      `TLS failed (${code})`,
      "Check the host and the port in FACELESS_BASE_URL, and whether something inspects the connection.",
    );
  if (NETWORK_CODE.test(code)) return failure(`the connection failed (${code})`, CHECK_NETWORK);
  if (/WebAssembly/.test(String(error))) return NO_WEB_ASSEMBLY;
  if (/^E[A-Z\d]+$/.test(code))
    return failure(
      `this computer failed (${code})`,
      "Check the limits of this computer: its memory, and how many files a program may open.",
      "internal",
    );
  return failure(
    `this server itself failed (${code})`,
    "Report this with the log of the server (FACELESS_LOG_LEVEL=debug).",
    "internal",
  );
}

/** The forms of codes for what happens on a network; anything else is a fault of this computer or this server. */
const NETWORK_CODE =
  /^(?:E(?:AI_|ADDR|CONN|HOST|NET|PIPE|PROTO|TIMEDOUT|NOTFOUND|SERVFAIL|ACCES|PERM)|UND_ERR_(?!INVALID)|ERR_STREAM_PREM)/;

/** undici reads answers with it. */
const NO_WEB_ASSEMBLY = failure(
  "Node.js has no WebAssembly on this computer, because its memory is limited (ulimit -v) or by an option such as --jitless",
  "Set NODE_OPTIONS=--disable-wasm-trap-handler in the env of this server's entry, and remove --jitless if it is set. Node.js 24 needs no such option for limited memory.",
  "internal",
);

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  // Errors of Node and undici have a string, a DOMException has a number, parser errors have llhttp's own.
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  // The parser has many codes: those without an explanation mean that the answer isn't HTTP.
  return error.name === "HTTPParserError" && !Object.hasOwn(NETWORK_FAILURES, code) ? error.name : code;
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
