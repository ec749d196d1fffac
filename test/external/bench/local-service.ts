// The service of the benchmarks in its own process, so that it can use another core. Prints its URL.

import { startSoakService } from "../../fixtures/soak-service.ts";

const { url } = await startSoakService();
process.stdout.write(`${url}\n`);
