// Reads the address of a Postgres database as psql does, or says which part of it isn't honoured. Pure. Never
// shows a value.

import { isLoopback } from "./loopback.ts";
import { isMistake, type Mistake, parseFolder, parseWhole } from "./values.ts";

export interface DatabaseAddress {
  /** A host, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  /** Undefined for the system's user. */
  readonly user: string | undefined;
  /** Empty if there is none. */
  readonly password: string;
  readonly database: string;
  /** Settings of the session, as the command line of a Postgres server takes them. */
  readonly options: string | undefined;
  /** How the server's certificate is checked, as psql names it. Undefined for an open connection. */
  readonly verify: Verify;
  /** The path of the only certificate authority that is trusted; undefined for those of Node.js. */
  readonly rootCert: string | undefined;
}

type Verify = "full" | "ca" | "none" | undefined;

export const DATABASE_EXAMPLE = "postgres://USER:PASSWORD@HOST/DATABASE";

/** By sslmode: the check with the authorities of Node.js, and the one with an sslrootcert. */
const VERIFY: ReadonlyMap<string, readonly [Verify, Verify]> = new Map([
  ["disable", [undefined, undefined]],
  // psql may go on without encryption, which this server only does on this computer.
  ["allow", ["none", "ca"]],
  ["prefer", ["none", "ca"]],
  ["require", ["none", "ca"]],
  ["verify-ca", ["full", "ca"]],
  ["verify-full", ["full", "full"]],
]);
const DEFAULT_SSL_MODE = "verify-full";
const MAY_BE_OPEN = new Set([undefined, "allow", "prefer"]);

const HONOURED = "host port user password dbname options sslmode sslrootcert channel_binding".split(" ");
/** Parts that change nothing here. Hosters add those from pgbouncer on, which psql doesn't know. */
const WITHOUT_EFFECT = new Set(
  `connect_timeout application_name fallback_application_name client_encoding keepalives keepalives_idle
  keepalives_interval keepalives_count tcp_user_timeout sslsni sslcompression gssencmode krbsrvname gsslib
  load_balance_hosts pgbouncer connection_limit pool_timeout statement_cache_size uselibpqcompat supa
  workaround`.split(/\s+/),
);
/** By part: the values that change nothing, though other values would. */
const VALUES_WITHOUT_EFFECT: ReadonlyMap<string, RegExp> = new Map([
  // A server that can't be written to is an error in any case.
  ["target_session_attrs", /^(?:any|read-write|primary)$/],
  ["schema", /^public$/],
  ["ssl", /^(?:true|1)$/],
]);

/** Undefined if the text isn't such an address. `password` is the one from PGPASSWORD. */
export function parseDatabaseAddress(
  text: string,
  homeDir: string,
  password = "",
): DatabaseAddress | Mistake | undefined {
  const mistake = findMistake(text);
  if (mistake !== undefined) return mistake;
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const unknown = Object.keys(parts).find((name) => !isHonoured(name, parts[name] ?? ""));
  if (unknown !== undefined) return notHonoured(/^\w{1,40}$/.test(unknown) ? unknown : "a part after the ?");
  const { host = "", user, sslrootcert, channel_binding: binding } = parts;
  if (host.includes(",")) return notHonoured("a second host");
  const port = parseWhole(parts["port"] ?? "5432", 1, 65_535);
  if (port === undefined || host === "") return undefined;
  // The word means the authorities that are trusted anyway, and requires the whole check.
  const isSystem = sslrootcert === "system";
  const rootCert = isSystem || sslrootcert === undefined ? undefined : parseFolder(sslrootcert, homeDir);
  if (isMistake(rootCert)) return { ...rootCert, problem: `has an sslrootcert that ${rootCert.problem}` };
  const mode = isSystem ? "verify-full" : parts["sslmode"];
  const row = VERIFY.get(mode ?? DEFAULT_SSL_MODE);
  if (row === undefined) return notHonoured("this sslmode");
  const isHere = isLoopback(host.includes(":") ? `[${host}]` : host);
  const isOpen = host.startsWith("/") || (isHere && rootCert === undefined && MAY_BE_OPEN.has(mode));
  const [verify, verifyWithRootCert] = row;
  // Channel binding is worth nothing if nobody verifies who is at the other end.
  const verifyWithout = binding === "require" && verify === "none" ? "full" : verify;
  return {
    host,
    port,
    user,
    password: parts["password"] ?? password,
    database: parts["dbname"] ?? user ?? "postgres",
    options: parts["options"],
    verify: isOpen ? undefined : rootCert === undefined ? verifyWithout : verifyWithRootCert,
    rootCert,
  };
}

/** Finds what would be read as something other than the user meant. */
function findMistake(text: string): Mistake | undefined {
  if (!/^postgres(?:ql)?:\/\//.test(text)) return undefined;
  // A hoster's console shows the password only once, and has this in its place.
  if (/:(?:\[[^\]@]*\]|\{[^}@]*\}|<[^>@]*>)@/.test(text))
    return { problem: "has a placeholder in the password's place", fix: "Put the password in its place" };
  // A raw / or ? in the password ends the host early: the rest would be read as the database.
  if (/[#\s]|[/?].*@|%(?![\da-f]{2})/is.test(text.slice(text.indexOf("//") + 2)))
    return {
      problem: "has a user name, password or database with a space, /, ?, # or %",
      fix: "Write a space as %20, / as %2F, ? as %3F, # as %23 and % as %25 in them",
    };
  return undefined;
}

/** The parts by psql's names. Those after the ? win; of several with one name, the last wins. */
function partsOf(text: string): Readonly<Record<string, string>> | undefined {
  const [, host] = /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^/?]*)/.exec(text) ?? [];
  if (host === undefined) return undefined;
  // Several hosts aren't a URL.
  if (host.includes(",")) return { host };
  try {
    const { pathname, hostname, port, username, password, search } = new URL(text);
    const written = [pathname.slice(1), hostname.replace(/^\[|\]$/g, ""), port, username, password];
    const names = ["dbname", "host", "port", "user", "password"];
    const own = names.map((name, index) => [name, decodeURIComponent(written[index] ?? "")] as const);
    // psql takes a + for itself.
    const all = [...own, ...new URLSearchParams(search.replaceAll("+", "%2B"))];
    return Object.fromEntries(all.filter(([name, value]) => value !== "" || !HONOURED.includes(name)));
  } catch {
    return undefined;
  }
}

function isHonoured(name: string, value: string): boolean {
  return (
    HONOURED.includes(name) ||
    WITHOUT_EFFECT.has(name) ||
    VALUES_WITHOUT_EFFECT.get(name)?.test(value) === true
  );
}

function notHonoured(what: string): Mistake {
  return {
    problem: `has ${what}, which this server doesn't honour`,
    fix: `Leave it out; after the ?, ${HONOURED.join(", ")} are honoured`,
  };
}
