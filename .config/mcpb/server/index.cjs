// What Claude Desktop starts: the switches of its settings page become the options of the server. In old syntax, since
// some of its surfaces start a bundle with whatever Node the machine has.
"use strict";
(function () {
  var SWITCHES = { FACELESS_BUNDLE_SANDBOX: "--sandbox", FACELESS_BUNDLE_NO_PUBLISH: "--no-publish" };
  var options = [];
  for (var name in SWITCHES) {
    if (process.env[name] === "true") options.push(SWITCHES[name]);
  }
  // Nothing else comes in by this way: a host may have put words of its own in front.
  process.argv = process.argv.slice(0, 2).concat(options);
  // eslint-disable-next-line import/no-unassigned-import -- it is there for what it does
  require("../dist/bin.cjs");
})();
