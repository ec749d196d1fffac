// node worker.mjs: carries out orders. Run as many as you like, on as many machines as you like.

import { openBackend } from "./backend.mjs";
import { createService } from "./service.mjs";

const { DATABASE_URL: databaseUrl, FACELESS_BASE_URL: baseUrl, FACELESS_API_KEY: apiKey } = process.env;
const backend = await openBackend({ databaseUrl, service: createService({ baseUrl, apiKey }) });
await backend.work();
console.log("working");
for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => void backend.close().then(() => process.exit(0)));
