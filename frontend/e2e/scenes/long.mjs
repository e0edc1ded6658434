// Answers of many screens: what is not near the view is not on the page, and nothing shows that.
import { scrolled } from "../page.mjs";
import { expect, test } from "../scene.mjs";

const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);

/** Waits until all that is in view is there, and the view holds still. */
const rest = (page) =>
  page.waitForFunction(
    () =>
      new Promise((resolve) => {
        const look = () => {
          const scroller = document.querySelector(".scroller");
          const view = scroller.getBoundingClientRect();
          const waits = [...scroller.querySelectorAll(".waits, .skeleton")].some((row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return bottom > view.top && top < view.bottom;
          });
          return [waits, scroller.scrollTop, scroller.scrollHeight];
        };
        const before = look();
        setTimeout(() => resolve(!before[0] && String(before) === String(look())), 150);
      }),
  );

/** Turns the wheel over the messages, and waits until the view holds still. */
const wheel = async (page, by) => {
  await scrolled(page, () => page.mouse.wheel(0, by));
  await rest(page);
};

/** Where a text is below the top of the view. */
const topOf = (page, text) =>
  page.evaluate((text) => {
    const element = [...document.querySelectorAll(".block > *")].find((e) => e.textContent === text);
    const view = document.querySelector(".scroller").getBoundingClientRect();
    return element ? element.getBoundingClientRect().top - view.top : null;
  }, text);

/** A heading or last line that is in view. */
const inView = (page) =>
  page.evaluate(() => {
    const view = document.querySelector(".scroller").getBoundingClientRect();
    return [...document.querySelectorAll(".block > *")].find((e) => {
      const { top, bottom } = e.getBoundingClientRect();
      return /^(Part|The end of part) /.test(e.textContent) && top > view.top && bottom < view.bottom;
    })?.textContent;
  });

/** Has the last answer go on by so many lines, ten at a time. */
const writes = (page, many) =>
  page.evaluate(async (many) => {
    const { bus, chats, hello } = globalThis.fake;
    const c = chats.of(hello.open_chat);
    const entry = c.entries.at(-1);
    const [part] = entry.parts;
    Object.assign(entry, { state: "streaming", reason: "" });
    chats.busy(c, "answering");
    const frame = () => new Promise(requestAnimationFrame);
    for (let n = 1; n <= many; n++) {
      const html = `<p>Line ${n} of ${many}.</p>`;
      part.blocks.push({ index: part.block_count++, html, keep: 0, done: true });
      if (n % 10 > 0) continue;
      bus.changed("chat", c.chat.id);
      await frame();
      await frame();
    }
  }, many);

/** How many blocks are on the page. */
const blocks = (page) => page.locator("article .block").count();

test("long answers stay under 3,000 nodes, at the end, in the middle and at the beginning", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  expect(await nodes(page)).toBeLessThan(3000);
  await page.locator(".scroller").hover();
  await wheel(page, -200);
  for (const part of [0.7, 0.33, 0.32, 0]) {
    await page.locator(".scroller").evaluate((e, p) => (e.scrollTop = e.scrollHeight * p), part);
    await rest(page);
    expect(await nodes(page)).toBeLessThan(3000);
  }
  await expect(page.getByText("Question 1?", { exact: true })).toBeVisible();
});

test("a wheel moves a long answer by as much as it turns, whatever is measured meanwhile", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  await page.locator(".scroller").hover();
  await wheel(page, -400);
  for (let i = 0; i < 40; i++) {
    const text = await inView(page);
    const before = await topOf(page, text);
    const turn = i < 30 ? -180 : 160;
    await wheel(page, turn);
    const after = await topOf(page, text);
    expect(
      after !== null && Math.abs(after - before + turn) < 3,
      `turn ${i}: ${text} went from ${before} to ${after}`,
    ).toBeTruthy();
  }
});

test("a long answer that is followed leaves the page above as it is written", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  for (const many of [600, 300]) {
    await writes(page, many);
    await expect(page.getByText(`Line ${many} of ${many}.`)).toBeVisible();
    await rest(page);
    expect(await blocks(page)).toBeLessThan(150);
    const short = await page.locator(".scroller").evaluate((e) => e.scrollHeight - e.clientHeight - e.scrollTop);
    expect(short).toBeLessThan(2);
  }
  // What was taken off is where it was.
  await page.locator(".scroller").hover();
  for (let i = 0; i < 12; i++) await wheel(page, -600);
  await page.waitForFunction(() => {
    const lines = [...document.querySelectorAll(".block > p")].map((p) =>
      Number(/^Line (\d+) of 300\.$/.exec(p.textContent)?.[1]),
    );
    return lines.length > 10 && lines.every((n, i) => i === 0 || !(n - lines[i - 1] !== 1));
  });
});

test("what is read stays where it is, and selected, while a long answer is written below it", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  await page.locator(".scroller").hover();
  await wheel(page, -300);
  const text = await inView(page);
  await page.evaluate((text) => {
    const all = [...document.querySelectorAll(".block > *")];
    getSelection().selectAllChildren(all.find((e) => e.textContent === text));
  }, text);
  const before = await topOf(page, text);
  await writes(page, 600);
  await rest(page);
  expect(await blocks(page)).toBeLessThan(150);
  expect(Math.abs((await topOf(page, text)) - before)).toBeLessThan(1);
  expect(await page.evaluate(() => String(getSelection()).trim())).toBe(text);
});

