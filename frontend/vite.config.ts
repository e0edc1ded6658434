import { svelte } from "@sveltejs/vite-plugin-svelte";
import { messages } from "./messages.js";
import { defineConfig } from "vitest/config";
import type { Plugin } from "vite";
import type { Reporter } from "vitest/node";

// One line of counts at the very end, for whoever adds up all the tests.
const counts: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const of = (state: string) => tests.filter((test) => test.result().state === state).length;
    console.log(`frontend: ${of("passed")} passed, ${of("failed")} failed, ${of("skipped")} skipped`);
  },
};

// Zoom is the root's font size, so everything that is drawn is written in px and built
// in rem. Lines of 1 and 2 px stay as thin as they are; of at-rules only those of
// containers know a rem that follows the zoom.
const rem = (value: string) => value.replace(/(?<![\w.-])(\d*\.?\d+)px/g, (px, n) => (n <= 2 ? px : `${n / 16}rem`));
const pxToRem = {
  postcssPlugin: "px-to-rem",
  Declaration(declaration: { value: string }) {
    const value = rem(declaration.value);
    if (value !== declaration.value) declaration.value = value;
  },
  AtRule: {
    container(rule: { params: string }) {
      const params = rem(rule.params);
      if (params !== rule.params) rule.params = params;
    },
  },
};

// What main.ts needs is fetched while the first frame is drawn; boot.ts runs it after that.
const preloadMain: Plugin = {
  name: "preload-main",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle = {}, chunk: boot }) {
      const scripts = new Set<string>();
      const styles = new Set<string>();
      const add = (name: string) => {
        const chunk = bundle[name];
        if (chunk?.type !== "chunk" || chunk.fileName === boot?.fileName || scripts.has(name)) return;
        scripts.add(name);
        chunk.viteMetadata?.importedCss.forEach((style) => styles.add(style));
        chunk.imports.forEach(add);
      };
      for (const file of Object.values(bundle)) if (file.type === "chunk" && file.name === "main") add(file.fileName);
      const link = (attrs: Record<string, string>) => ({ tag: "link", attrs: { ...attrs, crossorigin: true } });
      return [
        ...[...styles].map((name) => link({ rel: "preload", as: "style", href: `/${name}` })),
        ...[...scripts].map((name) => link({ rel: "modulepreload", href: `/${name}` })),
      ].map((tag) => ({ ...tag, injectTo: "head" as const }));
    },
  },
};

// `--mode fake` swaps the program for one with fixed answers (src/lib/bridge/fake.ts),
// so that the window runs in any browser.
export default defineConfig(({ mode }) => ({
  plugins: [messages, svelte(), preloadMain],
  css: { postcss: { plugins: [pxToRem] } },
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  build: {
    target: "safari16", // WebKitGTK 2.42 and macOS 13 are the oldest web views supported
    chunkSizeWarningLimit: 1500, // Mermaid, loaded only for a diagram
    modulePreload: { polyfill: false },
  },
  optimizeDeps: { entries: ["index.html"] }, // the benchmark's page has packages of its own
  server: { port: 5173, strictPort: false },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.ts"],
    setupFiles: ["src/english.ts"],
    restoreMocks: true,
    // A machine that is busy with other things takes its time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ["default", counts],
  },
}));
