// The scenes: node e2e/run.mjs [name filter…]. Each file of e2e/scenes exports tests by sentence, of
// what the page does by itself; what the program does is in journeys.mjs and its like.
import { readdir } from "node:fs/promises";
import { launch, open, serve } from "./harness.mjs";

const only = process.argv.slice(2);
const folder = new URL("./scenes/", import.meta.url);
const site = await serve();
let passed = 0;
let failed = 0;

/** Runs one journey on a page of its own and says how it went. */
async function journey(browser, name, { run, ...options }) {
  const began = performance.now();
  const page = await open(browser, site.url, options);
  try {
    await run(page);
    if (page.errors.length > 0) throw new Error(`the page reported: ${page.errors.join("; ")}`);
    console.log(`ok    ${name} (${Math.round(performance.now() - began)} ms)`);
    return true;
  } catch (error) {
    console.log(
      `FAIL  ${name}\n      ${String(error.stack ?? error)
        .split("\n")
        .slice(0, 6)
        .join("\n      ")}`,
    );
    for (const said of page.errors) console.log(`      the page reported: ${said}`);
    return false;
  } finally {
    await page.close();
  }
}

const journeys = [];
for (const file of (await readdir(folder)).sort()) {
  const { tests } = await import(new URL(file, folder));
  for (const [name, test] of Object.entries(tests))
    if (only.length === 0 || only.some((part) => `${file} ${name}`.includes(part)))
      journeys.push([name, test]);
}

// Four at a time: most of a journey is waiting for the page. Each has a browser, since of
// those there is one keyboard, one clipboard and one thing that is dragged.
const left = journeys.values();
const some = async () => {
  const browser = await launch();
  for (const [name, test] of left)
    if (await journey(browser, name, test)) passed++;
    else failed++;
  await browser.close();
};
await Promise.all([some(), some(), some(), some()]);

site.close();
console.log(`end-to-end: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
