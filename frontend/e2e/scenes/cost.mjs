// What answers took, and what models cost.
import { expect, test } from "../scene.mjs";

test("under an answer stands what it took, and above the chat what all of it did", async ({ open }) => {
  const page = await open();
  const answer = page.locator("article.message:not(.user)").last();
  await expect(answer.getByText("499 tokens · 3.2 s · $0.002")).toBeVisible();
  expect(await answer.getByText("499 tokens").getAttribute("title")).toMatch(
    /^412 tokens sent, 87 received. The cost is based on the prices of 2026-10-16/,
  );
  expect(await page.locator("article.user").getByText("tokens ·").count()).toBe(0);
  await expect(page.locator("header.header").getByText("12,387 tokens · $0.037")).toBeVisible();
});

test("a price is added, changed and taken back by keys", async ({ open }) => {
  const page = await open();
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Prices", exact: true }).click();
  await expect(page.getByText("Built-in prices, as of 2026-10-16")).toBeVisible();
  await page.getByRole("button", { name: "Add a price" }).click();
  await page.getByRole("textbox", { name: "Model", exact: true }).fill("work/*");
  await page.keyboard.press("Tab");
  await page.keyboard.type("2.5");
  await page.keyboard.press("Tab");
  const own = () => page.evaluate(() => globalThis.fake.models.prices.own);
  await page.waitForFunction(() => globalThis.fake.models.prices.own[0]?.input === 2.5);
  expect((await own())[0].model).toBe("work/*");
  await page.getByRole("button", { name: "Remove the price of work/*" }).press("Enter");
  await page.waitForFunction(() => globalThis.fake.models.prices.own.length === 0);
  await page.getByRole("searchbox", { name: "Filter models" }).fill("claude");
  await expect(page.getByRole("row", { name: /openai/ })).toHaveCount(0);
});
