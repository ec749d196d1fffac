// Started by Claude Desktop: turns the switches of its settings page into options of the server. An empty page is
// the sandbox. In old syntax, since some of its surfaces start a bundle with whatever Node the machine has.
"use strict";
(function () {
  var SWITCHES = {
    FACELESS_BUNDLE_READ_ONLY: "--read-only",
    FACELESS_BUNDLE_NO_PUBLISH: "--no-publish",
  };
  var isSandbox = process.env.FACELESS_BUNDLE_SANDBOX === "true";
  var options = [isSandbox ? "--sandbox" : "--sandbox=auto"];
  for (var name in SWITCHES) {
    if (process.env[name] === "true") options.push(SWITCHES[name]);
  }
  // A field that was left empty may come as the placeholder that the manifest has for it.
  for (var variable in process.env) {
    if (process.env[variable].indexOf("${user_config.") === 0) delete process.env[variable];
  }
  // The server's texts then name the settings by their titles.
  process.env.FACELESS_BUNDLE = "true";
  // Drops all other arguments: a host may have put words of its own in front.
  process.argv = process.argv.slice(0, 2).concat(options);
  // eslint-disable-next-line import/no-unassigned-import -- it is there for what it does
  require("../dist/bin.cjs");
})();
