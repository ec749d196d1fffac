// What it means that the service could not be asked: from the network's own code to a sentence and a remedy. Pure.

import type { TransportFailure } from "../../service/errors.ts";
import { type Check, codeOf, fail } from "./check.ts";
import { placeOf, type Proxy } from "./route.ts";

const UNKNOWN_ISSUER = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

export function checkFailure(failure: TransportFailure, baseUrl: URL, proxy: Proxy | undefined): Check {
  const [detail, remedy] = (proxy && explainProxy(failure, baseUrl, proxy)) ?? explain(failure, baseUrl);
  return fail("connection", detail, remedy);
}

type Explanation = readonly [detail: string, remedy: string];

/** Where it is the proxy's doing. */
function explainProxy(failure: TransportFailure, baseUrl: URL, proxy: Proxy): Explanation | undefined {
  const { cause, kind, sent } = failure;
  const { variable } = proxy;
  const place = placeOf(baseUrl);
  const allow = `Ask whoever runs the proxy to let ${place} through, or name the host in NO_PROXY if it can be reached directly`;
  switch (codeOf(cause) ?? "") {
    case "UND_ERR_ABORTED": {
      const status = cause instanceof Error ? /\((\d{3})\)/.exec(cause.message)?.[1] : undefined;
      if (status === "407")
        return [
          "the proxy wants a user name and a password (HTTP 407)",
          `Put them into ${variable}, as in http://user:password@proxy.example:8080`,
        ];
      return [
        `the proxy refuses the way to ${place}${status === undefined ? "" : ` (HTTP ${status})`}`,
        allow,
      ];
    }
    case "ERR_PROXY_DROPPED":
      return [
        `the proxy breaks off the connection instead of opening a way to ${place}`,
        `Check that ${variable} names the port of an HTTP proxy`,
      ];
    default:
      if (kind === "timeout" && !sent)
        return [`the proxy opens no way to ${place}: ${failure.reason}`, allow];
      return undefined;
  }
}

function explain(failure: TransportFailure, baseUrl: URL): Explanation {
  const { cause, kind, sent, reason } = failure;
  const place = placeOf(baseUrl);
  const code = codeOf(cause) ?? "";
  if (code === "ECONNREFUSED")
    return [
      `${place} refuses connections (${code})`,
      "Check the host and the port in FACELESS_BASE_URL: nothing listens there",
    ];
  if (UNKNOWN_ISSUER.has(code))
    return [
      `TLS: no authority that Node.js knows vouches for the certificate of ${place} (${code})`,
      "If the service or your company's network has an authority of its own, put NODE_EXTRA_CA_CERTS with the path of its certificate (PEM) into the env of this server's entry",
    ];
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return [
      `TLS: the certificate of ${place} is not valid today (${code})`,
      "Check the clock of this machine. If it is right, the service's operator has to renew the certificate",
    ];
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return [
      `TLS: the certificate that ${place} shows is that of another host (${code})`,
      "Check the spelling of the host in FACELESS_BASE_URL",
    ];
  if (/^EPROTO$|WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code))
    return [
      `TLS: ${place} does not speak it (${code}), as a port for plain HTTP doesn't`,
      "Check the port in FACELESS_BASE_URL. The usual one for https needs no number",
    ];
  if (/CERT|SSL|TLS|SIGNATURE/.test(code))
    return [
      `TLS with ${place} failed (${code})`,
      "Check the host and the port in FACELESS_BASE_URL, and whether something inspects the connection",
    ];
  if (failure.status !== undefined && kind === "network")
    return [`the answer of ${place} did not arrive whole: ${reason}`, "Try again in a minute"];
  if (kind === "timeout")
    return sent
      ? [`${place} takes the request, but no answer came: ${reason}`, "Try again in a minute"]
      : [
          `${place} can't be reached: ${reason}`,
          "Check the network. If it is reached through a proxy alone, set HTTPS_PROXY; a firewall may be in between",
        ];
  if (/UNREACH|^ENETDOWN$/.test(code))
    return [`there is no way to ${place} (${code})`, "Check that this machine is online"];
  if (kind === "unreadable" || !sent)
    return [`${place} could not be asked: ${reason}`, "Check the network and FACELESS_BASE_URL"];
  return [
    `${place} gives no HTTP answer: ${reason}`,
    "Check the port in FACELESS_BASE_URL, and whether it begins with https:// as it should",
  ];
}
