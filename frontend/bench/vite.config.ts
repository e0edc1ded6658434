import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { messages } from "../messages.js";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

export default defineConfig({
  root: here,
  configFile: false,
  plugins: [messages, svelte({ configFile: fileURLToPath(new URL("../svelte.config.js", import.meta.url)) })],
  build: {
    outDir: `${here}dist`,
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 20_000,
  },
});
