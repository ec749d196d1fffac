// Loaded before a server: its wall clock is ahead by as many milliseconds as the file CLOCK_FILE says, as after a sleep of the machine.

const { readFileSync } = require("node:fs");

const realNow = Date.now;
Date.now = () => {
  try {
    return realNow() + Number(readFileSync(process.env.CLOCK_FILE, "utf8"));
  } catch {
    return realNow();
  }
};
