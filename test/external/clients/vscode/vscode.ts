// VS Code as a client: its settings, and the job in its chat. Needs a browser and what builds code-server's
// modules: chromium build-essential python3 libkrb5-dev libx11-dev libxkbfile-dev libsecret-1-dev on Debian.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { findBrowser } from "../../fixtures/browser.ts";
import { freePort } from "../../../fixtures/free-port.ts";
import { until } from "../../../fixtures/until.ts";
import type { Given, Launched } from "../applications.ts";
import { JOB_IS_OVER, PROMPT } from "../job.ts";
import { write } from "../place.ts";
import type { Start } from "../processes.ts";
import { publishInCard, watchCard } from "./card.ts";
import { Workbench } from "./workbench.ts";

const MODEL = "Scripted";

const SETTINGS = {
  "chat.mcp.autostart": "newAndOutdated",
  // Otherwise titles and the like are asked of a model that needs an account.
  "chat.byokUtilityModelDefault": "mainAgent",
  // Its messages would cover the chat's buttons.
  "remote.autoForwardPorts": false,
};

function languageModels(modelUrl: string) {
  const model = {
    id: "scripted",
    name: MODEL,
    url: `${modelUrl}/v1/chat/completions`,
    toolCalling: true,
    vision: false,
    maxInputTokens: 128_000,
    maxOutputTokens: 16_000,
  };
  const apiType = "chat-completions";
  return [{ vendor: "customendpoint", name: MODEL, apiKey: "example", apiType, models: [model] }];
}

export async function prepareVscode({ entry, home, project, modelUrl }: Given): Promise<Launched> {
  // Says what is missing before anything is started.
  browserOfThisMachine();
  const data = join(home, "vscode");
  await write(project, ".vscode/mcp.json", entry);
  await write(data, "User/settings.json", SETTINGS);
  await write(data, "User/chatLanguageModels.json", languageModels(modelUrl));
  const temporary = join(home, "tmp");
  await mkdir(temporary);
  return {
    args: [
      `--user-data-dir=${data}`,
      `--extensions-dir=${join(data, "extensions")}`,
      "--disable-workspace-trust",
      "--disable-telemetry",
      "--disable-update-check",
    ],
    // It leaves sockets there.
    env: { TMPDIR: temporary },
  };
}

/** Does the job as a user would, who agrees to everything, and then publishes once more from the card. */
export async function useVscode(start: Start, given: Given, signal: AbortSignal): Promise<undefined> {
  const { home, project, serverRuns } = given;
  const url = `http://127.0.0.1:${await freePort()}/`;
  const address = ["--auth", "none", "--bind-addr", new URL(url).host];
  const { command, args, cwd, env } = start;
  const server = spawn(command, [...address, ...args], { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(server, "exit");
  signal.addEventListener("abort", () => server.kill("SIGKILL"));
  let workbench: Workbench | undefined;
  try {
    const answers = until(async () => (await fetch(url).catch(() => undefined)) !== undefined);
    await Promise.race([answers, ended]);
    const opened = `${url}?folder=${encodeURIComponent(project)}`;
    const browser = { executablePath: browserOfThisMachine(), env };
    workbench = await Workbench.open(opened, join(home, "browser"), browser);
    signal.throwIfAborted();
    signal.addEventListener("abort", () => void workbench?.close());
    await workbench.chooseModel(MODEL);
    await workbench.prompt(PROMPT);
    await workbench.allow();
    await workbench.agreeToOrder(process.env["PICTURE"]);
    // VS Code shows nothing else of a task, and writes it with no-break spaces.
    await workbench.showing(/[1-9]\sof\s\d\sclips/);
    await watchCard(workbench, serverRuns);
    await workbench.agreeUntil(JOB_IS_OVER);
    await publishInCard(workbench);
  } catch (error) {
    const shown = await workbench?.shown().catch(() => "nothing any more");
    throw new Error(`${String(error)}\nThe chat showed: ${shown}`, { cause: error });
  } finally {
    await workbench?.close();
    // Ctrl+C does the same.
    server.kill("SIGTERM");
    await ended;
  }
}

function browserOfThisMachine(): string {
  const found = findBrowser();
  if (found === undefined) throw new Error("no browser: install chromium or google-chrome");
  return found;
}
