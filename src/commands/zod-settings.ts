// Zod compiles a function from text for each schema. Parsing without them is hardly slower, and the server
// starts earlier. To be imported before any schema is made.

import { config } from "zod";

config({ jitless: true });
