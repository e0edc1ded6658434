// Nothing is ever allowed by accident.
import { armed as waitArmed, noticed, settled, stopped } from "../page.mjs";
import { expect, test } from "../scene.mjs";

const message = (page) => page.getByLabel("Message", { exact: true });
const answers = (page) =>
  page.evaluate(() => globalThis.fake.given("Permissions.Answer").map(([, , answer]) => answer));

const armed = (page, name = "Allow once") => waitArmed(page, name);

test("typing 200 characters through ten arriving prompts answers none of them", async ({ open }) => {
  const page = await open();
  await expect(message(page)).toBeFocused(); // what is typed before would go nowhere
  await page.evaluate(() => {
    const { chats, hello, permissions } = globalThis.fake;
    const chat = chats.of(hello.open_chat);
    const call = { title: "Write note", doing: "write a note", did: "", plugin: "Notes" };
    const more = setInterval(() => {
      const n = permissions.requests.length + 1;
      permissions.ask(chat, { ...call, tool: `notes:write_${n}` }, { n });
      if (n === 10) clearInterval(more);
    }, 100);
  });
  const typed = "The quick brown fox jumps over it. ".repeat(6).slice(0, 198) + "\n ";
  for (const character of typed) {
    if (character === "\n") await page.keyboard.press("Shift+Enter");
    else await page.keyboard.type(character, { delay: 8 });
  }
  await page.waitForFunction(() => globalThis.fake.permissions.requests.length === 10);
  await page.keyboard.press("Space");
  expect(await answers(page)).toEqual([]);
  expect(await message(page).inputValue()).toBe(typed + " ");
  await expect(message(page)).toBeFocused();
});

test("a notice lies over no answer to a call", async ({ open }) => {
  const page = await open("permission");
  await page.setViewportSize({ width: 1280, height: 560 }); // the card ends where the composer begins
  await armed(page);
  await page.locator("[data-answers] [aria-expanded]").last().click();
  const answers = page.locator("[data-answers]").last();
  await answers.evaluate((buttons) => buttons.scrollIntoView({ block: "end" }));
  await page.keyboard.press("Control+=");
  await page.waitForFunction(() => {
    const toast = document.querySelector(".toast")?.getBoundingClientRect();
    const answers = [...document.querySelectorAll("[data-answers]")].map((a) => a.getBoundingClientRect());
    return toast && answers.length > 0 && answers.every((a) => a.top > toast.bottom || a.bottom < toast.top);
  });
});

test("a click before 600 ms is not believed, one after is, once", async ({ open }) => {
  const page = await open("permission");
  const on = await stopped(page);
  await page.reload(); // the card appears again
  const allow = page.getByRole("button", { name: "Allow once" });
  await expect(allow).toBeVisible();
  await settled(page, { arming: false }); // the card lies where it stays
  const box = await allow.boundingBox();
  await page.mouse.click(box.x + 10, box.y + 10);
  await noticed(page, "The card just moved");
  expect(await answers(page)).toEqual([]);
  await on();
  await armed(page);
  await allow.click();
  await page.waitForFunction(() => globalThis.fake.asked.length > 0);
  await expect(allow).toHaveCount(0);
  const given = await answers(page);
  expect(given.map((a) => [a.effect, a.scope])).toEqual([["allow", "once"]]);
});

for (const scene of ["chat", "welcome"])
  test(`what a plugin asks for by itself stands above the composer, on ${scene}, and the shortcut leads there`, async ({
    open,
  }) => {
    const page = await open(scene);
    await expect(message(page)).toBeFocused();
    await page.evaluate(() =>
      globalThis.fake.permissions.askAlone(
        {
          tool: "pages:(network)",
          title: "connect to api.example.org",
          doing: "connect to api.example.org",
          plugin: "Pages",
        },
        { host: "https://api.example.org:443" },
      ),
    );
    const card = page.locator("[data-request]");
    await expect(card).toBeVisible();
    await expect(message(page)).toBeFocused(); // it takes no focus by itself
    const heading = card.getByRole("heading", { name: "Pages wants to connect to api" });
    await page.keyboard.press("Control+Shift+P");
    await expect(heading).toBeFocused();
    await page.keyboard.press("Control+,");
    await expect(card).toHaveCount(0);
    await page.keyboard.press("Control+Shift+P");
    await expect(heading).toBeFocused();
    await armed(page);
    await card.getByRole("button", { name: "Allow once" }).click();
    await expect(card).toHaveCount(0);
    expect((await answers(page)).map((a) => [a.effect, a.scope])).toEqual([["allow", "once"]]);
  });

