import { expect, test } from "vitest";
import * as z from "zod";
import { cursorInstallLink, vscodeInstallLink } from "../../src/commands/server-entry.ts";
import { ADDRESS, fillInputs, KEY, promptSchema, vscodeServer } from "./client-loaders.ts";

const usual = { command: "npx", args: ["-y", "faceless-video-mcp"], sandbox: false };
const inHome = { ...usual, cwd: "${userHome}" };
const query = (link: string) => Object.fromEntries(new URL(link).searchParams);

test("an install link for Cursor contains the server's entry in base64", () => {
  const link = cursorInstallLink(usual);
  const { name, config = "", ...more } = query(link);

  expect(link).toMatch(/^https:\/\/cursor\.com\/en\/install-mcp\?name=faceless-video&config=[\w%]+$/);
  expect({ name, more }).toEqual({ name: "faceless-video", more: {} });
  expect(JSON.parse(Buffer.from(config, "base64").toString())).toEqual({
    command: "npx",
    args: ["-y", "faceless-video-mcp"],
    env: { FACELESS_API_KEY: "${env:FACELESS_API_KEY}", FACELESS_BASE_URL: "${env:FACELESS_BASE_URL}" },
  });
});

test("an install link for VS Code contains the server's entry and the inputs that it names", () => {
  const link = vscodeInstallLink(inHome);
  const { name, config = "", inputs = "", ...more } = query(link);

  expect(link).toMatch(/^https:\/\/insiders\.vscode\.dev\/redirect\/mcp\/install\?name=[^()\s]+$/);
  expect({ name, more }).toEqual({ name: "faceless-video", more: {} });
  const start = fillInputs(
    vscodeServer.parse(JSON.parse(config)),
    z.array(promptSchema).parse(JSON.parse(inputs)),
  );
  expect(start).toEqual({
    type: "stdio",
    command: "npx",
    args: ["-y", "faceless-video-mcp"],
    cwd: "${userHome}",
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: ADDRESS },
  });
});
