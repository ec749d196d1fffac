// What editors, synchronising programs and disks do to a journal's file: each line is read as it was written, or
// the journal can't be used. There is no middle way: a skipped line could hide a request that was paid for.

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { NO_FLAGS, readConfig } from "../../src/config.ts";
import { checkJournal } from "../../src/commands/doctor/folders.ts";
import { runHistory } from "../../src/commands/history.ts";
import { openPrivateFolder } from "../../src/disk.ts";
import { isTorn } from "../../src/idempotency/torn-line.ts";
import { computer } from "../fixtures/host.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { newJournal, openJournal, TODAY, topics, withTopic } from "../fixtures/open-journal.ts";

const TOPICS = ["Tides “rise” – café", "Moons", "Stars"];

/** A file with three orders, of which the first two have an outcome, and a function that reads it as another process. */
async function writtenJournal() {
  const { folder, journal } = newJournal();
  for (const [index, topic] of TOPICS.entries()) {
    const { own } = await journal.begin(withTopic(topic));
    if (index < 2) await journal.end(own, { outcome: "done", jobId: `job-${index}` });
  }
  const path = join(folder, TODAY);
  return { folder, path, text: readFileSync(path, "utf8") };
}

const linesOf = (text: string) => text.split("\n").filter(Boolean);
const read = (folder: string) => openJournal(openPrivateFolder(folder)).journal;

const inOrder = (texts: readonly unknown[]) => texts.map(String).toSorted((a, b) => a.localeCompare(b));