test("a call is allowed for its chat's project, which a dialog changes", async ({ open }) => {
  const page = await open("project");
  await armed(page);
  await page.getByRole("button", { name: "Allow more…" }).click();
  const wider = page.getByRole("group", { name: "Allow more…" });
  await expect(wider.getByText("in all chats of /home/ada/Documents/Thesis, until")).toBeVisible();
  await armed(page, /^In this project, only in/);
  await wider.getByRole("button", { name: /^In this project, only in/ }).click();
  await page.waitForFunction(() => globalThis.fake.given("Permissions.Answer").length > 0);
  expect((await answers(page)).map((a) => [a.effect, a.scope, a.only])).toEqual([["allow", "this-project", 1]]);

  await page.getByRole("button", { name: /^Project .*Thesis\. Change$/ }).click();
  const folder = page.getByRole("dialog").getByLabel("Folder");
  await expect(folder).toBeFocused();
  expect(await folder.inputValue()).toBe("/home/ada/Documents/Thesis");
  await folder.fill("~/Documents/Letters ");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  const set = await page.evaluate(() => globalThis.fake.given("Chats.SetProject"));
  expect(set.map(([, folder]) => folder)).toEqual(["~/Documents/Letters"]);
});

test("what hooks made of a call stands on its card, word by word, before what would run", async ({ open }) => {
  const page = await open("rewritten");
  const was = page.getByRole("group", {
    name: "Original request and changes by plugins",
  });
  await expect(was.nth(1)).toBeVisible();
  const changed = async (at, tag) =>
    (await was.nth(at).locator(tag).allInnerTexts()).map((t) => t.replace(/\s+/g, " ").trim());
  expect(await changed(0, "del")).toEqual(['Before: "tuesday.md",', 'Before: "Two']);
  expect(await changed(0, "ins")).toEqual(['Now: "Reports/tuesday.md",', 'Now: "Three']);
  expect(await changed(1, "del")).toEqual(["Before: Delete", 'Before: "x.md"']);
  expect(await changed(1, "ins")).toEqual(["Now: Write", 'Now: "Reports/x.md"']);
  // It has to be possible to read it before the card can be allowed.
  await armed(page);
  await was.first().focus();
  await expect(was.first()).toBeFocused();
});

test("what nobody sees or takes for something else is said, and shown where it stands", async ({ open }) => {
  const page = await open("unseen");
  await expect(page.getByText("3 hidden characters removed.")).toBeVisible();
  await expect(page.getByText("The name “path” stands more than once in what it is given")).toBeVisible();
  await expect(page.locator(".ask").getByText("Path (repeated, 2)")).toBeVisible();
  await expect(page.locator(".ask").getByText("../notes.md")).toBeVisible();
  const marks = page.getByRole("group", { name: /^Invisible or look-alike/ });
  expect(await marks.count()).toBe(0);
  const view = page.getByRole("button", { name: "View", exact: true });
  await view.press("Enter");
  await expect(marks.getByText("ada@p‹U+0430, looks like a›ypal.com")).toBeVisible();
  await marks.focus(); // it scrolls
  await expect(marks).toBeFocused();
  await armed(page);
  await page.getByRole("button", { name: "Hide", exact: true }).press("Enter");
  await expect(marks).toHaveCount(0);
  await expect(view).toBeFocused();
});

test("what a call would change in a file, and what it would send, stands on its card", async ({ open }) => {
  const page = await open("previews");
  const change = page.getByRole("group", { name: /^What would change in .*tuesday.md/ });
  await expect(change).toBeVisible();
  const lines = async (of) => (await of.locator(".text").allInnerTexts()).map((t) => t.replace(/\s+/g, " ").trim());
  expect((await lines(change)).slice(2, 4)).toEqual([
    "removed: Two things were decided.",
    "added: Three things were decided, of which the second one is the one that everybody waited for.",
  ]);
  const sends = page.getByRole("group", { name: "What waits to be sent:" });
  await expect(sends).toBeVisible();
  expect((await lines(sends)).slice(0, 2)).toEqual(["POST /v1/notes?list=home", "Authorization: (not shown)"]);
  await expect(page.getByText("and 3 more lines")).toBeVisible();
  await armed(page);
  // Of arguments that the person edits nothing is known.
  await page.getByRole("button", { name: "Edit before allowing" }).first().click();
  await expect(change).toHaveCount(0);
  await expect(page.locator("[data-request] textarea").first()).toBeFocused(); // one can write at once
  await page.getByRole("button", { name: "Discard changes" }).click();
  await expect(change).toBeVisible();
  await change.focus();
  await expect(change).toBeFocused();
});

