// Says who asks the user before an order and before a post: the client by itself, this server through the client, or
// nobody. Pure.

import type { Config } from "../../config.ts";
import type { ClientFormat } from "../client-formats.ts";
import { type Check, fail, pass, warn } from "./check.ts";
import { type ClientEntry, REPLACE } from "./client-entry.ts";

/** `print`: the command that prints an entry with which somebody asks. */
export function checkQuestions(
  format: ClientFormat,
  { suffix, permissionFor }: ClientEntry,
  { confirmGenerate, confirmPublish, readOnly, noPublish }: Config,
  print: string,
): readonly Check[] {
  const { title, asks } = format;
  const judge = (act: string, tool: string, variable: string, setting: Config["confirmPublish"]) => {
    const name = `before ${act}${suffix}`;
    const byDefault = asks?.client === undefined ? undefined : asks.client ? "ask" : "allow";
    const ofClient = permissionFor(tool) ?? byDefault;
    if (ofClient === "deny") return pass(name, `${title} doesn't let the model use ${tool}`);
    if (setting === "always" && asks?.server === false)
      return (tool === "generate_video" ? fail : warn)(
        name,
        `${variable} is always, and ${title} doesn't show this server's question: ${tool} refuses each call`,
        `Set ${variable} to on if ${title}'s own question is enough`,
      );
    const server = setting === "off" ? false : asks?.server;
    const reason =
      setting === "off"
        ? `this server doesn't, as ${variable} is off`
        : `${title} doesn't show this server's question`;
    const unlessTold = "unless you have told it not to";
    if (server === true && ofClient === "ask")
      return pass(name, `this server asks you, and so does ${title} ${unlessTold}`);
    if (server === true) return pass(name, `this server asks you. ${title} itself doesn't`);
    if (ofClient === "ask") {
      const rest = server === undefined ? UNKNOWN_QUESTION : reason;
      return pass(name, `${title} asks you ${unlessTold}; ${rest}`);
    }
    if (ofClient === undefined)
      return pass(
        name,
        `it isn't known if ${title} asks you; ${server === undefined ? UNKNOWN_QUESTION : reason}`,
      );
    const nobody =
      server === undefined
        ? `${title} doesn't ask you; ${UNKNOWN_QUESTION}`
        : `nobody asks you: neither does ${title}; ${reason}`;
    return warn(name, nobody, `If you want to be asked, ${REPLACE.replace(/^R/, "r")}`, print);
  };
  return [
    ...(readOnly ? [] : [judge("an order", "generate_video", "FACELESS_CONFIRM_GENERATE", confirmGenerate)]),
    ...(readOnly || noPublish
      ? []
      : [judge("a post", "publish_video", "FACELESS_CONFIRM_PUBLISH", confirmPublish)]),
  ];
}

const UNKNOWN_QUESTION = "it isn't known if it shows this server's question";
