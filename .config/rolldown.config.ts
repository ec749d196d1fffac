import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { defineConfig } from "rolldown";
import license from "rollup-plugin-license";

const dist = new URL("../dist/", import.meta.url);

export default defineConfig({
  input: { cli: "src/cli.ts" },
  platform: "node",
  transform: { target: "node20" },
  output: {
    dir: "dist",
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    minify: true,
  },
  plugins: [
    {
      name: "dist",
      buildStart() {
        rmSync(dist, { recursive: true, force: true });
      },
      writeBundle() {
        // The sandbox finds its clips beside the chunk that serves them.
        const from = new URL("../src/sandbox/media/", import.meta.url);
        const to = new URL("chunks/media/", dist);
        mkdirSync(to, { recursive: true });
        for (const name of readdirSync(from)) {
          if (/\.(mp4|wav)$/.test(name)) cpSync(new URL(name, from), new URL(name, to));
        }
      },
    },
    license({ thirdParty: { includePrivate: false, output: "dist/THIRD_PARTY_NOTICES" } }),
  ],
});