test("after an answer the next card is in view as a whole, and what was answered still is", async ({ open }) => {
  const page = await open("chat", { height: 700 });
  const cards = page.locator("[data-request]");
  await page.evaluate(() => {
    const { chats, hello, permissions } = globalThis.fake;
    const chat = chats.of(hello.open_chat);
    const call = { title: "Write note", doing: "write a note", did: "", plugin: "Notes" };
    for (const n of [1, 2]) permissions.ask(chat, { ...call, tool: `notes:write_${n}` }, { n });
  });
  await expect(cards.nth(1)).toBeVisible();
  await page.mouse.move(600, 200);
  await page.mouse.wheel(0, -3000); // the end is no longer followed
  await settled(page);
  const allow = cards.first().getByRole("button", { name: "Allow once" });
  // The first card ends where the view ends, and the next is below.
  const place = () =>
    allow.evaluate((button) => {
      const scroller = button.closest(".scroller");
      const { bottom } = button.closest("[data-request]").getBoundingClientRect();
      const by = bottom - scroller.getBoundingClientRect().bottom;
      scroller.scrollTop += by;
      return Math.abs(by);
    });
  for (let i = 0; i < 5 && (await place()) > 1; i++) await settled(page);
  await armed(page);
  await allow.press("Enter");
  await page.waitForFunction(() => {
    const view = document.querySelector(".scroller").getBoundingClientRect();
    const cards = [...document.querySelectorAll("[data-request]")];
    const line = [...document.querySelectorAll(".tool")].at(-1);
    if (cards.length !== 1 || !line) return false;
    return cards[0].getBoundingClientRect().bottom <= view.bottom && line.getBoundingClientRect().top >= view.top;
  });
  await expect(message(page)).toBeFocused(); // it takes no focus
});

test("that a tool is new is said among the details, any other reason at once", async ({ open }) => {
  const page = await open("permission");
  const reason = page.locator(".ask").getByText("Asked because: first time");
  await expect(reason).toBeVisible();
  await page.evaluate(() => {
    const { bus, permissions } = globalThis.fake;
    permissions.requests = permissions.requests.map((r) => ({ ...r, usual: true }));
    bus.changed("permissions");
  });
  await expect(reason).toHaveCount(0);
  await expect(page.getByText("Can touch: its own storage folder only.")).toBeVisible();
  await page.getByRole("button", { name: "Show details" }).press("Enter");
  await expect(reason).toBeVisible();
});

test("a layout shift disarms the buttons again", async ({ open }) => {
  const page = await open("permission");
  await armed(page);
  const allow = page.getByRole("button", { name: "Allow once" });
  const before = await allow.boundingBox();
  const on = await stopped(page);
  // A space above it would not do: who follows the end is not shown that it came.
  await page.evaluate(() => {
    document.querySelector(".ask").style.translate = "0 -80px";
  });
  const box = await allow.boundingBox();
  expect(before.y - box.y).toBeGreaterThan(70);
  await page.mouse.click(box.x + 10, box.y + 10);
  await noticed(page, "The card just moved");
  expect(await answers(page)).toEqual([]);
  await on();
  await armed(page);
});

test("a request that joins another disarms the buttons, wherever they stand", async ({ open }) => {
  const page = await open("permission");
  await armed(page);
  await page.evaluate(() => {
    const card = document.querySelector(".ask"); // nothing of it moves
    Object.assign(card.style, { height: "480px", position: "relative" });
    Object.assign(card.querySelector(".buttons").style, {
      position: "absolute",
      bottom: "10px",
    });
  });
  await armed(page);
  const box = await page.getByRole("button", { name: "Allow once" }).boundingBox();
  const on = await stopped(page);
  await page.evaluate(() => globalThis.fake.permissions.join());
  await expect(page.getByText(/2 .*(calls|requests)/)).toBeVisible();
  await page.mouse.click(box.x + 10, box.y + 10);
  await noticed(page, "The card just moved");
  expect(await answers(page)).toEqual([]);
  await on();
  await armed(page);
});

