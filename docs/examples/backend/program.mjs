// What both programs do alike: take their settings from the environment, and end with a sentence instead of a stack trace.

import { openBackend } from "./backend.mjs";
import { createService } from "./service.mjs";

const SETTINGS = ["DATABASE_URL", "FACELESS_BASE_URL", "FACELESS_API_KEY"];

/** Runs a program, which opens the backend and closes it again. */
export async function runProgram(program) {
  try {
    await program(openFromEnvironment);
  } catch (error) {
    console.error(error.message);
    // Whatever is still open.
    process.exit(1);
  }
}

async function openFromEnvironment() {
  const missing = SETTINGS.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new Error(`Not set: ${missing.join(", ")}. README.md says to what.`);
  const { DATABASE_URL: databaseUrl, FACELESS_BASE_URL: baseUrl, FACELESS_API_KEY: apiKey } = process.env;
  return openBackend({ databaseUrl, service: createService({ baseUrl, apiKey }) });
}
