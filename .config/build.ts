// npm run build: without the list of files that rolldown's own command prints before whatever a person came to see.

import { build } from "rolldown";
import config from "./rolldown.config.ts";

await build(config);
