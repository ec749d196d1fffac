import { expect, test, vi } from "vitest";
import { connect, failureOf } from "./bridge.ts";

// As after an update that took away the file behind a server that runs.
vi.mock("../../src/service/http.ts", () => {
  throw new Error("Cannot find module");
});

test("What can't even load its network code has sent nothing, and can still be closed", async () => {
  const service = connect({ baseUrl: "https://videos.example" });

  expect(await failureOf(service.generate({ topic: "x" }))).toMatchObject({
    code: "internal",
    outcome: "not_sent",
  });
  service.close();
});
