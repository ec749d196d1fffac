import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("each attack that SECURITY.md lists has the test that it names", () => {
  const [, table = ""] = readFileSync(".github/SECURITY.md", "utf8").split(/^\| attack .*\n\|[ |-]+\n/m);
  const rows = table.split("\n\n")[0]?.split("\n") ?? [];
  const named = rows.map((row) => row.split("|").at(-2)?.trim());
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".test.ts"),
  );
  const tests = files.map((name) => readFileSync(`test/${name}`, "utf8")).join("\n");

  expect(rows.length).toBeGreaterThan(10);
  expect(named.filter((name) => !tests.includes(`"${name}"`))).toEqual([]);
});
