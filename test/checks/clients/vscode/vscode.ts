// VS Code as a client: its settings, and the job in its chat. It needs a browser, and code-server's install needs what builds its native
// modules: on Debian chromium, build-essential, python3, libkrb5-dev, libx11-dev, libxkbfile-dev and libsecret-1-dev.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findBrowser } from "../../../fixtures/browser.ts";
import type { Given, Launched } from "../applications.ts";
import { JOB_IS_OVER, PROMPT } from "../job.ts";
import type { Start } from "../processes.ts";
import { publishInCard, watchCard } from "./card.ts";
import { startCodeServer } from "./code-server.ts";
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
  return [
    {
      vendor: "customendpoint",
      name: MODEL,
      apiKey: "example",
      apiType: "chat-completions",
      models: [model],
    },
  ];
}

export async function prepareVscode({ entry, home, project, modelUrl }: Given): Promise<Launched> {
  // Says what is missing before anything is started.
  browserOfThisMachine();
  const data = join(home, "vscode");
  const files = {
    [join(project, ".vscode/mcp.json")]: entry,
    [join(data, "User/settings.json")]: JSON.stringify(SETTINGS),
    [join(data, "User/chatLanguageModels.json")]: JSON.stringify(languageModels(modelUrl)),
  };
  const temporary = join(home, "tmp");
  const folders = [join(project, ".vscode"), join(data, "User"), temporary];
  await Promise.all(folders.map((folder) => mkdir(folder, { recursive: true })));
  await Promise.all(Object.entries(files).map(([file, text]) => writeFile(file, text)));
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
export async function useVscode(start: Start, given: Given, signal: AbortSignal): Promise<void> {
  const { home, project, pictures, serverRuns } = given;
  await rm(pictures, { recursive: true, force: true });
  process.stdout.write(`Pictures of VS Code: ${pictures}\n`);
  const server = await startCodeServer(start, signal);
  let workbench: Workbench | undefined;
  try {
    workbench = await Workbench.open({
      url: server.url,
      project,
      browser: browserOfThisMachine(),
      profile: join(home, "browser"),
      env: start.env,
      pictures,
    });
    signal.throwIfAborted();
    signal.addEventListener("abort", () => void workbench?.close());
    await workbench.chooseModel(MODEL);
    await workbench.prompt(PROMPT);
    await workbench.allow();
    await watchCard(workbench, serverRuns);
    await workbench.agreeUntil(JOB_IS_OVER);
    await publishInCard(workbench);
  } catch (error) {
    await workbench?.takePicture("failed").catch(() => {});
    const shown = await workbench?.shown().catch(() => "nothing any more");
    throw new Error(`${String(error)}\nThe chat showed: ${shown}`, { cause: error });
  } finally {
    await workbench?.close();
    await server.stop();
  }
}

function browserOfThisMachine(): string {
  const found = findBrowser();
  if (found === undefined) throw new Error("no browser: install chromium or google-chrome");
  return found;
}
