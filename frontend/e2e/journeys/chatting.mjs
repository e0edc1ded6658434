// Sending, streaming, tools, and where the reader is left.
import assert from "node:assert/strict";

const message = (page) => page.getByLabel("Message", { exact: true });

async function send(page, text) {
  await message(page).fill(text);
  await page.keyboard.press("Enter");
}

const scrollTop = (page) => page.locator(".scroller").evaluate((e) => e.scrollTop);

export const tests = {
  "a first message makes a chat, streams, and is in the list": {
    scene: "welcome",
    async run(page) {
      await page.getByText("Talk to models. Keep control.").waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
      await page.keyboard.type("Show me everything");
      await page.keyboard.press("Enter");
      await page.getByText("That is all of it.").waitFor();
      await page.locator("[data-chat-row]").getByText("Show me everything").waitFor();
      await page.getByText("Answer finished").waitFor({ state: "attached" });
      assert.equal(await message(page).inputValue(), "");
      await page.locator(".katex").first().waitFor();
      await page.locator(".drawing img").waitFor();
    },
  },

  "Shift+Enter makes a line, and an input method's Enter never sends": {
    async run(page) {
      await message(page).focus();
      await page.keyboard.type("one");
      await page.keyboard.press("Shift+Enter");
      await page.keyboard.type("two");
      await message(page).evaluate((area) => {
        area.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
        area.dispatchEvent(
          new KeyboardEvent("keydown", {
            key: "Enter",
            isComposing: true,
            bubbles: true,
            cancelable: true,
          }),
        );
        area.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
      });
      assert.equal(await message(page).inputValue(), "one\ntwo");
    },
  },

  "the question goes to the top and the view holds still while the answer grows": {
    tick: 2,
    async run(page) {
      await send(page, "a long answer please");
      const question = page.locator(".message.user", { hasText: "a long answer please" });
      await question.waitFor();
      await page.getByRole("button", { name: /new paragraph/ }).waitFor();
      const box = await question.boundingBox();
      const view = await page.locator(".scroller").boundingBox();
      assert.ok(Math.abs(box.y - view.y - 24) < 8, `question is ${box.y - view.y} px from the top`);
      const before = await scrollTop(page);
      await page.getByText("Answer finished").waitFor({ state: "attached" });
      assert.equal(await scrollTop(page), before);
      await page.getByRole("button", { name: /new paragraph/ }).click();
      await page.getByText("Paragraph 40.").waitFor();
    },
  },

  "a chat opens at its end, and again after another chat": {
    async run(page) {
      const end = () =>
        page.waitForFunction(() => {
          const e = document.querySelector(".scroller");
          return e && e.scrollTop > 0 && e.scrollHeight - e.clientHeight - e.scrollTop < 4;
        });
      for (let i = 0; i < 4; i++) {
        await end();
        await page.locator("[data-chat-row]").getByText("Trip to Lyon").click();
        await page.getByText("Fourvière").waitFor();
        await page.locator("[data-chat-row]").getByText("Counting words").click();
        await page.getByText("I will.").waitFor();
      }
      await end();
    },
  },

  "a wheel upwards stops following at once": {
    tick: 20,
    async run(page) {
      await page.evaluate(() => globalThis.fake.settings.Set({ follow: true }));
      await send(page, "a long answer please");
      await page.getByText("Paragraph 12.").waitFor();
      await page.locator(".scroller").hover();
      await page.mouse.wheel(0, -300);
      await page.getByRole("button", { name: /new paragraph|To the end/ }).waitFor();
      const before = await scrollTop(page);
      await page.getByText("Answer finished").waitFor({ state: "attached", timeout: 60_000 });
      assert.equal(await scrollTop(page), before);
    },
  },

  "a selection in the growing paragraph survives the next words": {
    tick: 60,
    async run(page) {
      await send(page, "a long answer please");
      const paragraph = page.locator("[aria-busy=true] .block p").first();
      await paragraph.waitFor();
      await paragraph.evaluate((p) => {
        const range = document.createRange();
        range.setStart(p.firstChild, 0);
        range.setEnd(p.firstChild, 9);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
      });
      const length = (await paragraph.textContent()).length;
      await page.waitForFunction(
        ([p, n]) => p.textContent.length > n + 20,
        [await paragraph.elementHandle(), length],
      );
      assert.equal(await page.evaluate(() => String(getSelection())), "Paragraph");
    },
  },

  "a tool card opens to arguments, output, what was hidden, and why": {
    async run(page) {
      await send(page, "count with the tool");
      await page.locator(".message .tool[data-state=done]").waitFor();
      await page.locator(".message .tool .line").click();
      await page.getByText('"text": "a b c"').waitFor();
      await page.getByText("3 hidden characters removed").waitFor();
      await page.getByRole("button", { name: "View", exact: true }).click();
      await page.getByText("‹U+202E›").waitFor();
      await page.getByText("Why was this allowed?").click();
      await page.getByText("No rule refuses it.").waitFor();
    },
  },

  "a failed answer keeps its text and Try again answers": {
    async run(page) {
      await send(page, "fail please");
      await page.locator(".failed", { hasText: "was cut in the middle" }).waitFor();
      await page.getByText("the beginning of an answer").waitFor();
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("The text has").waitFor();
      await page.getByRole("group", { name: "Version 2 of 2" }).waitFor();
      await page.getByRole("button", { name: "Previous version" }).click();
      await page.locator(".failed", { hasText: "was cut in the middle" }).waitFor();
    },
  },

  "stop keeps what was said": {
    async run(page) {
      await send(page, "slow");
      await page.getByText(/Waiting for/).waitFor();
      await page.keyboard.press("Control+.");
      await page.getByText("You stopped this answer.").waitFor();
    },
  },

  "an edit in place offers two ways and Esc leaves it": {
    async run(page) {
      await message(page).focus();
      await page.keyboard.press("ArrowUp");
      const area = page.getByLabel("Text of the message");
      await area.waitFor();
      assert.equal(await area.inputValue(), "Good. Keep it short next time.");
      await page.keyboard.press("Escape");
      await area.waitFor({ state: "detached" });
      await message(page).focus();
      await page.keyboard.press("ArrowUp");
      await area.fill("Count with the tool");
      await page.getByRole("button", { name: "Save and answer again" }).click();
      await page.getByText("The text has").waitFor();
      await page.getByText(/2 messages are on the other branch/).waitFor();
    },
  },

  "a draft survives another chat and a reload of the page's state": {
    async run(page) {
      await message(page).fill("half a thought");
      await page.waitForFunction(async () => {
        const id = (
          await globalThis.fake.chats.List({ text: "", archived: false }, 0, 9)
        ).rows.find((r) => r.title === "Counting words").id;
        return (await globalThis.fake.chats.Draft(id)).text === "half a thought";
      });
      await page.locator("[data-chat-row]").getByText("Trip to Lyon").click();
      await page.getByText("Fourvière").waitFor();
      assert.equal(await message(page).inputValue(), "");
      await page.locator("[data-chat-row]").getByText("Counting words").click();
      await page.waitForFunction(
        () => document.querySelector("textarea").value === "half a thought",
      );
    },
  },

  "a link that names another host is asked about, a plain one opens outside": {
    scene: "showcase",
    async run(page) {
      await page.getByRole("link", { name: "link to a page" }).click();
      assert.deepEqual(await page.evaluate(() => globalThis.fake.done.opened), [
        "https://example.org/docs",
      ]);
      await page.evaluate(() => {
        const link = document.querySelector(".prose a");
        link.dataset.mismatch = "";
        link.dataset.host = "evil.example";
      });
      await page.getByRole("link", { name: "link to a page" }).click();
      await page.getByText("This link leads somewhere else").waitFor();
      assert.equal(await page.evaluate(() => globalThis.fake.done.opened.length), 1);
    },
  },

  "code is copied and saved whole, a table as CSV": {
    scene: "showcase",
    async run(page) {
      await page.getByRole("button", { name: "Copy code" }).click();
      await page.getByRole("button", { name: "Save as file" }).click();
      await page.getByRole("button", { name: "Copy as CSV" }).click();
      const done = await page.evaluate(() => globalThis.fake.done);
      assert.match(done.copied[0], /^# word_count.py[\s\S]*return len\(text.split\(\)\)/);
      assert.equal(done.saved[0].name, "code.py");
      assert.match(done.copied[1], /^Tool,Calls,Note\r\nword_count,12,counts words\r\n/);
    },
  },
};
