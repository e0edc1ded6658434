// What the suites that are not Playwright's yet share.
import { watch } from "./page.mjs";
import { patience } from "./processes.mjs";

export { launch, serve } from "./browser.mjs";
export * from "./page.mjs";

/** Makes a page that waits with patience, and remembers what it says for a while only (noticed). */
export async function newPage(browser, options) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(patience);
  page.errors = await watch(page);
  return page;
}

/** Opens the window on a scene. Page errors end the test that caused them. */
export async function open(
  browser,
  base,
  { scene = "chat", theme = "light", width = 1440, height = 832, ...context } = {},
) {
  const page = await newPage(browser, { viewport: { width, height }, ...context });
  page.on("console", (message) => {
    if (message.type() === "error") page.errors.push(message.text());
  });
  await page.goto(`${base}/?scene=${scene}&theme=${theme}`);
  await page.locator("main").first().waitFor();
  return page;
}

/** Waits until there are so many of an element. */
export async function counts(element, n) {
  if (n > 0) await element.nth(n - 1).waitFor({ state: "attached" });
  await element.nth(n).waitFor({ state: "detached" });
}

/** Waits until an element has the keyboard. */
export const focused = (element) => element.and(element.page().locator(":focus")).waitFor({ state: "attached" });
