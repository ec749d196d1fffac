// An npm registry on this computer: our package as it would be published, everything else as the real one
// has it, asked for once. The measurements then depend on no network.

import { createServer } from "node:http";
import manifest from "../../../package.json" with { type: "json" };
import { listen } from "../../fixtures/free-port.ts";
import { npmRegistry, pack } from "../../fixtures/npm-registry.ts";
import { run } from "../../fixtures/run.ts";

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

/** Packs dist/ into the folder. */
export async function startRegistry(folder: string) {
  const ours = await npmRegistry(manifest, await pack(process.cwd(), folder));
  const others = (await run("npm", ["config", "get", "registry"])).stdout.trim();
  const kept = new Map<string, Promise<Answer>>();
  async function ask(path: string, accept: string): Promise<Answer> {
    const url = new URL(path.slice(1), path.startsWith(`/${manifest.name}`) ? ours.url : others);
    const answer = await fetch(url, { headers: { accept } });
    const type = answer.headers.get("content-type") ?? "";
    return { status: answer.status, type, body: Buffer.from(await answer.arrayBuffer()) };
  }
  const server = createServer(({ url: path = "/", headers: { accept = "*/*" } }, response) => {
    const key = `${accept} ${path}`;
    const answer = kept.get(key) ?? ask(path, accept);
    kept.set(key, answer);
    answer.then(
      ({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body),
      () => response.writeHead(502).end(),
    );
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}/`,
    close() {
      server.close();
      ours.close();
    },
  };
}
