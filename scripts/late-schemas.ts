// With the first message the SDK makes the schemas of all messages of its version of the protocol, a fifteenth of
// the start. Here each is made when it is first used. Nor does zod compile a function from text for each schema,
// until the server has listed its tools and allows it.

import type { Plugin } from "rolldown";

const SCHEMAS = /@modelcontextprotocol.server.dist.src-/;
/** The functions that make the schemas of a version: constants, and an object of them. */
const BUILDER = /^function (build(?:\$\d)?)\(\) \{\n([^]*?)\treturn \{\n([^]*?)\t\};\n\}\n/gm;
const CONSTANT = /^\tconst (\S+) = ([^]*?);\n(?=\t(?:const |function |\/\*|\/\/)|$(?![^]))/gm;
const MEMBER = /^\t\t(\w+): ([^]*?),?\n(?=\t\t\w+: |$(?![^]))/gm;
const READ = /\b(?:s|buildSchemas\d+\(\))\.(\w+)/g;
/** The members of the maps from methods to schemas. */
const MAPPED = /^\t\t\t("?[\w/]+"?): (s\.\w+)(?=,?$)/gm;

/** Zod's own code, and what stands there instead. */
const OF_ZOD: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  "core.js": [["__zod_globalConfig = {}", "__zod_globalConfig = { jitless: true }"]],
  // Decided at each use, and not when a schema is made.
  "schemas.js": [
    ["const fastEnabled = jit && allowsEval.value;", ""],
    ["if (jit && fastEnabled &&", "if (!core.globalConfig.jitless && allowsEval.value &&"],
  ],
};

export const lateSchemas: Plugin = {
  name: "late-schemas",
  transform(code, id) {
    const changes = OF_ZOD[/zod.v4.core.(\w+\.js)$/.exec(id)?.[1] ?? ""];
    if (changes !== undefined)
      return changes.reduce((changed, [from, to]) => replaceOnce(id, changed, from, to), code);
    return SCHEMAS.test(id) ? makeSchemasLate(id, code) : undefined;
  },
};

/** Returns the SDK's file of schemas so that it makes each one when it is first used. */
export function makeSchemasLate(id: string, code: string): string {
  const read = new Set([...code.matchAll(READ)].map(([, name]) => name));
  const parts = [BUILDER, MAPPED].map((pattern) => code.match(pattern)?.length ?? 0);
  if (parts[0] !== 2 || parts[1] === 0) throw new Error(`${id} makes its schemas in another way.`);
  const late = code
    .replace(BUILDER, (_, name: string, constants: string, members: string) =>
      makeLate(name, constants, members, (member) => read.has(member)),
    )
    .replace(MAPPED, "\t\t\tget $1() { return $2; }");
  return `const late = (make) => { let made; return () => (made ??= make()); };\n${late}`;
}

function replaceOnce(id: string, code: string, from: string, to: string): string {
  if (code.split(from).length !== 2) throw new Error(`${id} does not have this once: ${from}`);
  return code.replace(from, to);
}

function makeLate(
  name: string,
  constants: string,
  members: string,
  isRead: (member: string) => boolean,
): string {
  const names = [...constants.matchAll(CONSTANT)].map(([, constant = ""]) => constant);
  const used = new RegExp(
    `(?<![\\w$]|[^.]\\.|const )(${names.join("|").replaceAll("$", "\\$")})(?![\\w$:])`,
    "g",
  );
  const lateConstants = constants
    .replace(used, "$1()")
    .replace(CONSTANT, "\tconst $1 = /* @__PURE__ */ late(() => ($2));\n");
  const lateMembers = members
    .replace(/^\t\t(\w+)(?=,?$)/gm, "\t\t$1: $1")
    .replace(used, "$1()")
    .replace(MEMBER, (_, member: string, schema: string) =>
      isRead(member) ? `\t\tget ${member}() { return made.${member} ??= ${schema}; },\n` : "",
    );
  return `function ${name}() {\n\tconst made = {};\n${lateConstants}\treturn {\n${lateMembers}\t};\n}\n`;
}
