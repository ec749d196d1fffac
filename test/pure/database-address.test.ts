// The address of the journal's database, as psql reads it.

import { expect, test } from "vitest";
import { parseDatabaseAddress } from "../../src/settings/database-address.ts";

const read = (text: string) => parseDatabaseAddress(text, "/home/ann");

const VIDEOS = {
  host: "db.test",
  port: 5432,
  user: "user",
  password: "",
  database: "videos",
  verify: "full",
  rootCert: undefined,
};
const LOCAL = { ...VIDEOS, verify: undefined };
const ROOT = { ...VIDEOS, rootCert: "/ca.pem" };

test.each([
  ["postgres://user:p%40ss+@db.test:6432/videos", { ...VIDEOS, password: "p@ss+", port: 6432 }],
  ["postgres://user:p@ss@db.test/videos", { ...VIDEOS, password: "p@ss" }],
  ["postgresql://db.test", { ...VIDEOS, user: undefined, database: "postgres" }],
  ["postgres://user@db.test/my%20videos", { ...VIDEOS, database: "my videos" }],
  ["postgres://other@else.test:1/else?host=db.test&port=2&user=user&dbname=videos", { ...VIDEOS, port: 2 }],
  ["postgres:///videos?host=db.test&user=user&password=a+b", { ...VIDEOS, password: "a+b" }],
  ["postgres://user@%2Frun%2Fpostgresql/videos?sslmode=verify-full", { ...LOCAL, host: "/run/postgresql" }],
  ["postgres://user@[::1]:6432/videos", { ...LOCAL, host: "::1", port: 6432 }],
  ["postgres://user@localhost/videos", { ...LOCAL, host: "localhost" }],
  ["postgres://user@db.test/videos?sslmode=disable", LOCAL],
  ["postgres://user@db.test/videos?sslmode=disable&sslmode=require", { ...VIDEOS, verify: "none" }],
  ["postgres://user@db.test/videos?sslmode=require&channel_binding=require", VIDEOS],
  ["postgres://user@db.test/videos?sslmode=verify-full&sslrootcert=system", VIDEOS],
  ["postgres://user@db.test/videos?sslrootcert=~/my+ca.pem", { ...ROOT, rootCert: "/home/ann/my+ca.pem" }],
  ["postgres://user@db.test/videos?sslmode=require&sslrootcert=/ca.pem", { ...ROOT, verify: "ca" }],
  ["postgres://user@db.test/videos?sslmode=verify-ca&sslrootcert=/ca.pem", { ...ROOT, verify: "ca" }],
])("%s is read", (text, address) => {
  expect(read(text)).toEqual(address);
});

test.each([
  ["postgres://u:p@one.test,two.test/x", "a second host"],
  ["postgres://u:p@db.test/x?sslmode=require&connect_timeout=10", "connect_timeout"],
  ["postgres://u:p@db.test/x?sslmode=allow", "this sslmode"],
  ["postgres://u:p@db.test/x?%20%20", "a part after the ?"],
  [`postgres://u:p@db.test/x?${"a".repeat(41)}`, "a part after the ?"],
  ["postgres://u:p@db.test/x?a-b", "a part after the ?"],
  ["postgres://u:p@else.test/x?host=one.test,two.test", "a second host"],
])("in %s, %s is refused by name", (text, part) => {
  expect(read(text)).toEqual({
    problem: `has ${part}, which this server doesn't honour`,
    fix: "Leave it out; after the ?, host, port, user, password, dbname, sslmode, sslrootcert, channel_binding are honoured",
  });
});

test.each([
  "postgres://u:12/s3cret@db.test/x",
  "postgres://u:1#s3cret@db.test/x",
  "postgres://u:s3 cret@db.test/x",
  "postgres://u:100%@db.test/x",
])("%s needs its special characters encoded", (text) => {
  expect(read(text)).toEqual({
    problem: "has a user name, password or database with a space, /, ?, # or %",
    fix: "Write a space as %20, / as %2F, ? as %3F, # as %23 and % as %25 in them",
  });
});

test("an address in quotes, and a relative path of a certificate, are named", () => {
  expect(read('"postgres://db.test"')).toEqual({
    problem: "is in quotes",
    fix: "Remove the quotes around it",
  });
  expect(read("postgres://db.test?sslrootcert=ca.pem")).toMatchObject({
    problem: expect.stringMatching(/^has an sslrootcert that is a relative path/),
  });
});

test.each([
  "mysql://u:p@db.test/x",
  "postgres:///x",
  "postgres://u:p@db.test:70000/x",
  "postgres://%ff@db.test/x",
  "db.test",
  "see postgres://db.test",
])("%s isn't the address of a database", (text) => {
  expect(read(text)).toBeUndefined();
});