test.each<[string, (text: string) => string]>([
  ["nothing", (text) => text],
  ["a byte order mark", (text) => `\uFEFF${text}`],
  ["a byte order mark right before the first entry", (text) => `\uFEFF${text.trimStart()}`],
  ["CRLF line ends", (text) => text.replaceAll("\n", "\r\n")],
  ["trailing spaces and tabs", (text) => text.replaceAll("\n", " \t\n")],
  ["indented lines", (text) => text.replaceAll('{"id"', '    {"id"')],
  ["no final newline", (text) => text.trimEnd()],
  ["no empty lines", (text) => `${linesOf(text).join("\n")}\n`],
  ["all lines twice", (text) => text + text],
  ["sorted lines", (text) => linesOf(text).sort().join("\n")],
  ["the lines of an entry the other way round", (text) => linesOf(text).reverse().join("\n")],
  [
    "letters in place of their escapes",
    (text) => text.replace(/\\u([\da-f]{4})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  ],
  [
    "a space after each colon and comma",
    (text) =>
      linesOf(text)
        .map((line) => line.replaceAll(/(?<=[\]}"\d])([:,])(?=["[{\d])/g, "$1 "))
        .join("\n"),
  ],
  ["a first copy of an entry that a crash has torn", (text) => `${linesOf(text)[0]?.slice(0, 40)}\n${text}`],
])("a file with %s is read as it was written", async (_, change) => {
  const { folder, path, text } = await writtenJournal();
  writeFileSync(path, change(text));

  expect(inOrder(await topics(read(folder)))).toEqual(inOrder(TOPICS));
  expect((await read(folder).entries()).filter(({ outcome }) => outcome === "done")).toHaveLength(2);
});

test("an entry that is added after a missing final newline is read, and so is the line before", async () => {
  const { folder, path, text } = await writtenJournal();
  writeFileSync(path, text.trimEnd());
  await read(folder).begin(withTopic("Clouds"));

  expect(await topics(read(folder))).toEqual([...TOPICS, "Clouds"]);
});

/** What remains of the file, and the number of the first line that is not an entry. */
test.each<[string, (text: string) => string | Uint8Array, number]>([
  ["UTF-16 with a byte order mark", (text) => Buffer.from(`\uFEFF${text}`, "utf16le"), 1],
  ["UTF-16", (text) => Buffer.from(text.trimStart(), "utf16le"), 1],
  ["gzip", (text) => gzipSync(text), 1],
  ["a git-lfs pointer", () => "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", 1],
  ["a git-annex link", () => "/annex/objects/SHA256E-s1--0.jsonl\n", 1],
  ["the page of a portal", () => "<!DOCTYPE html><html>Sign in</html>", 1],
  ["marks of a merge", (text) => `<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> other\n`, 1],
  ["an array around the lines", (text) => `[\n${linesOf(text).join(",\n")}\n]`, 1],
  ["an array in one line", (text) => `[${linesOf(text).join(",")}]`, 1],
  [
    "commas at the ends of the lines",
    (text) =>
      linesOf(text)
        .map((line) => `${line},`)
        .join("\n"),
    1,
  ],
  [
    "pretty-printed entries",
    (text) =>
      linesOf(text)
        .map((line) => JSON.stringify(JSON.parse(line), null, 2))
        .join("\n"),
    2,
  ],
  ["typographic quotation marks", (text) => text.replaceAll('"', "”"), 2],
  ["all in one line", (text) => linesOf(text).join(""), 1],
  [
    "a torn line that runs into the next one",
    (text) => {
      const [line = ""] = linesOf(text);
      return text.replace(line, `${line.slice(0, line.indexOf(':{"topic"') + 1)}${line}`);
    },
    2,
  ],
  ["CR line ends", (text) => text.trim().replaceAll("\n", "\r"), 1],
  ["lines that are broken at 80 characters", (text) => text.replace(/[^\n]{80}(?!\n)/g, "$&\n"), 3],
  ["a beginning that is missing", (text) => text.slice(40), 1],
  ["a part in the middle that is missing", (text) => `${text.slice(0, 60)}${text.slice(600)}`, 2],
  ["zeros at its end", (text) => `${text}${"\0".repeat(512)}`, 11],
  ["zeros in a line", (text) => `${text.slice(0, 60)}${"\0".repeat(40)}${text.slice(100)}`, 2],
  ["zeros alone", (text) => "\0".repeat(text.length), 1],
  ["a ^Z at its end", (text) => `${text}\u001A`, 11],
  ["Latin-1 letters", (text) => Buffer.from(text.replaceAll("\\u00e9", "é"), "latin1"), 2],
  [
    "quotation marks around each line",
    (text) =>
      linesOf(text)
        .map((line) => JSON.stringify(line))
        .join("\n"),
    1,
  ],
  ["a list's bullets before the lines", (text) => text.replaceAll('{"id"', '- {"id"'), 2],
  ["numbered lines", (text) => text.replaceAll('{"id"', '1\t{"id"'), 2],
  ["a backup's log line", (text) => `${text}# restored\n`, 11],
  ["null", (text) => `${text}null\n`, 11],
  ["another program's entries", (text) => `${text}{"level":"info","msg":"hello"}\n`, 11],
  ["a bracket too many", (text) => `${text.trimEnd()}}\n`, 10],
  ["a square bracket too many", (text) => `${text.trimEnd()}]\n`, 10],
  ["a quotation mark too many", (text) => `${text.trimEnd()}"\n`, 10],
  ["an opening bracket behind an entry", (text) => `${text.trimEnd()}{\n`, 10],
  ["a comma behind an entry", (text) => `${text.trimEnd()},\n`, 10],
  ["a dash behind an entry", (text) => `${text.trimEnd()}-\n`, 10],
  ["a digit behind an entry", (text) => `${text.trimEnd()}0\n`, 10],
  ["a word right behind an entry", (text) => `${text.trimEnd()}x\n`, 10],
  ["a word and a space behind an entry", (text) => `${text.trimEnd()} x\n`, 10],
  ["a word of JSON behind an entry", (text) => `${text.trimEnd()}true\n`, 10],
  ["dots behind an entry", (text) => `${text.trimEnd()}...\n`, 10],
  ["a backslash behind an entry", (text) => `${text.trimEnd()}\\\n`, 10],
  ["a comment behind an entry", (text) => `${text.trimEnd()} // mine\n`, 10],
  ["a word in place of the last bracket", (text) => `${text.trimEnd().slice(0, -1)}x\n`, 10],
  ["a dot in place of the last bracket", (text) => `${text.trimEnd().slice(0, -1)}.\n`, 10],
  ["another bracket in place of the last one", (text) => `${text.trimEnd().slice(0, -1)}]\n`, 10],
  ["another word in place of a number", (text) => text.replace(/"atMs":\d+.*/, '"atMs":never'), 2],
  ["two numbers in place of one", (text) => text.replace(/"atMs":\d+.*/, '"atMs":1 2'), 2],
  ["an escape that is none", (text) => text.replace("\\u", "\\w"), 2],
  ["capitals", (text) => text.toUpperCase(), 2],
  ["percent signs for the quotation marks", (text) => text.replaceAll('"', "%22"), 2],
  ["a word before an entry", (text) => `x${text.trimStart()}`, 1],
  ["a number alone", (text) => `${text}17\n`, 11],
  ["a date alone", (text) => `${text}2026-11-21\n`, 11],
  ["an empty object", (text) => `${text}{}\n`, 11],
  ["an empty array", (text) => `${text}[]\n`, 11],
])("a file with %s makes the journal unusable, and the error names the line", async (_, change, line) => {
  const { folder, path, text } = await writtenJournal();
  writeFileSync(path, change(text));

  const error = await read(folder)
    .begin(withTopic("Clouds"))
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    problem: `can't be read (line ${line} is not an entry: ${path})`,
    fix: "look at the list of videos and at the accounts for what that line may have held, then remove the line, or put the file back as it was",
    facts: { outcome: "not_sent" },
  });
});

