// The service of the benches in a process of its own, so that it has a core of its own where there is one. Prints its URL.

import { startSoakService } from "../fixtures/soak-service.ts";

const { url } = await startSoakService();
process.stdout.write(`${url}\n`);
