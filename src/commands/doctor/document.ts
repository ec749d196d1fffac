// Checks what only betters the bridge's guesses, or is needed to publish: the service's OpenAPI document and the connected
// platforms. Only reads.

import { BridgeError } from "../../errors.ts";
import { OPERATIONS } from "../../service/client.ts";
import { parseJson, TransportFailure } from "../../service/errors.ts";
import { type Answer } from "../../service/http.ts";
import { type Discovery, readOpenApi } from "../../service/openapi.ts";
import { readJson } from "../../service/requests.ts";
import type { ConnectedPlatforms } from "../../service/schemas.ts";
import { cleanServiceText } from "../../text.ts";
import { type Check, pass, skip, warn } from "./check.ts";

/** GETs with the key. Throws a TransportFailure. */
export type Get = (url: URL) => Promise<Answer>;

export interface CheckedDocument {
  readonly check: Check;
  readonly discovery?: Discovery;
}

const MOST_NAMED = 10;

export async function checkDocument(get: Get, url: URL, baseUrl: URL): Promise<CheckedDocument> {
  const trouble = (what: string): CheckedDocument => ({
    check: warn("openapi", what, "Nothing needs to be done: cursor is taken for the paging parameter"),
  });
  try {
    const answer = await get(url);
    if (!isSuccess(answer)) return trouble(`the service gives no OpenAPI document (HTTP ${answer.status})`);
    const discovery = readOpenApi(readJson(OPERATIONS.readOpenApi, answer), baseUrl);
    const { pagingConfirmed, pagingParameter, platformsUrl } = discovery;
    const paging = pagingConfirmed
      ? `names the paging parameter ${cleanServiceText(pagingParameter, 60)}`
      : "names no paging parameter, so cursor is taken";
    const platforms =
      platformsUrl === undefined
        ? "no path for the connected platforms"
        : `the platforms' path ${cleanServiceText(platformsUrl.pathname, 100)}`;
    return { check: pass("openapi", `${paging}; ${platforms}`), discovery };
  } catch (error) {
    if (error instanceof TransportFailure)
      return trouble(`the OpenAPI document did not arrive: ${error.reason}`);
    if (error instanceof BridgeError) return trouble("the OpenAPI document is no JSON");
    throw error;
  }
}

/** `ask` puts the question to the service's MCP endpoint, where the document declares no path. Throws a BridgeError. */
export async function checkPlatforms(
  get: Get,
  discovery: Discovery | undefined,
  ask: () => Promise<ConnectedPlatforms>,
): Promise<Check> {
  const unknown = (reason: string) =>
    warn(
      "platforms",
      `the connected platforms are not known: ${reason.replace(/\.$/, "")}`,
      "Look at the service's website which accounts are connected",
    );
  try {
    const found =
      discovery?.platformsUrl === undefined ? await ask() : await getPlatforms(get, discovery.platformsUrl);
    if (typeof found === "string") return unknown(found);
    const { platforms } = found;
    if (platforms.length === 0)
      return warn(
        "platforms",
        "none is connected: videos can be made, but not published",
        "Connect an account on the service's website",
      );
    const names = platforms.slice(0, MOST_NAMED).map(({ platform }) => cleanServiceText(platform, 40));
    const more = platforms.length - names.length;
    return pass("platforms", `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
  } catch (error) {
    if (error instanceof TransportFailure) return unknown(error.reason);
    if (!(error instanceof BridgeError)) throw error;
    return error.facts.code === "not_found"
      ? skip("platforms", "the service offers no list of them")
      : unknown(error.message);
  }
}

/** What the declared path lists, or why that is not known. */
async function getPlatforms(get: Get, url: URL): Promise<ConnectedPlatforms | string> {
  const answer = await get(url);
  if (!isSuccess(answer)) return `HTTP ${answer.status}`;
  // Loaded here: the SDK's client behind it is needed for nothing else.
  const { readPlatforms } = await import("../../service/connected-platforms.ts");
  return readPlatforms(parseJson(answer.text)) ?? "the answer lists none that could be read";
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}
