// What answers took, and what models cost.
import assert from "node:assert/strict";
import { counts } from "../harness.mjs";

export const tests = {
  "under an answer stands what it took, and above the chat what all of it did": {
    scene: "chat",
    async run(page) {
      const answer = page.locator("article.message:not(.user)").last();
      await answer.getByText("499 tokens · $0.002").waitFor();
      assert.match(
        await answer.getByText("499 tokens").getAttribute("title"),
        /^412 tokens sent, 87 received. The cost is based on the prices of 2026-10-16/,
      );
      assert.equal(await page.locator("article.user").getByText("tokens ·").count(), 0);
      await page.locator("header.header").getByText("12,387 tokens · $0.037").waitFor();
    },
  },
  "a price is added, changed and taken back by keys": {
    scene: "chat",
    async run(page) {
      await page.keyboard.press("Control+,");
      await page.getByRole("button", { name: "Prices", exact: true }).click();
      await page.getByText("Built-in prices, as of 2026-10-16").waitFor();
      await page.getByRole("button", { name: "Add a price" }).click();
      await page.getByRole("textbox", { name: "Model", exact: true }).fill("work/*");
      await page.keyboard.press("Tab");
      await page.keyboard.type("2.5");
      await page.keyboard.press("Tab");
      const own = () => page.evaluate(() => globalThis.fake.models.prices.own);
      await page.waitForFunction(() => globalThis.fake.models.prices.own[0]?.input === 2.5);
      assert.equal((await own())[0].model, "work/*");
      await page.getByRole("button", { name: "Remove the price of work/*" }).press("Enter");
      await page.waitForFunction(() => globalThis.fake.models.prices.own.length === 0);
      await page.getByRole("searchbox", { name: "Filter models" }).fill("claude");
      await counts(page.getByRole("row", { name: /openai/ }), 0);
    },
  },
};
