// The text of --help.

import { VARIABLES } from "../config.ts";

const COMMANDS = [
  ["faceless-video-mcp", "MCP server on stdio, for the service named by the environment"],
  ["  --sandbox", "the same against the embedded sandbox; needs no key and no network"],
  ["  --read-only", "hide generate_video and publish_video"],
  ["  --no-publish", "hide publish_video"],
  ["faceless-video-mcp demo", "make, watch, publish and list a sandbox video in this terminal"],
  ["faceless-video-mcp sandbox [--port N]", "the sandbox service alone, over HTTP"],
  [
    "faceless-video-mcp doctor [--json]",
    "check the settings, the network, the key and more, and say how to mend them",
  ],
  [
    "faceless-video-mcp config CLIENT",
    "print the entry for CLIENT's configuration: claude-desktop, claude-code,",
  ],
  ["", "cursor, vscode, codex, gemini, zed, cline or windsurf"],
  ["  --windows", "in the form that starts npx through cmd"],
  ["  --sandbox", "for the embedded sandbox, without key and URL"],
  ["faceless-video-mcp --help, --version", "this text, the version"],
] as const;

export function helpText(version: string): string {
  return `faceless-video-mcp ${version}: an MCP server that makes faceless short videos

Commands
${table(COMMANDS)}

Environment
${table(VARIABLES.map(({ name, meaning, default: value }) => [name, `${meaning} (${value})`] as const))}
`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