test("a press that is not believed says so, and moves nothing", async ({ open }) => {
  const page = await open("permission");
  await armed(page);
  const allow = page.getByRole("button", { name: "Allow once" });
  const laid = () =>
    allow.evaluate((button) => {
      const card = button.closest(".ask").getBoundingClientRect();
      return [card.height, button.getBoundingClientRect().top - card.top];
    });
  const before = await laid();
  await allow.evaluate((button) => {
    button.closest(".ask").style.marginTop = "8px";
    const { x, y } = button.getBoundingClientRect();
    const press = { clientX: x, clientY: y, bubbles: true };
    button.dispatchEvent(new PointerEvent("pointerdown", press));
    button.dispatchEvent(new MouseEvent("click", press));
  });
  await noticed(page, "The card just moved");
  expect(await answers(page)).toEqual([]);
  expect(await laid()).toEqual(before);
  await armed(page);
  await allow.click();
  await expect(allow).toHaveCount(0);
});

test("the pill to the end never covers the buttons of a card", async ({ open }) => {
  const page = await open("batch", { height: 560 });
  const buttons = page.locator(".batch .buttons");
  await expect(buttons).toBeAttached();
  await expect(page.getByRole("heading", { name: /^.* a note, 6 times, in Reports$/ })).toBeVisible();
  for (let y = 0; y < 700; y += 20) {
    await page.mouse.move(600, 200);
    await page.mouse.wheel(0, y < 20 ? -3000 : 20);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const overlap = await page.evaluate(() => {
      const pill = document.querySelector(".pill")?.getBoundingClientRect();
      const row = document.querySelector(".batch .buttons")?.getBoundingClientRect();
      if (!pill || !row) return 0;
      return Math.min(pill.bottom, row.bottom) - Math.max(pill.top, row.top);
    });
    expect(overlap).toBeLessThanOrEqual(0);
  }
});

test("calls of one tool are told apart where they wait, by what each is about", async ({ open }) => {
  const page = await open("batch");
  const rows = page.locator(".pending");
  await expect(rows).toHaveCount(6);
  expect(new Set(await rows.locator(".words").allInnerTexts()).size).toBe(6);
  const answer = rows.filter({ hasText: "path: Reports/part-4.md" }).getByRole("button");
  const about = await answer.evaluate((b) => document.getElementById(b.getAttribute("aria-describedby")).textContent);
  expect(about).toMatch(/part-4\.md/);
  await answer.focus();
  await page.keyboard.press("Enter");
  await expect(page.locator(".batch h3")).toBeFocused();
});

test("the answers to several calls stand in one row, where there is room for three", async ({ open }) => {
  const page = await open("batch", { width: 900 });
  const buttons = page.locator(".batch [data-answers] button");
  await armed(page, "Allow all 6 once");
  const tops = await buttons.evaluateAll((all) => all.map((b) => b.offsetTop));
  expect(tops).toEqual([tops[0], tops[0], tops[0]]);
  await page.getByRole("button", { name: "Review each" }).press("Enter");
  await expect(page.locator(".ask")).toHaveCount(6);
});

test("a long value is closed from wherever one reads it, and its box stays where it was", async ({ open }) => {
  const page = await open("falsecard");
  const box = page.locator(".ask .given");
  const opens = box.getByRole("button", { name: /^Show all 11,/ });
  await opens.press("Enter");
  const closes = box.getByRole("button", { name: "Show less" });
  await expect(closes).toBeFocused();
  const value = box.locator("dd:has([aria-expanded=true])");
  await value.evaluate((dd) => (dd.closest(".given").scrollTop += 3000));
  const where = (button) =>
    button.evaluate((b) => {
      const { top, bottom } = b.getBoundingClientRect();
      const seen = b.closest(".given").getBoundingClientRect();
      return { y: top - seen.top, seen: top >= seen.top && bottom <= seen.bottom + 1 };
    });
  const was = await where(closes);
  expect(was.seen, `${was.y}`).toBeTruthy();
  await closes.press("Enter");
  await expect(opens).toBeFocused();
  const is = await where(opens);
  expect(is.seen && Math.abs(is.y - was.y) < 2, `${was.y} became ${is.y}`).toBeTruthy();
});

