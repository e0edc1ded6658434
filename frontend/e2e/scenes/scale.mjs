// Ten thousand messages and fifty thousand chats cost what a screenful costs.
import assert from "node:assert/strict";
import { scrolled, settled } from "../harness.mjs";

const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);

/** Finds the one message with a text: once all around it is drawn, it has to be in view still. */
async function finds(page, text) {
  await page.keyboard.press("Control+f");
  await page.getByRole("searchbox", { name: "Find in this chat" }).fill(text);
  await page.getByText("1 of 1").waitFor();
  const message = page.locator(".message", { hasText: text });
  const inView = (e) => {
    const { top, bottom } = e.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  };
  await message.waitFor();
  await page.waitForFunction(() => !document.querySelector(".message .skeleton, .message .waits"));
  for (let frame = 0; frame < 3; frame++) {
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
  assert.ok(await message.evaluate(inView), `${text} is not in view`);
}

export const tests = {
  "10,000 messages stay under 3,000 nodes, at the end and after a jump through all of them": {
    scene: "long",
    async run(page) {
      await page.getByText("Paragraph 5000.").waitFor();
      assert.ok((await nodes(page)) < 3000, `${await nodes(page)} nodes at the end`);
      await page.locator(".scroller").hover();
      await scrolled(page, () => page.mouse.wheel(0, -200));
      for (const part of [0.7, 0.3, 0]) {
        await page
          .locator(".scroller")
          .evaluate((e, p) => (e.scrollTop = e.scrollHeight * p), part);
        await page.waitForFunction(() => document.querySelectorAll(".message .body").length > 2);
        assert.ok((await nodes(page)) < 3000, `${await nodes(page)} nodes at ${part}`);
      }
      await page.getByText("Question 1:").waitFor();
    },
  },

  "find reaches text that was never on the screen": {
    scene: "long",
    async run(page) {
      await finds(page, "Question 42:");
    },
  },

  "find reaches it, and it stays in view, where every step of the page takes half a second": {
    scene: "long",
    async run(page) {
      await page.addInitScript(() => {
        const now = performance.now.bind(performance);
        let late = 0;
        performance.now = () => now() + (late += 500);
      });
      await page.reload();
      await page.locator("main").first().waitFor();
      await finds(page, "Question 42:");
    },
  },

  "50,000 chats scroll with their heading on top": {
    scene: "manychats",
    async run(page) {
      await page.getByText("Chat number 1", { exact: true }).waitFor();
      assert.ok((await nodes(page)) < 3000, `${await nodes(page)} nodes`);
      const list = page.locator(".sidebar .list > div").last();
      await list.evaluate((e) => (e.scrollTop = e.scrollHeight / 2));
      await page.waitForFunction(() => document.querySelectorAll("[data-chat-row]").length > 5);
      await page.locator(".heading.stuck").waitFor();
      assert.ok((await nodes(page)) < 3000, `${await nodes(page)} nodes in the middle`);
    },
  },

  "a chat that is opened comes into view in the list": {
    scene: "manychats",
    async run(page) {
      const pinned = page.locator("[data-chat-row]", { hasText: /^Chat number 41\b/ });
      await pinned.waitFor();
      const list = page.locator(".sidebar .list > div").last();
      await list.evaluate((e) => (e.scrollTop = e.scrollHeight / 2));
      await pinned.waitFor({ state: "detached" });
      await page.keyboard.press("Control+1");
      await pinned.and(page.locator("[aria-current=page]")).waitFor();
      const inside = () =>
        pinned.evaluate((row) => {
          const box = row.getBoundingClientRect();
          const around = row.closest(".list").getBoundingClientRect();
          return box.top >= around.top && box.bottom <= around.bottom;
        });
      await settled(page);
      assert.ok(await inside());
    },
  },

  "an idle screen draws no frames": {
    async run(page) {
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
    },
  },
};
