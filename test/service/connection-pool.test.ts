import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Agents, createAgents } from "../../src/service/connection-pool.ts";
import { createHttp, type Exchange, type Http } from "../../src/service/http.ts";
import type { Proxies } from "../../src/settings.ts";
import { CERTIFICATE, trustCertificate } from "../faults/till.ts";
import { until } from "./bridge.ts";
import { faultServer } from "./fault-server.ts";

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
/** As many as an agent has at the most. */
const CONNECTIONS = 32;

const TRUSTED = createSecureContext(CERTIFICATE);
let distrust = () => {};
beforeAll(() => {
  distrust = trustCertificate();
});
afterAll(() => distrust());

function agents(proxies: Proxies = {}): Agents {
  const made = createAgents(proxies);
  onTestFinished(() => made.destroy());
  return made;
}

function http(origin: string): Http {
  const made = createHttp({ origin, proxies: {} });
  onTestFinished(() => made.destroy());
  return made;
}

function get(url: string, extra: Partial<Exchange> = {}): Exchange {
  // Less than the 5 s after which a connection that doesn't come about is given up.
  const deadlines = { headersTimeoutMs: 30_000, deadlineMs: 3_000 };
  return { method: "GET", url: new URL("/path", url), headers: {}, ...deadlines, ...extra };
}

describe("the agent that exchanges share", () => {
  test("is the same for all, and stays so whatever became of an exchange that had left", () => {
    const { acquire } = agents();
    const first = acquire();
    const second = acquire();
    first.release(false);

    expect([second.agent === first.agent, acquire().agent === first.agent]).toEqual([true, true]);
  });

  test("is a fresh one after an exchange that was given up before it left", () => {
    const { acquire } = agents();
    const old = acquire();
    const late = acquire();
    old.release(true);
    const fresh = acquire();
    // It was on the old one: that it was given up tells nothing of the fresh one.
    late.release(true);

    expect([fresh.agent === old.agent, acquire().agent === fresh.agent]).toEqual([false, true]);
  });

  test("is no longer shared behind a proxy: each exchange has its own", () => {
    const { acquire } = agents({ https: "http://127.0.0.1:9" });

    expect(acquire().agent).not.toBe(acquire().agent);
  });
});

describe("an exchange that was given up in a TLS handshake that nobody answers", () => {
  test("holds up no later one, though every connection that an agent may have is taken", async () => {
    const server = await faultServer({
      secureContext: TRUSTED,
      accepted: (_, connection) => (connection <= CONNECTIONS ? "hold" : undefined),
      requested: (socket) => void socket.write(ANSWER),
    });
    const client = http(server.url);
    await Promise.all(Array.from({ length: CONNECTIONS }, () => giveUp(client, server.url)));
    await until(() => server.accepted() === CONNECTIONS);

    expect((await client.send(get(server.url))).text).toBe("{}");
  });

  test("lets those finish that are under way on the old connections", async () => {
    const asked: Socket[] = [];
    const server = await faultServer({
      secureContext: TRUSTED,
      accepted: (_, connection) => (connection === 2 ? "hold" : undefined),
      requested: (socket) => void asked.push(socket),
    });
    const client = http(server.url);
    const before = client.send(get(server.url));
    await until(() => asked.length === 1);
    await giveUp(client, server.url, () => server.accepted() === 2);
    const after = client.send(get(server.url));
    await until(() => asked.length === 2);
    for (const socket of asked) socket.write(ANSWER);

    expect((await Promise.all([before, after])).map(({ text }) => text)).toEqual(["{}", "{}"]);
    expect(server.accepted()).toBe(3);
  });

  test("leaves none of those behind when all connections are ended", async () => {
    const server = await faultServer({
      secureContext: TRUSTED,
      accepted: (_, connection) => (connection === 2 ? "hold" : undefined),
    });
    const client = http(server.url);
    const before = client.send(get(server.url)).catch((error: unknown) => error);
    await until(() => server.received.length === 1);
    await giveUp(client, server.url, () => server.accepted() === 2);

    client.destroy();

    expect(await before).toMatchObject({ kind: "network", sent: true });
  });
});

/** Withdraws an exchange once it is so far, and ends with it. */
async function giveUp(client: Http, url: string, isSoFar: () => boolean = () => true): Promise<void> {
  const withdraw = new AbortController();
  const sending = client.send(get(url, { signal: withdraw.signal })).catch((error: unknown) => error);
  await until(isSoFar);
  withdraw.abort();
  expect(await sending).toMatchObject({ kind: "cancelled", sent: false });
}
