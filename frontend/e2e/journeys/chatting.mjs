// Sending, streaming, tools, and where the reader is left.
import assert from "node:assert/strict";
import { armed, counts, scrolled } from "../harness.mjs";
import { until } from "../processes.mjs";
import { begin, end, held, say } from "../server.mjs";

const everything = `This is what an answer can look like, with *emphasis* and \`inline code\`.

### A list with parts

1. Read the file
2. Check it against what you expect
   - a nested point
   - another one

\`\`\`python
def word_count(text: str) -> int:
    return len(text.split())
\`\`\`

| Tool | Calls |
|---|---|
| word_count | 12 |

$$\\int_0^1 x^2\\,dx$$

\`\`\`mermaid
graph LR
  You --> Model
\`\`\`

That is all of it. Ask for a tool next.`;

const paragraph = (i) =>
  `Paragraph ${i}. The scheduler keeps its workers busy; each one takes a job and reports back. When the queue is empty a worker sleeps, and wakes on a signal. This sentence gives a paragraph its length.\n\n`;
const paragraphs = (from, to) =>
  Array.from({ length: to - from + 1 }, (_, i) => paragraph(from + i));

const streams = {
  "Begin, and go on later": held("It begins, and ", "now it ends."),
  "Begin, and be stopped": held("It begins, and ", "never ends."),
  "Answer shortly": held("The text has ", "three words."),
  "A long answer, please": held(paragraphs(1, 12), paragraphs(13, 40)),
  "A long answer to follow": held(paragraphs(1, 12), paragraphs(13, 40)),
  "A paragraph that grows": held("Paragraph one begins here ", "and goes on with some more words."),
};
let broken = false;

/** Ends whatever still streams, so that what follows fails for reasons of its own. */
export const letGo = () => Object.values(streams).forEach((one) => one.go());

export const answers = {
  ...streams,
  "Show me everything": everything,
  "Everything once more": everything,
  "Short and sweet": "Sweet.",
  "A second question": "The second was answered.",
  "Count what is hidden": { text: "", call: { name: "word_count", arguments: { text: "a b c" } } },
  "Fail once": (response) => {
    const text = broken ? "It worked this time." : "Here is the beginning of an answer";
    begin(response);
    say(response, text);
    if (broken) end(response);
    else setImmediate(() => response.socket.destroy());
    broken = true;
  },
};

