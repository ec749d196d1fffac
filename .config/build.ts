// npm run build: like rolldown's command, but prints no list of files, which would precede others' output.

import { build } from "rolldown";
import config from "./rolldown.config.ts";

await build(config);
