// The window's page on a program with fixed answers (dist-fake), in Chromium: from its address
// to the caret in the composer, from the key to a panel of 316 tools, for a key at the end of a long
// draft, and from the press to the permissions of 200 plugins. Prints one line of JSON. Times are those
// of the main thread's own processor, so that a busy machine does not count; the smallest of five runs is
// the one without noise.
import { launch, serve } from "../e2e/browser.mjs";

const site = await serve();
const browser = await launch();
const runs = [];
const draft = "a line of words that one may have written. ".repeat(465); // 20,000 characters
const keys = 30;

for (let i = 0; i < 5; i++) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 832 } });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find((m) => m.name === "TaskDuration").value * 1000;
  };
  const blank = await busy();
  await page.goto(`${site.url}/?scene=manytools`);
  await page.waitForFunction(() => document.activeElement?.matches(".composer textarea"));
  const typing = (await busy()) - blank;
  await page.getByText("316 tools", { exact: true }).waitFor(); // the rest has come
  const before = await busy();
  await page.keyboard.press("Control+j");
  await page.locator(".dock .tool").first().waitFor();
  const dock = (await busy()) - before;
  const elements = await page.locator("section.dock").evaluate((e) => e.querySelectorAll("*").length);
  await page.keyboard.press("Control+j");
  const field = page.locator(".composer textarea");
  await field.fill(draft);
  await field.press("Control+End");
  await page.waitForTimeout(500); // the draft is saved
  const idle = await busy();
  for (let key = 0; key < keys; key++) await page.keyboard.press("x");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  const written = ((await busy()) - idle) / keys;
  await page.close();

  const rules = await browser.newPage({ viewport: { width: 1280, height: 832 } });
  await rules.goto(`${site.url}/?scene=manypermissions`);
  await rules.waitForFunction(() => document.activeElement?.matches(".composer textarea"));
  await rules.keyboard.press("Control+,");
  const tab = rules.getByRole("button", { name: "Permissions", exact: true });
  await tab.waitFor();
  const matrix = await tab.evaluate(async (button) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const start = performance.now();
    button.click();
    // More rows than fit; the others follow, some at a time.
    while (document.querySelectorAll("[data-row]").length < 30) await frame();
    await new Promise((resolve) => setTimeout(resolve)); // that frame is painted
    return performance.now() - start;
  });
  await rules.locator("[data-row]").nth(199).waitFor();
  runs.push({ typing, dock, elements, written, matrix });
  await rules.close();
}
await browser.close();
site.close();
const best = (key) => Math.min(...runs.map((run) => run[key]));
console.log(
  JSON.stringify({
    typing: best("typing"),
    dock: best("dock"),
    elements: best("elements"),
    written: best("written"),
    matrix: best("matrix"),
  }),
);
