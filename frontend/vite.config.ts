import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import type { Reporter } from "vitest/node";

// One line of counts at the very end, for whoever adds up all the tests.
const counts: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const of = (state: string) => tests.filter((test) => test.result().state === state).length;
    console.log(
      `frontend: ${of("passed")} passed, ${of("failed")} failed, ${of("skipped")} skipped`,
    );
  },
};

// `--mode fake` swaps the program for an app in memory (src/lib/bridge/fake.ts),
// so that the window runs in any browser.
export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  build: {
    target: "safari16", // WebKitGTK 2.42 and macOS 13 are the oldest web views supported
    chunkSizeWarningLimit: 1500, // Mermaid, loaded only for a diagram
    modulePreload: { polyfill: false },
  },
  server: { port: 5173, strictPort: false },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.ts"],
    restoreMocks: true,
    reporters: ["default", counts],
  },
}));
