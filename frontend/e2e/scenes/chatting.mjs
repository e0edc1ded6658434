// What is written and drawn, without a model.
import { palette, settled } from "../page.mjs";
import { copies, expect, given, test } from "../scene.mjs";

const message = (page) => page.getByLabel("Message", { exact: true });

test("a paragraph runs the way its words do, and code from left to right", async ({ open }) => {
  const page = await open("showcase");
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
  expect(ways).toEqual(["rtl", "ltr", "ltr"]);
});

test("Shift+Enter makes a line, and an input method's Enter never sends", async ({ open }) => {
  const page = await open();
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
  expect(await message(page).inputValue()).toBe("one\ntwo");
});

test("the message's field grows with its lines, to 40 % of the window, and shrinks again", async ({ open }) => {
  const page = await open();
  const field = message(page);
  const height = () => field.evaluate((e) => e.clientHeight);
  const most = await page.evaluate(() => Math.round(innerHeight * 0.4));
  const one = await height();
  await field.fill("a\nb\nc");
  await expect.poll(height).toBeGreaterThan(one);
  await field.fill("line\n".repeat(500));
  await expect.poll(height).toBe(most);
  await field.press("Control+End");
  await field.press("x"); // higher than the field, it is not measured again
  await expect.poll(height).toBe(most);
  await field.fill("a\nb");
  await expect.poll(height).toBeLessThan(most / 2);
  await field.fill("");
  await expect.poll(height).toBe(one);
});

test("a link that names another host is asked about, a plain one opens outside", async ({ open }) => {
  const page = await open("showcase");
  await page.getByRole("link", { name: "link to a page" }).click();
  const opened = () => given(page, "Window.OpenURL");
  expect(await opened()).toEqual([["https://example.org/docs"]]);
  await page.evaluate(() => {
    const link = document.querySelector(".prose a");
    link.dataset.mismatch = "";
    link.dataset.host = "evil.example";
  });
  await page.getByRole("link", { name: "link to a page" }).click();
  await expect(page.getByText("This link leads somewhere else")).toBeVisible();
  expect((await opened()).length).toBe(1);
});

test("a diagram has the colours of the window, also once those change", async ({ open }) => {
  const page = await open("showcase");
  const image = page.locator(".drawing img");
  await expect(image).toBeVisible();
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [before, light] = [await image.getAttribute("src"), await paper()];
  await palette(page, "Theme: dark");
  await page.waitForFunction((before) => document.querySelector(".drawing img").src !== before, before);
  expect(await paper()).not.toBe(light);
  await palette(page, "Theme: light");
  await page.waitForFunction((before) => {
    const same = (src) => src.replaceAll(/drawing-\d+/g, "");
    const all = [...document.querySelectorAll(".drawing img")];
    return all.length === 1 && same(all[0].src) === same(before);
  }, before);
});

test("code is copied and saved whole, a table as CSV", async ({ open }) => {
  const page = await open("showcase");
  // Their buttons are seen when the code is pointed at, and when the keyboard comes to them.
  await expect(page.locator(".drawing img")).toBeVisible();
  await settled(page); // the diagram has moved what is above it
  const code = page.locator("figure.code");
  const shown = (opacity) => expect(code.locator(".tools")).toHaveCSS("opacity", opacity);
  await page.mouse.move(0, 0);
  await shown("0");
  await code.hover();
  await shown("1");
  await page.mouse.move(0, 0);
  await shown("0");
  await page.getByRole("button", { name: "Wrap lines" }).focus();
  await shown("1");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Wrap lines", pressed: true })).toBeVisible();
  await page.getByRole("button", { name: "Copy code" }).click();
  await page.getByRole("button", { name: "Save as file" }).click();
  await page.getByRole("button", { name: "Copy as CSV" }).click();
  const copied = await copies(page, 2);
  const saved = await given(page, "Window.SaveFile");
  expect(copied[0]).toMatch(/^# word_count.py[\s\S]*return len\(text.split\(\)\)/);
  expect(saved[0][0]).toBe("code.py");
  expect(copied[1]).toMatch(/^Tool,Calls,Note\r\nword_count,12,counts words\r\n/);
});

test("paragraphs are new only below what is in view", async ({ open }) => {
  const page = await open();
  await page.evaluate(() => {
    const { bus, chats } = globalThis.fake;
    const [c] = [...chats.all.values()].filter((one) => one.chat.title === "Counting words");
    const of = (role) => {
      const { parts } = c.entries.find((entry) => entry.role === role);
      return structuredClone(parts.find((part) => part.kind === "text"));
    };
    let part = null;
    globalThis.more = (n) => {
      const html = `<p>Paragraph ${n} of the answer.</p>`;
      part.blocks.push({ ...of("assistant").blocks[0], index: n, html });
      part.block_count = part.blocks.length;
      bus.changed("chat", c.chat.id);
    };
    chats.Send = async (id) => {
      const { seq } = chats.say(c, "user", [of("user")]);
      const none = { ...of("assistant"), blocks: [], block_count: 0 };
      const entry = chats.say(c, "assistant", [none], { state: "streaming", reason: "" });
      [part] = entry.parts;
      chats.busy(c, "answering");
      globalThis.more(0);
      return { conversation: id, turn: "", seq };
    };
  });
  await page.getByLabel("Message", { exact: true }).fill("Tell me more");
  await page.keyboard.press("Enter");
  let place = "in view";
  for (let n = 0; place !== "below"; n++) {
    expect(n, "the answer never leaves the view").toBeLessThan(200);
    if (n > 0) await page.evaluate((next) => globalThis.more(next), n);
    const shown = await page.waitForFunction((words) => {
      const last = [...document.querySelectorAll("article p")].at(-1);
      if (last?.textContent !== words) return "";
      const view = document.querySelector(".scroller").getBoundingClientRect();
      const said = document.querySelector(".pill")?.textContent.trim() ?? "";
      const over = last.getBoundingClientRect().bottom - view.bottom;
      if (over <= 0) return said === "" && "in view";
      return over < 30 ? "at the edge" : /^↓ [12] new/.test(said) && "below";
    }, `Paragraph ${n} of the answer.`);
    place = await shown.jsonValue();
  }
  const pill = page.getByRole("button", { name: /new paragraphs?$/ });
  await pill.press("Enter");
  await expect(pill).toHaveCount(0);
});

test("the wheel over the way to the end scrolls the chat behind it", async ({ open }) => {
  const page = await open("showcase");
  await page.setViewportSize({ width: 640, height: 416 }); // a window at 200 %
  await page.locator(".scroller").press("Home");
  const pill = page.locator(".pill");
  await expect(pill).toBeVisible();
  const box = await pill.boundingBox();
  const place = () => page.evaluate(() => document.querySelector(".scroller").scrollTop);
  const before = await place();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, 120);
  await page.waitForFunction((top) => document.querySelector(".scroller").scrollTop >= top + 100, before);
});
