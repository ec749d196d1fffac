// npm run build: like rolldown's own command, but without its list of files, which would precede the output of other scripts.

import { build } from "rolldown";
import config from "./rolldown.config.ts";

await build(config);
