// The page on recorded answers of the program: each test opens a scene in a new page.
import { test as base, expect } from "@playwright/test";
import { serve } from "./browser.mjs";
import { watch } from "./page.mjs";

export { expect };

export const test = base.extend({
  /** The address of the page. */
  site: [
    async ({ browserName: _ }, use) => {
      const site = await serve();
      await use(site.url);
      site.close();
    },
    { scope: "worker" },
  ],

  /** Pages of one context share what is loaded and compiled; they store nothing. */
  shared: [
    async ({ browser }, use) => {
      const context = await browser.newContext();
      await use(context);
      await context.close();
    },
    { scope: "worker" },
  ],

  /** Opens a scene in the test's page, which may report no errors. */
  open: async ({ shared, site }, use) => {
    const page = await shared.newPage();
    const errors = await watch(page);
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    await use(async (scene = "chat", { theme = "light", width = 1440, height = 832, language = "en" } = {}) => {
      await page.setViewportSize({ width, height });
      await page.goto(`${site}/?scene=${scene}&theme=${theme}&lang=${language}`);
      await page.locator("main").first().waitFor();
      return page;
    });
    await page.close();
    expect(errors, "what the page reported").toEqual([]);
  },
});

/** Waits until a still program was asked something so often; returns each time's arguments. */
export async function given(page, name, often = 1) {
  await page.waitForFunction(([n, k]) => globalThis.fake.given(n).length >= k, [name, often]);
  return page.evaluate((n) => globalThis.fake.given(n), name);
}

/** Waits until so many texts were copied on a still program; returns them. */
export async function copies(page, often = 1) {
  await page.waitForFunction((n) => globalThis.fake.copied.length >= n, often);
  return page.evaluate(() => globalThis.fake.copied);
}
