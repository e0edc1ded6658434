// Sending, streaming, tools, and where the reader is left.
import { begin, end, held, say } from "../server.mjs";
import { believe, scrolled } from "../page.mjs";
import { expect, test } from "../person.mjs";

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
const paragraphs = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => paragraph(from + i));

const streams = {
  "Begin, and go on later": held("It begins, and ", "now it ends."),
  "Begin, and be stopped": held("It begins, and ", "never ends."),
  "Answer shortly": held("The text has ", "three words."),
  "A long answer, please": held(paragraphs(1, 12), paragraphs(13, 40)),
  "A long answer to follow": held(paragraphs(1, 12), paragraphs(13, 40)),
  "A paragraph that grows": held("Paragraph one begins here ", "and goes on with some more words."),
};
let broken = false;

const answers = {
  ...streams,
  "Show me everything": everything,
  "Everything once more": everything,
  "Where does the tide go?": [
    "The tide goes **with the tide** out.",
    ...paragraphs(1, 12),
    `\`\`\`text\n${Array.from({ length: 500 }, (_, i) => (i === 480 ? "the tide" : `line ${i}`)).join("\n")}\n\`\`\``,
    "Then the [tide](https://tide.example/tide) is back.",
  ].join("\n\n"),
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

test.beforeAll(({ server }) => Object.assign(server.answers, answers));

const field = (page) => page.getByLabel("Message", { exact: true });
const scrollTop = (page) => page.locator(".scroller").evaluate((e) => e.scrollTop);
const streaming = (page) => expect(page.locator("[aria-busy=true]")).toBeVisible();
const over = (page) =>
  page.waitForFunction(
    () => document.querySelector("article") && !document.querySelector(".btn.stop, [aria-busy=true]"),
  );
const row = (page, text) => page.locator("[data-chat-row]").getByText(text).first();

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

test("Enter while an answer streams queues: shown, edited, removed, and sent afterwards", async ({ page, person }) => {
  await person.newChat();
  await person.write("Begin, and go on later");
  await streaming(page);
  for (const text of ["A second question", "second", "third"]) {
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
  }
  const waiting = page.getByRole("list", { name: "Messages waiting to be sent" });
  await expect(waiting.getByText("third")).toBeVisible();
  expect(await field(page).inputValue()).toBe("");
  await waiting.getByRole("button", { name: "Remove this waiting message" }).nth(1).click();
  await waiting.getByRole("button", { name: "Edit this waiting message" }).nth(1).click();
  await expect(field(page)).toHaveValue("third");
  await expect(waiting.getByRole("listitem")).toHaveCount(1);
  streams["Begin, and go on later"].go();
  await expect(page.getByText("The second was answered.")).toBeVisible();
  await expect(waiting).toHaveCount(0);
  expect(await field(page).inputValue()).toBe("third");
  await over(page);
  await field(page).fill("");
});

test("what is queued waits for the person when the answer was stopped", async ({ page, person }) => {
  await person.newChat();
  await person.write("Begin, and be stopped");
  await streaming(page);
  await page.keyboard.type("A second question");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+.");
  await page.getByRole("button", { name: "Send now" }).click();
  await expect(page.getByText("The second was answered.")).toBeVisible();
  streams["Begin, and be stopped"].go();
  await over(page);
});

test("a short answer does not move when it ends", async ({ page, person }) => {
  await person.newChat();
  await person.ask("Show me everything");
  await person.still(); // its diagram is drawn, which may be later than all its words
  await person.write("Answer shortly");
  await expect(page.locator("article.user").getByText("Answer shortly")).toBeVisible();
  await expect(page.getByText("The text has")).toBeVisible();
  await person.still();
  await page.evaluate(() => {
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
  await expect(page.getByText("three words.")).toBeVisible();
  await over(page);
  await person.still();
  const tops = await page.evaluate(() => {
    const seen = globalThis.tops;
    globalThis.tops = null;
    return seen;
  });
  const moved = Math.max(...tops) - Math.min(...tops);
  expect(moved).toBeLessThan(1); // a view lies at whole pixels
});

test("saved and answered again, a question goes where a new one goes", async ({ page, person }) => {
  await page.setViewportSize({ width: 1440, height: 600 });
  await field(page).focus();
  await page.keyboard.press("ArrowUp");
  await page.getByLabel("Text of the message").fill("Short and sweet");
  await page.getByRole("button", { name: "Save and answer again" }).click();
  await expect(page.getByText("Sweet.", { exact: true })).toBeVisible();
  await over(page);
  await person.still();
  const [top, bottom, end] = await page.evaluate(() => {
    const articles = [...document.querySelectorAll("article")];
    const question = articles
      .filter((a) => a.matches(".user"))
      .at(-1)
      .getBoundingClientRect();
    const scroller = document.querySelector(".scroller").getBoundingClientRect();
    return [question.top - scroller.top, articles.at(-1).getBoundingClientRect().bottom, scroller.bottom];
  });
  expect(top >= 0 && top < 60, `the question is ${top} px below the top`).toBeTruthy();
  expect(bottom, "the answer is under the composer").toBeLessThan(end);
  await expect(page.getByText(/on the other branch/)).toBeVisible();
});

test("find marks the word and brings it into view, also in a long message", async ({ page }) => {
  await page.keyboard.press("Control+f");
  await page.getByRole("searchbox", { name: "Find in this chat" }).fill("nested point");
  await expect(page.getByText("1 of 1")).toBeVisible();
  await page.waitForFunction(() => CSS.highlights.get("find-here")?.size === 1);
  await page.waitForFunction(() => {
    const place = [...CSS.highlights.get("find-here")][0].getBoundingClientRect();
    const view = document.querySelector(".scroller").getBoundingClientRect();
    return place.top > view.top && place.bottom < view.bottom;
  });
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => CSS.highlights.get("find-here").size === 0);
  await page.setViewportSize({ width: 1440, height: 832 });
});

test("find counts words, and goes from one to the next, whatever they stand in", async ({ page, person }) => {
  await person.newChat();
  await person.ask("Where does the tide go?");
  await page.keyboard.press("Control+f");
  const search = page.getByRole("searchbox", { name: "Find in this chat" });
  const shown = (at, all, element) =>
    Promise.all([
      expect(page.getByText(`${at} of ${all}`, { exact: true })).toBeVisible(),
      page.waitForFunction((name) => {
        const [word] = CSS.highlights.get("find-here") ?? [];
        if (word?.startContainer.parentElement.tagName !== name) return false;
        const place = word.getBoundingClientRect();
        const view = document.querySelector(".scroller").getBoundingClientRect();
        return place.height > 0 && place.top >= view.top && place.bottom <= view.bottom;
      }, element),
    ]);
  await search.fill("tide");
  await shown(5, 5, "A");
  await search.press("Enter");
  await shown(4, 5, "CODE");
  await search.press("Enter");
  await shown(3, 5, "STRONG");
  await search.press("Enter");
  await shown(2, 5, "P");
  await page.getByRole("button", { name: "Previous match" }).click();
  await shown(1, 5, "P");
  await page.getByRole("button", { name: "Previous match" }).click();
  await shown(5, 5, "A");
  await search.fill("tide goes with the tide");
  await shown(1, 1, "P");
  await search.fill("ebb");
  await expect(page.getByText("No matches")).toBeVisible();
  await page.keyboard.press("Escape");
});

test("a first message makes a chat, and formulas and diagrams are drawn", async ({ page, person }) => {
  await person.newChat();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await page.keyboard.type("Everything once more");
  await page.keyboard.press("Enter");
  await expect(page.getByText("That is all of it.")).toBeVisible();
  await expect(row(page, "Everything once more")).toBeVisible();
  await over(page);
  expect(await field(page).inputValue()).toBe("");
  await expect(page.locator(".katex").first()).toBeVisible();
  await expect(page.locator(".drawing img")).toBeVisible();
});

test("a chat opens at its end, and again after another chat", async ({ page, person }) => {
  await person.newChat();
  await person.ask("Short and sweet");
  const end = () =>
    page.waitForFunction(() => {
      const e = document.querySelector(".scroller");
      return e && e.scrollTop > 0 && e.scrollHeight - e.clientHeight - e.scrollTop < 4;
    });
  for (let i = 0; i < 3; i++) {
    await row(page, "Everything once more").click();
    await expect(page.getByText("That is all of it.")).toBeVisible();
    await end();
    await row(page, "Short and sweet").click();
    await expect(page.getByText("Sweet.", { exact: true })).toBeVisible();
  }
});

test("the question goes to the top, the view holds still while the answer grows, and the bar goes with its end", async ({
  page,
  person,
}) => {
  await row(page, "Everything once more").click();
  await expect(page.getByText("That is all of it.")).toBeVisible();
  await person.write("A long answer, please");
  const question = page.locator(".message.user", { hasText: "A long answer, please" });
  await expect(page.getByRole("button", { name: /new paragraph|Jump to the end/ })).toBeVisible();
  await person.still();
  const box = await question.boundingBox();
  const view = await page.locator(".scroller").boundingBox();
  const top = box.y - view.y;
  expect(Math.abs(top - 24)).toBeLessThan(8);
  await streaming(page);
  const before = await scrollTop(page);
  streams["A long answer, please"].go();
  await over(page);
  await person.still();
  expect(await scrollTop(page)).toBe(before);
  await expect(page.locator(".body.streaming")).toHaveCount(0);
  const bars = await page
    .locator(".message .block > p")
    .evaluateAll((all) => all.map((p) => getComputedStyle(p, "::after").content).filter((c) => c !== "none"));
  expect(bars).toEqual([]);
  await page.getByRole("button", { name: /new paragraph|Jump to the end/ }).click();
  await expect(page.getByText("Paragraph 40.")).toBeVisible();
});

test("a wheel upwards stops following at once", async ({ page, person }) => {
  await page.evaluate(() => globalThis.go.window.Settings.Set({ follow: true }));
  await person.newChat();
  await person.write("A long answer to follow");
  await expect(page.getByText("Paragraph 12.")).toBeVisible();
  await person.still(); // it followed to the end of what came
  await page.locator(".scroller").hover();
  await scrolled(page, () => page.mouse.wheel(0, -300));
  await expect(page.getByRole("button", { name: /new paragraph|Jump to the end/ })).toBeVisible();
  await person.still();
  const before = await scrollTop(page);
  streams["A long answer to follow"].go();
  await over(page);
  await person.still();
  expect(await scrollTop(page)).toBe(before);
  await page.evaluate(() => globalThis.go.window.Settings.Set({ follow: false }));
});

test("a selection in the growing paragraph survives the next words", async ({ page, person }) => {
  await person.newChat();
  await person.write("A paragraph that grows");
  const growing = page.locator("[aria-busy=true] .block p").first();
  await expect(growing.getByText("begins here")).toBeVisible();
  await growing.evaluate((p) => {
    const range = document.createRange();
    range.setStart(p.firstChild, 0);
    range.setEnd(p.firstChild, 9);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  });
  streams["A paragraph that grows"].go();
  await expect(page.getByText("some more words")).toBeVisible();
  expect(await page.evaluate(() => String(getSelection()))).toBe("Paragraph");
});

test("a tool card opens to arguments, output, what was hidden, and why", async ({ page, person }) => {
  await person.newChat();
  await person.write("Count what is hidden");
  await believe(page, "Allow once");
  await expect(page.locator(".message .tool[data-state=done]")).toBeVisible();
  await over(page);
  await page.locator(".message .tool .line").click();
  await expect(page.locator("dd", { hasText: "a b c" })).toBeVisible();
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  await expect(page.getByText('"text": "a b c"')).toBeVisible();
  await expect(page.getByText("3 hidden characters removed")).toBeVisible();
  await page.getByRole("button", { name: "View", exact: true }).click();
  await expect(page.getByText("‹U+202E›")).toBeVisible();
  await page.getByText("Why was this allowed?").click();
  await expect(page.getByText(/Called by Main assistant/)).toBeVisible();
});

test("a failed answer keeps its text, and Try again makes a version to go back from", async ({ page, person }) => {
  await person.newChat();
  await person.write("Fail once");
  await expect(page.locator(".failed", { hasText: "cut off" })).toBeVisible();
  await expect(page.getByText("the beginning of an answer")).toBeVisible();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("It worked this time.")).toBeVisible();
  await expect(page.getByRole("group", { name: "Version 2 of 2" })).toBeVisible();
  await over(page);
  await page.getByRole("button", { name: "Previous version" }).click();
  await expect(page.locator(".failed", { hasText: "cut off" })).toBeVisible();
});

test("an edit in place begins with the words, and Esc leaves it", async ({ page }) => {
  await field(page).focus();
  await page.keyboard.press("ArrowUp");
  const area = page.getByLabel("Text of the message");
  await expect(area.and(page.locator(":focus"))).toBeVisible(); // once its words are there
  expect(await area.inputValue()).toBe("Fail once");
  await page.keyboard.press("Escape");
  await expect(area).toHaveCount(0);
});

test("a draft survives another chat", async ({ page }) => {
  await row(page, "Short and sweet").click();
  await expect(page.getByText("Sweet.", { exact: true })).toBeVisible();
  await field(page).fill("half a thought");
  await row(page, "Everything once more").click();
  await page.waitForFunction(() => document.querySelector("textarea").value === "");
  await row(page, "Short and sweet").click();
  await page.waitForFunction(() => document.querySelector("textarea").value === "half a thought");
  await field(page).fill("");
});