test.each([
  ["brackets", "[".repeat(300_000), true],
  ["pairs of brackets", `{"x":${"[".repeat(150_000)}${"]".repeat(150_000)}`, true],
  ["letters", `"y",${"x".repeat(300_000)},`, false],
  ["quotation marks", '""'.repeat(150_000), false],
  ["backslashes", `"${"\\".repeat(300_000)}`, true],
])("a line with 300,000 %s is read without going through them again and again", (_, rest, torn) => {
  // Quadratic time would be minutes.
  expect(isTorn(`{"id":"a","arguments":${rest}`)).toBe(torn);
});

test("the line's number is right if the file was read before", async () => {
  const { folder, path, text } = await writtenJournal();
  const journal = read(folder);
  await journal.entries();
  writeFileSync(path, `${text}\nnot an entry\n`);

  await expect(journal.entries()).rejects.toMatchObject({
    problem: `can't be read (line 12 is not an entry: ${path})`,
  });
  writeFileSync(path, text);
  expect(await topics(journal)).toEqual(TOPICS);
});

test("an entry counts as torn wherever a crash cut it off, and never if it is whole", async () => {
  const { own } = await newJournal().journal.begin({
    operation: "publish",
    jobId: 'job \\ " \n ü',
    platforms: ["x", "y"],
    client: "Claude \\",
  });
  const results = [
    { platform: "x", ok: true, url: "https://x.example/1" },
    { platform: "y", ok: false },
  ];
  const ascii = (text: string) =>
    text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const line = ascii(JSON.stringify({ ...own, more: [null, -1.5e3, {}, []], outcome: "done", results }));
  const folder = temporaryFolder();
  const path = join(folder, TODAY);
  for (let length = 0; length <= line.length; length += 1) {
    writeFileSync(path, `\n${line.slice(0, length)}\n`);
    expect(await read(folder).entries(), line.slice(0, length)).toHaveLength(length === line.length ? 1 : 0);
  }
});

