// The journeys: node e2e/run.mjs [name filter]. Each file of e2e/journeys exports tests by sentence.
import { readdir } from "node:fs/promises";
import { launch, open, serve } from "./harness.mjs";

const only = process.argv[2] ?? "";
const folder = new URL("./journeys/", import.meta.url);
const site = await serve();
const browser = await launch();
let passed = 0;
const failed = [];

for (const file of (await readdir(folder)).sort()) {
  const { tests } = await import(new URL(file, folder));
  for (const [name, { run, ...options }] of Object.entries(tests)) {
    if (only && !`${file} ${name}`.includes(only)) continue;
    const began = performance.now();
    const page = await open(browser, site.url, options);
    page.setDefaultTimeout(15_000);
    try {
      await run(page);
      if (page.errors.length > 0) throw new Error(`the page reported: ${page.errors.join("; ")}`);
      passed++;
      console.log(`ok    ${name} (${Math.round(performance.now() - began)} ms)`);
    } catch (error) {
      failed.push(name);
      console.log(
        `FAIL  ${name}\n      ${String(error.stack ?? error)
          .split("\n")
          .slice(0, 6)
          .join("\n      ")}`,
      );
    }
    await page.close();
  }
}

await browser.close();
site.close();
console.log(`end-to-end: ${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0;
