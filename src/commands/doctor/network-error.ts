// From a network error to its reason and fix. Stands in for the table of the same signature in service/errors.ts.

import { describeNetworkError } from "../../service/transport-failure.ts";

const FIXES: readonly (readonly [code: RegExp, fix: string])[] = [
  [/^ENOTFOUND$/, "Check the spelling of the host in FACELESS_BASE_URL, and that this computer is online"],
  [/^EAI_AGAIN$|UNREACH$|^ENETDOWN$/, "Check that this computer is online"],
  [
    /^ECONNREFUSED$/,
    "Check the host and the port in FACELESS_BASE_URL, and the proxy settings if you use a proxy",
  ],
  [
    /^UND_ERR_ABORTED$/,
    "Ask the operator of the proxy to allow this host, or check the proxy's user name and password",
  ],
  [/^ERR_PROXY/, "Check that HTTPS_PROXY or HTTP_PROXY names the port of an HTTP proxy"],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/, "Check the clock of this computer"],
  [/ALTNAME/, "Check the spelling of the host in FACELESS_BASE_URL"],
  [
    /SELF_SIGNED|UNABLE_TO/,
    "If the service or your company's network has a certificate authority of its own, set NODE_EXTRA_CA_CERTS to the path of its certificate (PEM) in the env of this server's entry",
  ],
  [
    /EPROTO|SSL|TLS|HTTPParser|ECONNRESET|UND_ERR_SOCKET/,
    "Check the port in FACELESS_BASE_URL, and whether it begins with https://",
  ],
];

export function explainNetworkError(error: unknown): { reason: string; fix: string } {
  const [, reason] = describeNetworkError(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const name = error instanceof Error ? error.name : "";
  const fix = FIXES.find(([pattern]) => pattern.test(code) || pattern.test(name))?.[1];
  return { reason, fix: fix ?? "Check the network, the proxy settings and FACELESS_BASE_URL" };
}