test("a question that was sent stays at the top while a long answer is written", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  await page.evaluate(() => {
    const { bus, chats } = globalThis.fake;
    chats.Send = async (id) => {
      const c = chats.of(id);
      const part = (blocks) => ({
        ...c.entries[0].parts[0],
        blocks,
        block_count: blocks.length,
      });
      const block = { index: 0, html: "<p>The last question?</p>", keep: 0, done: true };
      const { seq } = chats.say(c, "user", [part([block])]);
      chats.say(c, "assistant", [part([])], { state: "streaming", reason: "" });
      bus.changed("chat", id);
      return { conversation: id, turn: "", seq };
    };
  });
  await page.getByLabel("Message", { exact: true }).fill("The last question?");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The last question?", { exact: true })).toBeVisible();
  await rest(page);
  const before = await topOf(page, "The last question?");
  expect(before).toBeLessThan(60);
  await writes(page, 600);
  await expect(page.getByText("↓ ")).toBeVisible();
  await rest(page);
  expect(await blocks(page)).toBeLessThan(150);
  expect(Math.abs((await topOf(page, "The last question?")) - before), "it moved").toBeLessThan(1);
});

test("find brings up words in the middle of a long answer, above and below what is shown", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  for (const words of ["end of part 7.31.", "end of part 18.30.", "end of part 2.59."]) {
    await page.keyboard.press("Control+f");
    await page.getByRole("searchbox", { name: "Find in this chat" }).fill(words);
    await expect(page.getByText("1 of 1")).toBeVisible();
    await page.waitForFunction((words) => {
      const place = [...(CSS.highlights.get("find-here") ?? [])][0];
      const view = document.querySelector(".scroller").getBoundingClientRect();
      const box = place?.getBoundingClientRect();
      return String(place).includes(words) && box.top > view.top && box.bottom < view.bottom;
    }, words);
  }
});

test("a message is one article with its heading, wherever one looks at it", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  await page.locator(".scroller").hover();
  await wheel(page, -9000);
  const articles = page.getByRole("article");
  await expect(articles).toHaveCount(1);
  expect(await articles.first().getByRole("heading", { level: 2 }).count()).toBe(1);
  expect(await articles.first().getAttribute("data-seq")).toMatch(/^40$/);
  // Its menu is there, though its buttons are far below.
  await articles.first().locator("p").nth(3).click({ button: "right" });
  await expect(page.getByRole("menuitem", { name: "Copy", exact: true })).toBeVisible();
});

test("from message to message goes to the beginning of each, however long they are", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  for (const part of ["20.1", "Question 20?", "19.1", "Question 19?"]) {
    await page.keyboard.press("Alt+ArrowUp");
    const text = part.startsWith("Question") ? part : `Part ${part}`;
    await page.waitForFunction((text) => {
      const element = [...document.querySelectorAll(".block > *")].find((e) => e.textContent === text);
      const view = document.querySelector(".scroller").getBoundingClientRect();
      const { top } = element?.getBoundingClientRect() ?? {};
      return top >= view.top && top < view.bottom && document.activeElement?.contains(element);
    }, text);
  }
});

test("Home and End go to the ends, PageUp goes up by a screen, and lines wrap everywhere", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  await page.locator(".scroller").focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelector(".scroller").scrollTop === 0);
  await expect(page.getByText("Question 1?", { exact: true })).toBeVisible();
  await page.keyboard.press("End");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  await rest(page);
  for (let i = 0; i < 6; i++) {
    const text = await inView(page);
    const before = await topOf(page, text);
    await scrolled(page, () => page.keyboard.press("PageUp"));
    await rest(page);
    const after = await topOf(page, text);
    expect(after - before).toBeGreaterThan(400);
  }
  const widths = await page
    .locator(".block > p")
    .evaluateAll((all) => all.filter((p) => p.scrollWidth > p.clientWidth + 1).length);
  expect(widths).toBe(0);
});

test("what is selected stays selected while one scrolls away from it", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  await page.locator(".scroller").hover();
  await page.evaluate(() => {
    const end = [...document.querySelectorAll(".block > p")].find((e) => e.textContent === "The end of part 20.60.");
    getSelection().selectAllChildren(end);
  });
  for (let i = 0; i < 8; i++) {
    await wheel(page, -700);
  }
  expect(await page.evaluate(() => String(getSelection()))).toBe("The end of part 20.60.");
});

test("a question that is edited in a long chat stays where it is", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  await page.getByLabel("Message", { exact: true }).focus();
  await page.keyboard.press("ArrowUp");
  const area = page.getByLabel("Text of the message");
  await expect(area).toBeVisible();
  await rest(page);
  expect(await area.inputValue()).toBe("Question 20?");
  await page.keyboard.press("Escape");
  await expect(area).toHaveCount(0);
  await rest(page);
  await expect(page.getByText("Question 20?", { exact: true })).toBeVisible();
});

test("what is typed into a message that is edited is there after scrolling away", async ({ open }) => {
  const page = await open("longanswers");
  await expect(page.getByText("The end of part 20.60.")).toBeVisible();
  const composer = page.getByLabel("Message", { exact: true });
  await composer.focus();
  await page.keyboard.press("ArrowUp");
  const area = page.getByLabel("Text of the message");
  await expect(area).toBeFocused();
  await area.fill("Question 20, asked better?");
  await page.locator(".scroller").hover();
  await wheel(page, -3000);
  await wheel(page, 3000);
  await expect(area).toBeFocused();
  // Without the keyboard in it the field goes, and comes back without taking it.
  await composer.focus();
  await wheel(page, -4000);
  await expect(area).toHaveCount(0);
  await wheel(page, 4000);
  await expect(area).toBeVisible();
  expect(await area.inputValue()).toBe("Question 20, asked better?");
  await expect(composer).toBeFocused();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(area).toHaveCount(0);
});