export const steps = (world) => {
  const page = () => world.person.page;
  const field = () => page().getByLabel("Message", { exact: true });
  const scrollTop = () =>
    page()
      .locator(".scroller")
      .evaluate((e) => e.scrollTop);
  const streaming = () => page().locator("[aria-busy=true]").waitFor();
  const over = () =>
    page().waitForFunction(
      () =>
        document.querySelector("article") && !document.querySelector(".btn.stop, [aria-busy=true]"),
    );
  const row = (text) => page().locator("[data-chat-row]").getByText(text).first();

  return {
    "F115 Enter while an answer streams queues: shown, edited, removed, and sent afterwards":
      async () => {
        await world.person.newChat();
        await world.person.write("Begin, and go on later");
        await streaming();
        for (const text of ["A second question", "second", "third"]) {
          await page().keyboard.type(text);
          await page().keyboard.press("Enter");
        }
        const waiting = page().getByRole("list", { name: "Messages waiting to be sent" });
        await waiting.getByText("third").waitFor();
        assert.equal(await field().inputValue(), "");
        await waiting.getByRole("button", { name: "Remove this waiting message" }).nth(1).click();
        await waiting.getByRole("button", { name: "Edit this waiting message" }).nth(1).click();
        await until("the text to edit", async () => (await field().inputValue()) === "third");
        await counts(waiting.getByRole("listitem"), 1);
        streams["Begin, and go on later"].go();
        await page().getByText("The second was answered.").waitFor();
        await waiting.waitFor({ state: "detached" });
        assert.equal(await field().inputValue(), "third");
        await over();
        await field().fill("");
      },

    "F115 what is queued waits for the person when the answer was stopped": async () => {
      await world.person.newChat();
      await world.person.write("Begin, and be stopped");
      await streaming();
      await page().keyboard.type("A second question");
      await page().keyboard.press("Enter");
      await page().keyboard.press("Control+.");
      await page().getByRole("button", { name: "Send now" }).click();
      await page().getByText("The second was answered.").waitFor();
      streams["Begin, and be stopped"].go();
      await over();
    },

    "F113 a short answer does not move when it ends": async () => {
      await world.person.newChat();
      await world.person.ask("Show me everything");
      await world.person.still(); // its diagram is drawn, which may be later than all its words
      await world.person.write("Answer shortly");
      await page().getByText("The text has").waitFor();
      await world.person.still();
      await page().evaluate(() => {
        // What a frame begins with is what was painted last.
        globalThis.tops = [];
        const look = () => {
          const asked = [...document.querySelectorAll("article.user")].at(-1);
          globalThis.tops?.push(asked.getBoundingClientRect().top);
          if (globalThis.tops) requestAnimationFrame(look);
        };
        look();
      });
      streams["Answer shortly"].go();
      await page().getByText("three words.").waitFor();
      await over();
      await world.person.still();
      const tops = await page().evaluate(() => {
        const seen = globalThis.tops;
        globalThis.tops = null;
        return seen;
      });
      const moved = Math.max(...tops) - Math.min(...tops);
      assert.ok(moved < 1, `the question was at ${[...new Set(tops)]}`); // a view lies at whole pixels
    },

    "F113 saved and answered again, a question goes where a new one goes": async () => {
      await page().setViewportSize({ width: 1440, height: 600 });
      await field().focus();
      await page().keyboard.press("ArrowUp");
      await page().getByLabel("Text of the message").fill("Short and sweet");
      await page().getByRole("button", { name: "Save and answer again" }).click();
      await page().getByText("Sweet.", { exact: true }).waitFor();
      await over();
      await world.person.still();
      const [top, bottom, end] = await page().evaluate(() => {
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
      await page()
        .getByText(/on the other branch/)
        .waitFor();
    },

    "F112 find marks the word and brings it into view, also in a long message": async () => {
      await page().keyboard.press("Control+f");
      await page().getByRole("searchbox", { name: "Find in this chat" }).fill("nested point");
      await page().getByText("1 of 1").waitFor();
      await page().waitForFunction(() => CSS.highlights.get("find-here")?.size === 1);
      await page().waitForFunction(() => {
        const place = [...CSS.highlights.get("find-here")][0].getBoundingClientRect();
        const view = document.querySelector(".scroller").getBoundingClientRect();
        return place.top > view.top && place.bottom < view.bottom;
      });
      await page().keyboard.press("Escape");
      await page().waitForFunction(() => CSS.highlights.get("find-here").size === 0);
      await page().setViewportSize({ width: 1440, height: 832 });
    },

    "a first message makes a chat, and formulas and diagrams are drawn": async () => {
      await world.person.newChat();
      await page().waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
      await page().keyboard.type("Everything once more");
      await page().keyboard.press("Enter");
      await page().getByText("That is all of it.").waitFor();
      await row("Everything once more").waitFor();
      await over();
      assert.equal(await field().inputValue(), "");
      await page().locator(".katex").first().waitFor();
      await page().locator(".drawing img").waitFor();
    },

    "a chat opens at its end, and again after another chat": async () => {
      await world.person.newChat();
      await world.person.ask("Short and sweet");
      const end = () =>
        page().waitForFunction(() => {
          const e = document.querySelector(".scroller");
          return e && e.scrollTop > 0 && e.scrollHeight - e.clientHeight - e.scrollTop < 4;
        });
      for (let i = 0; i < 3; i++) {
        await row("Everything once more").click();
        await page().getByText("That is all of it.").waitFor();
        await end();
        await row("Short and sweet").click();
        await page().getByText("Sweet.", { exact: true }).waitFor();
      }
    },

    "F120 the question goes to the top, the view holds still while the answer grows, and the bar goes with its end":
      async () => {
        await row("Everything once more").click();
        await page().getByText("That is all of it.").waitFor();
        await world.person.write("A long answer, please");
        const question = page().locator(".message.user", { hasText: "A long answer, please" });
        await page().getByText("Paragraph 12.").waitFor({ state: "attached" });
        await page()
          .getByRole("button", { name: /new paragraph|Jump to the end/ })
          .waitFor();
        await world.person.still();
        const box = await question.boundingBox();
        const view = await page().locator(".scroller").boundingBox();
        const top = box.y - view.y;
        assert.ok(Math.abs(top - 24) < 8, `the question is ${top} px from the top`);
        await page().locator(".body.streaming").waitFor({ state: "attached" });
        const before = await scrollTop();
        streams["A long answer, please"].go();
        await over();
        await world.person.still();
        assert.equal(await scrollTop(), before);
        await page().locator(".body.streaming").waitFor({ state: "detached" });
        const bars = await page()
          .locator(".message .block > p")
          .evaluateAll((all) =>
            all.map((p) => getComputedStyle(p, "::after").content).filter((c) => c !== "none"),
          );
        assert.deepEqual(bars, []);
        await page()
          .getByRole("button", { name: /new paragraph|Jump to the end/ })
          .click();
        await page().getByText("Paragraph 40.").waitFor();
      },

    "a wheel upwards stops following at once": async () => {
      await page().evaluate(() => globalThis.go.window.Settings.Set({ follow: true }));
      await world.person.newChat();
      await world.person.write("A long answer to follow");
      await page().getByText("Paragraph 12.").waitFor();
      await world.person.still(); // it followed to the end of what came
      await page().locator(".scroller").hover();
      await scrolled(page(), () => page().mouse.wheel(0, -300));
      await page()
        .getByRole("button", { name: /new paragraph|Jump to the end/ })
        .waitFor();
      await world.person.still();
      const before = await scrollTop();
      streams["A long answer to follow"].go();
      await over();
      await world.person.still();
      assert.equal(await scrollTop(), before);
      await page().evaluate(() => globalThis.go.window.Settings.Set({ follow: false }));
    },

    "a selection in the growing paragraph survives the next words": async () => {
      await world.person.newChat();
      await world.person.write("A paragraph that grows");
      const growing = page().locator("[aria-busy=true] .block p").first();
      await growing.getByText("begins here").waitFor();
      await growing.evaluate((p) => {
        const range = document.createRange();
        range.setStart(p.firstChild, 0);
        range.setEnd(p.firstChild, 9);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
      });
      streams["A paragraph that grows"].go();
      await page().getByText("some more words").waitFor();
      assert.equal(await page().evaluate(() => String(getSelection())), "Paragraph");
    },

    "a tool card opens to arguments, output, what was hidden, and why": async () => {
      await world.person.newChat();
      await world.person.write("Count what is hidden");
      await armed(page(), "Allow once");
      await page().getByRole("button", { name: "Allow once" }).click();
      await page().locator(".message .tool[data-state=done]").waitFor();
      await over();
      await page().locator(".message .tool .line").click();
      await page().locator("dd", { hasText: "a b c" }).waitFor();
      await page().getByRole("button", { name: "JSON", exact: true }).click();
      await page().getByText('"text": "a b c"').waitFor();
      await page().getByText("3 hidden characters removed").waitFor();
      await page().getByRole("button", { name: "View", exact: true }).click();
      await page().getByText("‹U+202E›").waitFor();
      await page().getByText("Why was this allowed?").click();
      await page()
        .getByText(/Called by Main assistant/)
        .waitFor();
    },

    "a failed answer keeps its text, and Try again makes a version to go back from": async () => {
      await world.person.newChat();
      await world.person.write("Fail once");
      await page().locator(".failed", { hasText: "cut off" }).waitFor();
      await page().getByText("the beginning of an answer").waitFor();
      await page().getByRole("button", { name: "Try again" }).click();
      await page().getByText("It worked this time.").waitFor();
      await page().getByRole("group", { name: "Version 2 of 2" }).waitFor();
      await over();
      await page().getByRole("button", { name: "Previous version" }).click();
      await page().locator(".failed", { hasText: "cut off" }).waitFor();
    },

    "an edit in place begins with the words, and Esc leaves it": async () => {
      await field().focus();
      await page().keyboard.press("ArrowUp");
      const area = page().getByLabel("Text of the message");
      await area.and(page().locator(":focus")).waitFor(); // once its words are there
      assert.equal(await area.inputValue(), "Fail once");
      await page().keyboard.press("Escape");
      await area.waitFor({ state: "detached" });
    },

    "a draft survives another chat": async () => {
      await row("Short and sweet").click();
      await page().getByText("Sweet.", { exact: true }).waitFor();
      await field().fill("half a thought");
      await row("Everything once more").click();
      await page().waitForFunction(() => document.querySelector("textarea").value === "");
      await row("Short and sweet").click();
      await page().waitForFunction(
        () => document.querySelector("textarea").value === "half a thought",
      );
      await field().fill("");
    },
  };
};
