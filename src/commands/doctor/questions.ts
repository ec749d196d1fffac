// Says who asks the user before an order and before a post: the client by itself, this server through the
// client, or nobody. Pure.

import { type Config, readConfig } from "../../config.ts";
import { FORMATS } from "../client-formats.ts";
import type { Host } from "../host.ts";
import { type Check, fail, pass, warn } from "./check.ts";
import { type ClientEntry, printEntry } from "./client-entry.ts";

export function checkQuestions(
  { client, suffix, permissionFor, settings: { env, flags } }: ClientEntry,
  host: Host,
): readonly Check[] {
  const { title, asks } = FORMATS[client];
  const { confirmGenerate, confirmPublish, readOnly, noPublish } = readConfig(env, flags, host.homeDir);
  const judge = (act: string, tool: string, variable: string, setting: Config["confirmPublish"]) => {
    const name = `before ${act}${suffix}`;
    const answer = permissionFor(tool) ?? asks?.client ?? "unknown";
    const server = setting === "off" ? false : asks?.server;
    if (answer === "deny") return pass(name, `${title} doesn't let the model use ${tool}`);
    if (setting === "always" && server === false) {
      const unseen = `${variable} is always, and ${title} doesn't show this server's question`;
      const problem = `${unseen}: ${tool} refuses each call`;
      const fix = `Set ${variable} to on if ${title}'s own question is enough`;
      return (tool === "generate_video" ? fail : warn)(name, problem, fix);
    }
    const byItself = {
      ask: `${title} asks you unless you have told it not to`,
      allow: `${title} doesn't ask you`,
      unknown: `it isn't known if ${title} asks you`,
    }[answer];
    const whyNot = setting === "off" ? `${variable} is off` : `${title} doesn't show its question`;
    const isServerAsking = server === true ? "this server asks you" : `this server doesn't, as ${whyNot}`;
    const isShown =
      server === undefined ? "it isn't known if it shows this server's question" : isServerAsking;
    const detail = `${byItself}; ${isShown}`;
    if (answer !== "allow" || server === true) return pass(name, detail);
    const nobody = server === false ? `nobody asks you: ${detail}` : detail;
    const fix = "If you want to be asked, replace the entry with what this prints";
    return warn(name, nobody, fix, printEntry(client, host));
  };
  if (readOnly) return [];
  const order = judge("an order", "generate_video", "FACELESS_CONFIRM_GENERATE", confirmGenerate);
  return noPublish
    ? [order]
    : [order, judge("a post", "publish_video", "FACELESS_CONFIRM_PUBLISH", confirmPublish)];
}