test.each([
  [".journal-2026-11-21.jsonl.icloud", "bplist00"],
  [".journal-2026-11-21 2.jsonl.icloud", ""],
  ["journal-2026-11-21.jsonl.nextcloud", " "],
  ["journal-2026-11-21.jsonl.owncloud", " "],
  ["journal-2026-11-21.jsonl.rsls", ""],
  ["journal-2026-11-21 (1).jsonl", "\n"],
])(
  "a placeholder for a file that is kept elsewhere makes the journal unusable: %s",
  async (name, content) => {
    const { folder } = await writtenJournal();
    writeFileSync(join(folder, name), content);

    await expect(read(folder).begin(withTopic("Clouds"))).rejects.toMatchObject({
      problem: `can't be read (its content is not on this computer: ${join(folder, name)})`,
      fix: "have the synchronising program keep that file on this computer",
    });
  },
);

test("a link whose file is missing makes the journal unusable", async () => {
  const { folder } = await writtenJournal();
  const link = join(folder, "journal-2026-11-20.jsonl");
  symlinkSync(join(folder, "annex", "objects", "missing"), link);

  await expect(read(folder).begin(withTopic("Clouds"))).rejects.toMatchObject({
    problem: `can't be read (its content is not on this computer: ${link})`,
  });
});

const pad = (signature: string) => Buffer.concat([Buffer.from(signature, "hex"), Buffer.alloc(64, 0xa5)]);

test.each<[string, (text: string) => string | Uint8Array]>([
  ["journal-2026-11-21.jsonl.1.gz", (text) => gzipSync(text)],
  ["journal-2026-11-21.jsonl.2.bz2", () => pad("425a6839")],
  ["journal-2026-11-21.jsonl.3.xz", () => pad("fd377a585a00")],
  ["journal-2026-11-21.jsonl-20261122.zst", () => pad("28b52ffd")],
  ["journal-2026-11-21.zip", () => pad("504b0304")],
  ["journal-2026-11-21.jsonl.gpg", () => pad("8c0d0407")],
  ["journal-2026-11-21 at the sea.md", () => "# A day at the sea\n"],
  ["journal-2026-11-21.html", () => "<!DOCTYPE html>\n"],
])(
  "a file that isn't a journal's makes the journal unusable until it is unpacked or moved: %s",
  async (...row) => {
    const [name, contentOf] = row;
    const { folder, path, text } = await writtenJournal();
    writeFileSync(join(folder, name), contentOf(text));
    const reader = read(folder);

    await expect(reader.begin(withTopic("Clouds"))).rejects.toMatchObject({
      problem: `can't be read (line 1 is not an entry: ${join(folder, name)})`,
      fix: expect.stringMatching(
        /^if it is compressed, put what it holds in its place; if it isn't part of the journal, move it to another folder; otherwise look at the list of videos/,
      ),
    });
    rmSync(join(folder, name));
    expect(await topics(reader)).toEqual(TOPICS);
    expect(readFileSync(path, "utf8")).toContain(text);
  },
);

test("a folder with the name of a journal's file makes the journal unusable", async () => {
  const { folder } = await writtenJournal();
  mkdirSync(join(folder, "journal-2026-11-20"));

  await expect(read(folder).begin(withTopic("Clouds"))).rejects.toMatchObject({
    problem: `can't be read (EISDIR: ${join(folder, "journal-2026-11-20")})`,
    fix: "put the files that this folder holds in its place",
  });
});

test("doctor and history say the same of a line that is not an entry", async () => {
  const { folder, path, text } = await writtenJournal();
  writeFileSync(path, `${text}<<<<<<< HEAD\n`);
  const env = { FACELESS_STATE_DIR: folder };
  const problem = `can't be read (line 11 is not an entry: ${path})`;
  const { host, stdout } = computer({ env });

  const check = await checkJournal(readConfig(env, NO_FLAGS, "/home/user"), computer().host);
  const exitCode = await runHistory(true, host);

  const fix =
    /^Look at the list of videos and at the accounts .+ remove the line, or put the file back as it was\.$/;
  expect(check).toMatchObject({
    status: "fail",
    detail: expect.stringContaining(problem),
    fix: expect.stringMatching(fix),
  });
  expect(exitCode).toBe(1);
  const told = JSON.parse(stdout());
  expect(told.summary).toContain(problem);
  expect(told.nextStep).toBe(check.fix);
});
