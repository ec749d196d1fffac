// The address of the journal's database, as psql reads it.

import { expect, test } from "vitest";
import { parseDatabaseAddress } from "../../src/settings/database-address.ts";

const read = (text: string, password?: string) => parseDatabaseAddress(text, "/home/ann", password);

const VIDEOS = {
  host: "db.test",
  port: 5432,
  user: "user",
  password: "",
  database: "videos",
  options: undefined,
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
  ["postgres://user@db.test/videos?sslmode=require&sslrootcert=system", VIDEOS],
  ["postgres://user@db.test/videos?sslmode=allow", { ...VIDEOS, verify: "none" }],
  ["postgres://user@localhost/videos?sslmode=prefer", { ...LOCAL, host: "localhost" }],
  ["postgres://user@localhost/videos?sslmode=require", { ...VIDEOS, host: "localhost", verify: "none" }],
  ["postgres://user@db.test/videos?host=&sslmode=&password=", VIDEOS],
  ["postgres://user@db.test/videos?options=-c%20geqo%3Doff", { ...VIDEOS, options: "-c geqo=off" }],
  ["postgres://user@db.test/videos?sslrootcert=~/my+ca.pem", { ...ROOT, rootCert: "/home/ann/my+ca.pem" }],
  ["postgres://user@db.test/videos?sslmode=require&sslrootcert=/ca.pem", { ...ROOT, verify: "ca" }],
  ["postgres://user@db.test/videos?sslmode=verify-ca&sslrootcert=/ca.pem", { ...ROOT, verify: "ca" }],
])("%s is read", (text, address) => {
  expect(read(text)).toEqual(address);
});

test.each([
  ["postgres://u:p@one.test,two.test/x", "a second host"],
  ["postgres://u:p@db.test/x?sslcert=/c.pem", "sslcert"],
  ["postgres://u:p@db.test/x?service=journal", "service"],
  ["postgres://u:p@db.test/x?target_session_attrs=read-only", "target_session_attrs"],
  ["postgres://u:p@db.test/x?ssl=false", "ssl"],
  ["postgres://u:p@db.test/x?schema=private", "schema"],
  ["postgres://u:p@db.test/x?constructor=1", "constructor"],
  ["postgres://u:p@db.test/x?sslmode=no-verify", "this sslmode"],
  ["postgres://u:p@db.test/x?sslmode=constructor", "this sslmode"],
  ["postgres://u:p@one.test:1,two.test:2/x", "a second host"],
  ["postgres://u:p@db.test/x?%20%20", "a part after the ?"],
  [`postgres://u:p@db.test/x?${"a".repeat(41)}`, "a part after the ?"],
  ["postgres://u:p@db.test/x?a-b", "a part after the ?"],
  ["postgres://u:p@else.test/x?host=one.test,two.test", "a second host"],
])("in %s, %s is refused by name", (text, part) => {
  expect(read(text)).toEqual({
    problem: `has ${part}, which this server doesn't honour`,
    fix: "Leave it out; after the ?, host, port, user, password, dbname, options, sslmode, sslrootcert, channel_binding are honoured",
  });
});

const hosted = (host: string, database: string, more: object = {}) => ({
  ...VIDEOS,
  host,
  user: "ann",
  password: "s3cret",
  database,
  ...more,
});

// Copied from the hosters' consoles and documents.
test.each([
  [
    "postgresql://ann:s3cret@ep-cool-darkness-a1b2c3d4-pooler.us-east-2.aws.neon.tech/neondb?sslmode=require&channel_binding=require",
    hosted("ep-cool-darkness-a1b2c3d4-pooler.us-east-2.aws.neon.tech", "neondb"),
  ],
  [
    "postgres://ann:s3cret@ep-cool-darkness-a1b2c3d4-pooler.us-east-2.aws.neon.tech/verceldb?pgbouncer=true&connect_timeout=15&sslmode=require",
    hosted("ep-cool-darkness-a1b2c3d4-pooler.us-east-2.aws.neon.tech", "verceldb", { verify: "none" }),
  ],
  [
    "postgresql://postgres.abcdefgh:s3cret@aws-0-us-east-1.pooler.supabase.com:6543/postgres?pgbouncer=true&connection_limit=1",
    hosted("aws-0-us-east-1.pooler.supabase.com", "postgres", { user: "postgres.abcdefgh", port: 6543 }),
  ],
  [
    "postgres://postgres.abcdefgh:s3cret@aws-0-us-east-1.pooler.supabase.com:6543/postgres?sslmode=require&supa=base-pooler.x",
    hosted("aws-0-us-east-1.pooler.supabase.com", "postgres", {
      user: "postgres.abcdefgh",
      port: 6543,
      verify: "none",
    }),
  ],
  [
    "postgresql://ann:s3cret@dpg-abc123-a.oregon-postgres.render.com/videos_x1y2",
    hosted("dpg-abc123-a.oregon-postgres.render.com", "videos_x1y2"),
  ],
  [
    "postgresql://ann:s3cret@viaduct.proxy.rlwy.net:12345/railway",
    hosted("viaduct.proxy.rlwy.net", "railway", { port: 12_345 }),
  ],
  [
    "postgresql://ann:s3cret@videos.abc.us-east-1.rds.amazonaws.com:5432/videos?sslmode=verify-full&sslrootcert=/etc/global-bundle.pem",
    hosted("videos.abc.us-east-1.rds.amazonaws.com", "videos", { rootCert: "/etc/global-bundle.pem" }),
  ],
  [
    "postgres://ann%40videos:s3cret@videos.postgres.database.azure.com:5432/postgres?sslmode=require",
    hosted("videos.postgres.database.azure.com", "postgres", { user: "ann@videos", verify: "none" }),
  ],
  [
    "postgres://ann:s3cret@pg-1a2b-project.a.aivencloud.com:12691/defaultdb?sslmode=require",
    hosted("pg-1a2b-project.a.aivencloud.com", "defaultdb", { port: 12_691, verify: "none" }),
  ],
  [
    "postgresql://ann:s3cret@db-postgresql-nyc1-123-do-user-1-0.b.db.ondigitalocean.com:25060/defaultdb?sslmode=require",
    hosted("db-postgresql-nyc1-123-do-user-1-0.b.db.ondigitalocean.com", "defaultdb", {
      port: 25_060,
      verify: "none",
    }),
  ],
])("a hoster's address is read as it was copied: %s", (text, address) => {
  expect(read(text)).toEqual(address);
});

test.each([
  "postgresql://postgres.abcdefgh:[YOUR-PASSWORD]@aws-0-us-east-1.pooler.supabase.com:6543/postgres",
  "postgresql://ann:{your_password}@videos.postgres.database.azure.com:5432/postgres?sslmode=require",
  "postgresql://ann:<password>@db.test/x",
])("a placeholder in the password's place is named: %s", (text) => {
  expect(read(text)).toEqual({
    problem: "has a placeholder in the password's place",
    fix: "Put the password in its place",
  });
});

test("a password that is set beside the address counts if the address has none", () => {
  expect(read("postgres://user@db.test/videos", "besi%de")).toEqual({ ...VIDEOS, password: "besi%de" });
  expect(read("postgres://user:@db.test/videos", "beside")).toEqual({ ...VIDEOS, password: "beside" });
  expect(read("postgres://user:own@db.test/videos", "beside")).toEqual({ ...VIDEOS, password: "own" });
  expect(read("postgres://user@db.test/videos?password=own", "beside")).toEqual({
    ...VIDEOS,
    password: "own",
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

test("a relative path of a certificate is named", () => {
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
