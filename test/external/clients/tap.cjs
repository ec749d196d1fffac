#!/usr/bin/env node
// Replaces the server's first file in the copy that a client starts: records stdin and stdout, then runs the
// server in the same process, so that starting, ending and orphans stay as they are. tapped.json in the home
// folder holds the folder of the records and settings, which some clients would not pass on.

"use strict";
const { appendFileSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const { records, env } = JSON.parse(readFileSync(join(process.env.HOME, "tapped.json"), "utf8"));
// The key that has arrived, one line for each process.
appendFileSync(join(records, "keys"), `${process.env.FACELESS_API_KEY}\n`);
Object.assign(process.env, env);

const file = join(records, `${process.pid}.jsonl`);
const record = (from, chunk) =>
  appendFileSync(
    file,
    `${JSON.stringify({ atMs: Date.now(), from, data: Buffer.from(chunk).toString("base64") })}\n`,
  );

const push = process.stdin.push.bind(process.stdin);
process.stdin.push = (chunk, ...rest) => {
  record("client", chunk ?? "");
  return push(chunk, ...rest);
};
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (chunk, ...rest) => {
  record("server", chunk);
  return write(chunk, ...rest);
};

require(join(__dirname, "untapped.cjs"));
