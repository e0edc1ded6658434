// Sending, streaming, tools, and where the reader is left.
import assert from "node:assert/strict";

const message = (page) => page.getByLabel("Message", { exact: true });

async function send(page, text) {
  await message(page).fill(text);
  await page.keyboard.press("Enter");
}

const scrollTop = (page) => page.locator(".scroller").evaluate((e) => e.scrollTop);

export const tests = {
  "F115 Enter while an answer streams queues: shown, edited, removed, and sent afterwards": {
    tick: 30,
    async run(page) {
      const message = page.getByLabel("Message", { exact: true });
      await message.fill("Show me everything");
      await page.keyboard.press("Enter");
      await page.locator("[aria-busy=true]").waitFor();
      for (const text of ["count with the tool", "second", "third"]) {
        await page.keyboard.type(text);
        await page.keyboard.press("Enter");
      }
      const waiting = page.getByRole("list", { name: "Messages waiting to be sent" });
      await waiting.getByText("third").waitFor();
      assert.equal(await message.inputValue(), "");
      await waiting.getByRole("button", { name: "Remove this waiting message" }).nth(1).click();
      await waiting.getByRole("button", { name: "Edit this waiting message" }).nth(1).click();
      assert.equal(await message.inputValue(), "third");
      assert.equal(await waiting.getByRole("listitem").count(), 1);
      await page.getByText("The text has").waitFor({ timeout: 60_000 });
      assert.equal(await waiting.count(), 0);
      assert.equal(await message.inputValue(), "third");
    },
  },

  "F115 what is queued waits for the person when the answer was stopped": {
    tick: 30,
    async run(page) {
      await page.getByLabel("Message", { exact: true }).fill("Show me everything");
      await page.keyboard.press("Enter");
      await page.locator("[aria-busy=true]").waitFor();
      await page.keyboard.type("count with the tool");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("button", { name: "Send now" }).click();
      await page.getByText("The text has").waitFor();
    },
  },

  "F114 a paragraph runs the way its words do, and code from left to right": {
    scene: "showcase",
    async run(page) {
      // In a copy of a block: the window keeps its own as they are.
      const ways = await page
        .locator(".message .block")
        .first()
        .evaluate((block) =>
          [
            "<p>مرحبا، كيف حالك؟ Lyon</p>",
            "<p>Lyon: مرحبا</p>",
            '<figure class="code"><pre><code>// مرحبا</code></pre></figure>',
          ].map((html) => {
            const copy = block.cloneNode();
            copy.innerHTML = html;
            block.after(copy);
            return getComputedStyle(copy.querySelector("pre, p")).direction;
          }),
        );
      assert.deepEqual(ways, ["rtl", "ltr", "ltr"]);
    },
  },

  "F120 the bar behind the newest word goes with the end of the answer": {
    tick: 20,
    async run(page) {
      await send(page, "a long answer please");
      await page.locator(".body.streaming").waitFor();
      await page.getByText("Answer finished").waitFor({ state: "attached", timeout: 60_000 });
      assert.equal(await page.locator(".body.streaming").count(), 0);
      const bars = await page
        .locator(".message .block > p")
        .evaluateAll((all) =>
          all.map((p) => getComputedStyle(p, "::after").content).filter((c) => c !== "none"),
        );
      assert.deepEqual(bars, []);
    },
  },

  "F113 a short answer does not move when it ends": {
    async run(page) {
      await page.evaluate(() => {
        // Sizes are told before each paint, to the window first and then to this.
        globalThis.tops = [];
        const look = () => {
          const asked = [...document.querySelectorAll("article.user")].at(-1);
          if (asked?.textContent.includes("count with"))
            globalThis.tops.push(Math.round(asked.getBoundingClientRect().top));
        };
        new ResizeObserver(look).observe(document.querySelector(".scroller").firstElementChild);
      });
      await page.getByLabel("Message", { exact: true }).fill("count with the tool");
      await page.keyboard.press("Enter");
      await page.getByText("Answer finished").waitFor({ state: "attached" });
      await page.waitForTimeout(400);
      const tops = await page.evaluate(() => globalThis.tops);
      const settled = tops.slice(tops.indexOf(tops.at(-1)));
      assert.ok(settled.length > 3, `seen ${settled.length} times`);
      assert.deepEqual(
        [...new Set(settled)],
        [tops.at(-1)],
        `the question was at ${[...new Set(tops)]}`,
      );
    },
  },

  "F113 saved and answered again, a question goes where a new one goes": {
    height: 600,
    tick: 30, // long enough to be seen answering
    async run(page) {
      for (const text of ["Show me everything", "count with the tool"]) {
        await page.getByLabel("Message", { exact: true }).fill(text);
        await page.keyboard.press("Enter");
        await page.waitForFunction(() => document.querySelector(".btn.stop"));
        await page.waitForFunction(() => !document.querySelector(".btn.stop"));
      }
      await page.keyboard.press("ArrowUp");
      await page.getByLabel("Text of the message").fill("count with the tool once more");
      await page.getByRole("button", { name: "Save and answer again" }).click();
      await page.waitForFunction(() => document.querySelector(".btn.stop"));
      await page.waitForFunction(() => !document.querySelector(".btn.stop"));
      await page.waitForTimeout(300);
      const [top, bottom, end] = await page.evaluate(() => {
        const articles = [...document.querySelectorAll("article")];
        const question = articles
          .filter((a) => a.matches(".user"))
          .at(-1)
          .getBoundingClientRect();
        const scroller = document.querySelector(".scroller").getBoundingClientRect();
        return [
          question.top - scroller.top,
          articles.at(-1).getBoundingClientRect().bottom,
          scroller.bottom,
        ];
      });
      assert.ok(top >= 0 && top < 60, `the question is ${top} px below the top`);
      assert.ok(bottom < end, "the answer is under the composer");
    },
  },

  "F112 find marks the word and brings it into view, also in a long message": {
    height: 600,
    async run(page) {
      await page.getByLabel("Message", { exact: true }).fill("Show me everything");
      await page.keyboard.press("Enter");
      await page.getByText("Answer finished").waitFor({ state: "attached" });
      await page.keyboard.press("Control+f");
      await page.keyboard.type("nested point");
      await page.getByText("1 of 1").waitFor();
      await page.waitForFunction(() => CSS.highlights.get("find-here")?.size === 1);
      await page.waitForTimeout(600);
      const seen = await page.evaluate(() => {
        const place = [...CSS.highlights.get("find-here")][0].getBoundingClientRect();
        const view = document.querySelector(".scroller").getBoundingClientRect();
        return place.top > view.top && place.bottom < view.bottom;
      });
      assert.ok(seen, "the word is out of view");
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => CSS.highlights.get("find-here").size === 0);
    },
  },

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
      await page.locator("dd", { hasText: "a b c" }).waitFor();
      await page.getByRole("button", { name: "JSON", exact: true }).click();
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
      await page.waitForFunction(() => globalThis.fake.done.opened.length > 0);
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
      await page.waitForFunction(() => globalThis.fake.done.copied.length > 1);
      const done = await page.evaluate(() => globalThis.fake.done);
      assert.match(done.copied[0], /^# word_count.py[\s\S]*return len\(text.split\(\)\)/);
      assert.equal(done.saved[0].name, "code.py");
      assert.match(done.copied[1], /^Tool,Calls,Note\r\nword_count,12,counts words\r\n/);
    },
  },
};
