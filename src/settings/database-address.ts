// Reads the address of a Postgres database as psql does, or says which part of it isn't honoured. Pure. Never
// shows a value.

import { parse } from "pg-connection-string";
import { isLoopback } from "./loopback.ts";
import { IN_QUOTES, isMistake, isQuoted, type Mistake, parseFolder, parseWhole } from "./values.ts";

export interface DatabaseAddress {
  /** A host, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  /** Undefined for the system's user. */
  readonly user: string | undefined;
  readonly password: string;
  readonly database: string;
  /** How the server's certificate is checked, as psql names it. Undefined for an open connection. */
  readonly verify: "full" | "ca" | "none" | undefined;
  /** The path of the only certificate authority that is trusted; undefined for those of Node.js. */
  readonly rootCert: string | undefined;
}

export const DATABASE_EXAMPLE = "postgres://USER:PASSWORD@HOST/DATABASE";
const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];
const HONOURED = ["host", "port", "user", "password", "dbname", "sslmode", "sslrootcert", "channel_binding"];

/** Undefined if the text is no such address. */
export function parseDatabaseAddress(text: string, homeDir: string): DatabaseAddress | Mistake | undefined {
  if (isQuoted(text)) return IN_QUOTES;
  const [, authority, path = "", query = ""] =
    /^postgres(?:ql)?:\/\/([^/?]*)([^?]*)(?:\?(.*))?$/s.exec(text) ?? [];
  if (authority === undefined) return undefined;
  // A raw / or ? in the password ends the host early: the rest would pass for the database.
  if (/[#\s]|[/?].*@|%(?![\da-f]{2})/is.test(text.slice(text.indexOf("//") + 2)))
    return {
      problem: "has a user name, password or database with a space, /, ?, # or %",
      fix: "Write a space as %20, / as %2F, ? as %3F, # as %23 and % as %25 in them",
    };
  // psql takes a + for itself, and the last of several equal parts.
  const parts = Object.fromEntries(new URLSearchParams(query.replaceAll("+", "%2B")));
  const unknown = Object.keys(parts).find((name) => !HONOURED.includes(name));
  if (unknown !== undefined) return notHonoured(/^\w{1,40}$/.test(unknown) ? unknown : "a part after the ?");
  if ((parts["host"] ?? authority.slice(authority.lastIndexOf("@") + 1)).includes(","))
    return notHonoured("a second host");
  const { sslmode: mode, sslrootcert, channel_binding: binding } = parts;
  if (mode !== undefined && !SSL_MODES.includes(mode)) return notHonoured("this sslmode");
  // "system" stands for the authorities that are trusted anyway.
  const rootCert =
    sslrootcert === undefined || sslrootcert === "system" ? undefined : parseFolder(sslrootcert, homeDir);
  if (isMistake(rootCert)) return { ...rootCert, problem: `has an sslrootcert that ${rootCert.problem}` };
  const read = tryParse(`postgres://${authority}${path}`);
  const host = parts["host"] ?? read?.host ?? "";
  const port = parseWhole((parts["port"] ?? read?.port) || "5432", 1, 65_535);
  if (read === undefined || port === undefined || host === "") return undefined;
  const user = parts["user"] ?? (read.user || undefined);
  const isOpen =
    host.startsWith("/") ||
    mode === "disable" ||
    (mode === undefined && rootCert === undefined && isLoopback(host.includes(":") ? `[${host}]` : host));
  const isLax = mode === "require" || mode === "prefer";
  const isStrict = mode === undefined || mode === "verify-full";
  const withoutRootCert = isLax && binding !== "require" ? "none" : "full";
  const withRootCert = isStrict ? "full" : "ca";
  return {
    host,
    port,
    user,
    password: parts["password"] ?? read.password ?? "",
    database: parts["dbname"] ?? (read.database || (user ?? "postgres")),
    verify: isOpen ? undefined : rootCert === undefined ? withoutRootCert : withRootCert,
    rootCert,
  };
}

function tryParse(text: string) {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function notHonoured(what: string): Mistake {
  return {
    problem: `has ${what}, which this server doesn't honour`,
    fix: `Leave it out; after the ?, ${HONOURED.join(", ")} are honoured`,
  };
}
