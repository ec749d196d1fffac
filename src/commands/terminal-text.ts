// Rewords a tool's text, which speaks to a model about its user, for the user who reads it in a terminal. Quoted
// text is the service's or the user's own and stays as it is. Pure.

/** Applied in this order. Sentences that lose their beginning get a capital letter at the end. */
const RULES: readonly (readonly [RegExp, string])[] = [
  // Drops what the reader sees anyway.
  [/(?:Show|Give) the user the links?(?: of the posts|, and those of the posts)?\.(?: |$)/g, ""],
  [/Tell the user(?: what the service says| why [^.]*)?\.(?: |$)/g, ""],
  [/(?:Otherwise don't|Don't) call again unless the user now asks for it: [^.]*\.(?: |$)/g, ""],
  [/\bif you have told the user this, and they then want /g, "if you want "],
  [/\bif the user has said that any /g, "if any "],
  [/ If that fails too, tell the user\./g, ""],
  [/: tell the user\./g, "."],
  // Turns instructions to the model into the user's next step.
  [
    /Ask the user which accounts are connected: the service's website shows them\./g,
    "The service's website shows which accounts are connected.",
  ],
  [
    /Ask the user whether they still want it (.*?) before you call again\./g,
    "Call again only if you still want it $1.",
  ],
  [
    /Tell the user what is allowed and let them choose; call again with that\./g,
    "Choose what is allowed, and call again with that.",
  ],
  [/\b[Tt]ell the user(?: what the service says)?(?:: |, and | that | to )/g, ""],
  [/\b[Aa]sk the user to /g, ""],
  [/\bTell them to /g, ""],
  [
    /\btell them that their client may have answered by itself, and what to do then: /g,
    "your client may have answered by itself; what to do then: ",
  ],
  [/\bShorten it with the user, or /g, "Shorten it, or "],
  [/\blet them choose\b/g, "choose"],
  // Turns "the user" into "you".
  [/ The user was asked and agreed\./g, ""],
  [/The user was asked and did not agree to /g, "You did not agree to "],
  [/\bthe user was\b/g, "you were"],
  [/\bthe user's\b/gi, "your"],
  [/\bthe user (still want|want|mean)s\b/g, "you $1"],
  [/\bthe user (can|saw|to)\b/gi, "you $1"],
  [/\btheir client\b/g, "your client"],
  [/\btells them what\b/g, "tells you what"],
  [/\bwhen they ask(?: for it)?\b/g, "later"],
  [/\b(if|what|after|only|and) they (still want|want|have|can)\b/g, "$1 you $2"],
  // Turns tool calls into commands.
  [/, and put it in this server's settings in your client\b/g, ", and set it here"],
  [/,? and restart this server with it\./g, ", and set it here."],
  [/ Then restart this server\./g, ""],
  [/\bcall publish_video with platforms/g, "call publish_video again with platforms"],
  [/\b(call \w+ again with )platforms \[([^\]]*)\]/g, "$1--platforms $2"],
  [/\b(call \w+ again with (?:--platforms \S+ and )?)confirm: /g, "$1--confirm "],
  [/\bget_video_status (?:and|again with) waitSeconds \d+\b/g, "get_video_status --wait"],
];

export function forTerminal(text: string): string {
  const quoted: string[] = [];
  // A number in quotation marks replaces each quotation.
  let rest = text.replace(/"(?:[^"\\]|\\.)*"/g, (match) => `"${quoted.push(match) - 1}"`);
  for (const [pattern, words] of RULES) rest = rest.replace(pattern, words);
  return (
    rest
      .replace(
        /(^(?!faceless-)|[.?!] )(\p{Ll})/gmu,
        (_, before: string, letter: string) => before + letter.toUpperCase(),
      )
      .replace(/"(\d+)"/g, (_, index: string) => quoted[Number(index)] ?? "")
      // A shell needs no quotation marks around these.
      .replace(/--(?:confirm|platforms) "[\w",.-]+"/g, (option) => option.replaceAll('"', ""))
      .split("\n")
      .map((line) => line.trimEnd())
      .filter(Boolean)
      .join("\n")
  );
}
