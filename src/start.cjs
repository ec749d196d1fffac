// Read on a Node that is new enough alone: the import() that an old one could not even parse.
"use strict";
void import("./cli.js");