test("the shortcut leads to calls before plugins, and to the card that it was said for", async ({ open }) => {
  const page = await open("batch");
  await expect(page.locator(".batch")).toBeVisible(); // before it, the shortcut leads nowhere
  const calls = await page.evaluate(() => {
    const { bus, permissions, plugins } = globalThis.fake;
    const { requests } = permissions;
    plugins.change("dice", { state: "needs-approval" });
    const [first] = requests;
    const asks = { ...first, id: "plugin-1", kind: "plugin", plugin: "dice", conversation: "" };
    permissions.requests = [asks, ...requests];
    bus.changed("permissions");
    return requests.map((r) => r.id);
  });
  await page.keyboard.press("Control+Shift+P");
  await expect(page.locator(".batch h3")).toBeFocused();
  await page.evaluate((ids) => {
    const { bus, permissions } = globalThis.fake;
    permissions.requests = permissions.requests.filter((r) => !ids.includes(r.id));
    bus.changed("permissions");
  }, calls);
  await expect(page.locator(".batch")).toHaveCount(0);
  await page.keyboard.press("Control+Shift+P");
  await expect(page.locator("[data-plugin=dice] .approval .title")).toBeFocused();
});

test("what a model writes into a request stays inside its box", async ({ open }) => {
  const page = await open("falsecard");
  await armed(page);
  await settled(page);
  const box = await page.locator(".ask .given").boundingBox();
  const card = await page.locator(".ask").boundingBox();
  expect(box.height <= 260 && card.height < 700, `${box.height} of ${card.height}`).toBeTruthy();
  const out = await page.evaluate(() => {
    const given = document.querySelector(".ask .given");
    const frame = given.getBoundingClientRect();
    return [...given.querySelectorAll("*")].filter((e) => {
      const r = e.getBoundingClientRect();
      return r.left < frame.left - 1 || r.right > frame.right + 1;
    }).length;
  });
  expect(out).toBe(0);
  expect(await page.locator(".ask .given :is(a, input, img, svg)").count()).toBe(0);
  // The buttons in it are the card's own, and only show more of the words.
  for (const words of await page.locator(".ask .given button").allInnerTexts())
    expect(words).toMatch(/^Show all [\d,]+ characters$/);
  expect(await page.locator(".ask h3").count()).toBe(1);
  expect(await page.getByRole("button", { name: "Allow once" }).count()).toBe(1);
});

test("of one message, what only reads is one card and what writes another; reading is allowed for good, writing asks", async ({
  open,
}) => {
  const page = await open("kinds");
  await expect(page.getByRole("heading", { name: "4 requests: Read note, List notes" })).toBeVisible();
  expect(await page.locator(".batch").count()).toBe(1);
  await expect(
    page.getByText(
      "Read note, List notes: always, only in /home/ada/Documents/Notes, when your model asks, " +
        "in all chats, until you revoke it.",
    ),
  ).toBeVisible();
  const always = page.locator(".batch").getByRole("button", { name: "Allow from now on" });
  await armed(page, "Allow from now on");
  await always.focus();
  await page.keyboard.press("Enter");
  await expect(page.locator(".batch")).toHaveCount(0);
  await page.waitForFunction(() => globalThis.fake.given("Permissions.Answer").length === 4);
  expect((await answers(page)).map((a) => [a.effect, a.lasting])).toEqual(Array(4).fill(["allow", true]));
  await expect(page.locator(".ask").getByRole("heading", { name: /wants to write a note$/ })).toBeVisible();
});

test("after five quick yeses a card says so, and offers its rule first", async ({ open }) => {
  const page = await open("hurried");
  await expect(page.getByText("Asked too often?")).toBeVisible();
  await armed(page, "Allow from now on");
  await page.getByRole("button", { name: "Allow from now on" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.fake.given("Permissions.Answer").length === 1);
  expect((await answers(page)).map((a) => [a.effect, a.lasting])).toEqual([["allow", true]]);
});

test("in a chat with text of others, reading from one host can be allowed for the chat", async ({ open }) => {
  const page = await open("tainted");
  await armed(page);
  await page.getByRole("button", { name: "Allow more…" }).click();
  const here = page.getByRole("button", {
    name: /only to docs.example.org, even though it contains text/,
  });
  await armed(page, /only to docs.example.org, even though it contains text/);
  await here.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.fake.given("Permissions.Answer").length === 1);
  expect((await answers(page)).map((a) => [a.effect, a.here, a.trust])).toEqual([["allow", true, false]]);
});
