// Checks whether the port for webhooks can be opened. Closes it again.

import type { Config } from "../../config.ts";
import { receiveWebhooks } from "../../service/webhook-receiver.ts";
import { type Check, pass, reasonOf, warn } from "./check.ts";

const NAME = "webhooks";

/** Nothing where no port is set. */
export async function checkWebhooks({ webhookPort: port }: Config): Promise<readonly Check[]> {
  if (port === undefined) return [];
  try {
    const receiver = await receiveWebhooks({ port, onHint: () => {} });
    receiver.close();
    return [pass(NAME, `port ${port} is free: the server opens it on 127.0.0.1`)];
  } catch (error) {
    return [
      warn(
        NAME,
        `port ${port} can't be opened: ${reasonOf(error)}. Jobs are polled as ever without it`,
        "If your client runs this server now, the port is in use as it should be. Otherwise set FACELESS_WEBHOOK_PORT to another one",
      ),
    ];
  }
}
