// The end-to-end tests: npx playwright test [--project=NAME] [-g "words of a test"]. The scenes need
// dist-fake (npm run build:fake), the others the programs of build/bin and frontend/dist (.ci/test).
import { defineConfig } from "@playwright/test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchOptions } from "./e2e/browser.mjs";
import { patience } from "./e2e/processes.mjs";

/** Where the pictures of what failed are kept. */
const out = process.env.CONCLAVE_TEST_OUT ?? join(tmpdir(), "conclave-e2e");

/** A suite, whose tests share programs but for those of the scenes. The runner empties its folder first. */
const suite = (name, options) => ({
  name,
  testMatch: `e2e/${name}.mjs`,
  outputDir: join(out, name),
  workers: 1,
  ...options,
});

export default defineConfig({
  testDir: "e2e",
  reporter: "list",
  timeout: 5 * patience,
  expect: { timeout: patience, toPass: { timeout: patience } },
  workers: 2,
  use: {
    actionTimeout: patience,
    navigationTimeout: patience,
    launchOptions,
    screenshot: "only-on-failure",
  },
  projects: [
    suite("scenes", { testMatch: "e2e/scenes/*.mjs", fullyParallel: true, workers: 2 }),
    suite("journeys", { testMatch: "e2e/journeys/*.mjs" }),
    suite("deliberation", { testMatch: "e2e/deliberation/*.mjs" }),
    suite("doors"),
    suite("servers"),
    suite("failures"),
    suite("attacks"),
    suite("program"),
    // One theme each: the scenes look at every colour in both. CONCLAVE_THEME is another.
    suite("newcomer", { use: { theme: process.env.CONCLAVE_THEME ?? "light" } }),
    suite("council", { use: { theme: process.env.CONCLAVE_THEME ?? "dark" } }),
    suite("window"),
    // npm run shots
    ...(process.env.CONCLAVE_PICTURES ? [suite("pictures", { fullyParallel: true, workers: 2 })] : []),
  ],
});
