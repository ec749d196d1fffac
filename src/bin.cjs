#!/usr/bin/env node
// The first file that runs. It is plain ES5, so that an old Node.js can read it and say which version is needed.
"use strict";
(function () {
  // package.json's engines; a test keeps the two in step.
  var NEEDED = [20, 18, 1];

  function suits(version) {
    var parts = /^(\d+)\.(\d+)\.(\d+)/.exec(version) || [];
    for (var i = 0; i < NEEDED.length; i += 1) {
      var difference = Number(parts[i + 1] || 0) - NEEDED[i];
      if (difference !== 0) return difference > 0;
    }
    return true;
  }

  // eslint-disable-next-line eslint/no-restricted-globals -- cli.ts, its one user, can't be loaded yet
  var node = process;
  var version = node.versions.node;
  if (suits(version)) {
    // eslint-disable-next-line import/no-unassigned-import -- it is there for what it does
    require("./cli.cjs");
    return;
  }
  var line =
    "faceless-video-mcp needs Node.js " +
    NEEDED.join(".") +
    " or newer, and was started by " +
    version +
    " (" +
    node.execPath +
    "). Install a newer one from https://nodejs.org, or name it by its full path in your client's settings.\n";
  try {
    // Written before the process ends, whatever stderr is.
    require("fs").writeSync(2, line);
    // eslint-disable-next-line eslint/no-unused-vars -- ES5 has no catch without a name
  } catch (error) {
    // Nobody reads it: the exit code says the rest.
  }
  node.exit(1);
})();
