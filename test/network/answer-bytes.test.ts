// Answers as gateways send them: compressed though none was asked for, with headers that say otherwise, or with many
// headers.

import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { GENERATE, JOB_ID, STATUS } from "../fixtures/constants.ts";
import { proxyServer } from "../fixtures/proxy-server.ts";
import { type ScriptedAnswer, scriptedService } from "../fixtures/scripted-service.ts";
import { bridge, connect, failureOf, failures } from "./bridge.ts";

const JOB = { jobId: JOB_ID, status: "processing" };
const PLAIN = Buffer.from(JSON.stringify({ ...JOB, note: "é".repeat(500) }));
const LIMIT = 4 * 1024 * 1024;

const encoded = (encoding: string | undefined, body: Uint8Array, status = 200): ScriptedAnswer => ({
  status,
  body,
  headers: encoding === undefined ? {} : { "content-encoding": encoding },
});

test.each<[string, ScriptedAnswer]>([
  ["in gzip", encoded("gzip", gzipSync(PLAIN))],
  ["in br", encoded("br", brotliCompressSync(PLAIN))],
  ["in gzip that no header names", encoded(undefined, gzipSync(PLAIN))],
  ["in gzip beside identity", encoded("identity, gzip", gzipSync(PLAIN))],
  ["plain, though the header names gzip", encoded("gzip", PLAIN)],
  ["plain, though the header names br", encoded("br", PLAIN)],
  ["plain, with a character set in the header", encoded("utf-8", PLAIN)],
])("an answer %s is read, to a paid request as to a read", async (_, reply) => {
  const { service } = await bridge({ [STATUS]: reply, [GENERATE]: reply });

  expect(await service.getJob(JOB_ID)).toMatchObject({ status: "processing", note: "é".repeat(500) });
  expect(await service.generate({ topic: "x" })).toMatchObject({ jobId: JOB_ID });
});

test("a refusal in gzip keeps the service's words, and one without a body its status", async () => {
  const json = JSON.stringify({ error: { code: "out_of_credits", message: "None left." } });
  const { post } = await failures(encoded("gzip", gzipSync(json), 402));
  const empty = await failures(encoded("gzip", Buffer.of(), 422));

  expect(post).toMatchObject({ code: "out_of_credits", outcome: "rejected", status: 402 });
  expect(empty.post).toMatchObject({ code: "refused", outcome: "rejected", status: 422 });
});

test.each<[string, ScriptedAnswer, string]>([
  ["damaged gzip", encoded("gzip", gzipSync(PLAIN).subarray(0, 40)), "its compression can't be undone"],
  ["damaged br", encoded("br", brotliCompressSync(PLAIN).subarray(0, 20)), "its compression can't be undone"],
  [
    "a checksum that is wrong",
    encoded("gzip", withLastByteChanged(gzipSync(PLAIN))),
    "its compression can't be undone",
  ],
  ["bytes in gzip that are none", encoded("gzip", Buffer.of(1, 2, 3)), "its compression can't be undone"],
  ["an unknown compression", encoded("snappy", Buffer.of(1, 2, 3)), "its compression can't be undone"],
  ["more than 4 MB in gzip", encoded("gzip", gzipSync(" ".repeat(LIMIT + 1))), "it is larger than 4 MB"],
  [
    "more than 4 MB in br",
    encoded("br", brotliCompressSync(" ".repeat(LIMIT + 1))),
    "it is larger than 4 MB",
  ],
])("an answer of %s can't be read, and a paid one is unknown", async (_, reply, reason) => {
  const { get, post } = await failures(reply);

  for (const facts of [get, post])
    expect(facts).toMatchObject({
      code: "bad_answer",
      outcome: "unknown",
      status: 200,
      message: expect.stringContaining(`could not be read: ${reason} (HTTP 200).`),
    });
  expect([get.retryable, post.retryable]).toEqual([true, false]);
});

function withLastByteChanged(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  const last = changed.length - 5;
  changed[last] = (changed[last] ?? 0) ^ 0xff;
  return changed;
}

const many = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [`x-trace-${index}`, "x".repeat(1_000)]),
);

test("an answer with 60 kB of headers is read, also through a proxy", async () => {
  const rest = await scriptedService({ [STATUS]: { json: JOB, headers: many } });
  const proxy = await proxyServer("tunnel");

  for (const proxies of [{}, { http: proxy.url }])
    // eslint-disable-next-line no-await-in-loop -- there are two
    expect(await connect({ baseUrl: rest.url, proxies }).getJob(JOB_ID)).toMatchObject({
      status: "processing",
    });
});

test("an answer with more than 64 kB of headers can't be read", async () => {
  const reply = { json: JOB, headers: { ...many, "x-more": "x".repeat(8_000) } };
  const { service, rest } = await bridge({ [STATUS]: reply });

  expect(await failureOf(service.getJob(JOB_ID))).toMatchObject({
    code: "bad_answer",
    message: expect.stringContaining("its headers are larger than 64 kB"),
  });
  expect(rest.lines()).toEqual([STATUS]);
});
