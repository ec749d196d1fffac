// Says who asks the user before an order and before a post: the client by itself, this server through the client, or
// nobody. Pure.

import type { Config } from "../../config.ts";
import type { ClientFormat } from "../client-formats.ts";
import { type Check, fail, pass, warn } from "./check.ts";
import type { ClientEntry } from "./client-entry.ts";

/** `print`: the command that prints an entry with which somebody asks. */
export function checkQuestions(
  { title, asks }: ClientFormat,
  { suffix, permissionFor }: ClientEntry,
  { confirmGenerate, confirmPublish, readOnly, noPublish }: Config,
  print: string,
): readonly Check[] {
  const judge = (act: string, tool: string, variable: string, setting: Config["confirmPublish"]) => {
    const name = `before ${act}${suffix}`;
    const byDefault = asks?.client === undefined ? "unknown" : asks.client ? "ask" : "allow";
    const client = permissionFor(tool) ?? byDefault;
    const server = setting === "off" ? false : asks?.server;
    if (client === "deny") return pass(name, `${title} doesn't let the model use ${tool}`);
    if (setting === "always" && server === false) {
      const problem = `${variable} is always, and ${title} doesn't show this server's question: ${tool} refuses each call`;
      const fix = `Set ${variable} to on if ${title}'s own question is enough`;
      return (tool === "generate_video" ? fail : warn)(name, problem, fix);
    }
    const byItself = {
      ask: `${title} asks you unless you have told it not to`,
      allow: `${title} doesn't ask you`,
      unknown: `it isn't known if ${title} asks you`,
    }[client];
    const whyNot = setting === "off" ? `as ${variable} is off` : `as ${title} doesn't show its question`;
    const through =
      server === undefined
        ? "it isn't known if it shows this server's question"
        : `this server ${server ? "asks you" : `doesn't, ${whyNot}`}`;
    const detail = `${byItself}; ${through}`;
    if (client !== "allow" || server === true) return pass(name, detail);
    const nobody = server === false ? `nobody asks you: ${detail}` : detail;
    return warn(name, nobody, "If you want to be asked, replace the entry with what this prints", print);
  };
  return [
    ...(readOnly ? [] : [judge("an order", "generate_video", "FACELESS_CONFIRM_GENERATE", confirmGenerate)]),
    ...(readOnly || noPublish
      ? []
      : [judge("a post", "publish_video", "FACELESS_CONFIRM_PUBLISH", confirmPublish)]),
  ];
}
