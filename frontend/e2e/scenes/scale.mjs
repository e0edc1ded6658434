// Ten thousand messages and fifty thousand chats cost what a screenful costs.
import { scrolled, settled } from "../page.mjs";
import { expect, test } from "../scene.mjs";

const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);

/** Finds the one message with a text: once all around it is drawn, it has to be in view still. */
async function finds(page, text) {
  await page.keyboard.press("Control+f");
  await page.getByRole("searchbox", { name: "Find in this chat" }).fill(text);
  await expect(page.getByText("1 of 1")).toBeVisible();
  const message = page.locator(".message", { hasText: text });
  const inView = (e) => {
    const { top, bottom } = e.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  };
  await expect(message).toBeVisible();
  await page.waitForFunction(() => !document.querySelector(".message .skeleton, .message .waits"));
  for (let frame = 0; frame < 3; frame++) {
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
  expect(await message.evaluate(inView), `${text} is not in view`).toBeTruthy();
}

test("10,000 messages stay under 3,000 nodes, at the end and after a jump through all of them", async ({ open }) => {
  const page = await open("long");
  await expect(page.getByText("Paragraph 5000.")).toBeVisible();
  expect(await nodes(page)).toBeLessThan(3000);
  await page.locator(".scroller").hover();
  await scrolled(page, () => page.mouse.wheel(0, -200));
  for (const part of [0.7, 0.3, 0]) {
    await page.locator(".scroller").evaluate((e, p) => (e.scrollTop = e.scrollHeight * p), part);
    await page.waitForFunction(() => document.querySelectorAll(".message .body").length > 2);
    expect(await nodes(page)).toBeLessThan(3000);
  }
  await expect(page.getByText("Question 1:")).toBeVisible();
});

test("find reaches text that was never on the screen", async ({ open }) => {
  const page = await open("long");
  await finds(page, "Question 42:");
});

test("find reaches it, and it stays in view, where every step of the page takes half a second", async ({ open }) => {
  const page = await open("long");
  await page.addInitScript(() => {
    const now = performance.now.bind(performance);
    let late = 0;
    performance.now = () => now() + (late += 500);
  });
  await page.reload();
  await expect(page.locator("main").first()).toBeVisible();
  await finds(page, "Question 42:");
});

test("50,000 chats scroll with their heading on top", async ({ open }) => {
  const page = await open("manychats");
  await expect(page.getByText("Chat number 1", { exact: true })).toBeVisible();
  expect(await nodes(page)).toBeLessThan(3000);
  const list = page.locator(".sidebar .list > div").last();
  await list.evaluate((e) => (e.scrollTop = e.scrollHeight / 2));
  await page.waitForFunction(() => document.querySelectorAll("[data-chat-row]").length > 5);
  await expect(page.locator(".heading.stuck")).toBeVisible();
  expect(await nodes(page)).toBeLessThan(3000);
});

test("a chat that is opened comes into view in the list", async ({ open }) => {
  const page = await open("manychats");
  const pinned = page.locator("[data-chat-row]", { hasText: /^Chat number 41\b/ });
  await expect(pinned).toBeVisible();
  const list = page.locator(".sidebar .list > div").last();
  await list.evaluate((e) => (e.scrollTop = e.scrollHeight / 2));
  await expect(pinned).toHaveCount(0);
  await page.keyboard.press("Control+1");
  await expect(pinned.and(page.locator("[aria-current=page]"))).toBeVisible();
  const inside = () =>
    pinned.evaluate((row) => {
      const box = row.getBoundingClientRect();
      const around = row.closest(".list").getBoundingClientRect();
      return box.top >= around.top && box.bottom <= around.bottom;
    });
  await settled(page);
  expect(await inside()).toBeTruthy();
});

test("an idle screen draws no frames", async ({ open }) => {
  const page = await open();
  // Once all is drawn, a second goes by in which nothing changes, and nothing moves.
  await page.waitForFunction(
    () =>
      new Promise((resolve) => {
        let changed = false;
        const observer = new MutationObserver(() => (changed = true));
        observer.observe(document, {
          subtree: true,
          childList: true,
          attributes: true,
          characterData: true,
        });
        setTimeout(() => {
          observer.disconnect();
          resolve(!changed && !document.getAnimations().some((a) => a.playState === "running"));
        }, 1000);
      }),
  );
});
