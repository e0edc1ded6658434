// The frame: zoom, the panel, the first screen.
import { noticed, settled } from "../page.mjs";
import { expect, test } from "../scene.mjs";

/** A plugin that is new in the folder. */
const drop = (page, id) =>
  page.evaluate((id) => {
    const { plugins } = globalThis.fake;
    plugins.list = [...plugins.list, { ...plugins.list[0], id, name: id, state: "loading" }];
    plugins.change(id, { state: "needs-approval", enabled: false });
  }, id);

/** Waits until all is drawn so large, and it was said. */
async function zoomed(page, percent) {
  await noticed(page, `Zoom ${percent} %`);
  await page.waitForFunction(
    (n) => parseFloat(getComputedStyle(document.documentElement).fontSize) === (16 * n) / 100,
    percent,
  );
}

test("everything grows and shrinks by keyboard, and nothing is lost sideways", async ({ open }) => {
  const page = await open();
  const row = () => page.locator("[data-chat-row]").first();
  const before = (await row().boundingBox()).height;
  for (const [key, zoom] of [
    ["Control+=", 110],
    ["Control+=", 125],
    ["Control+-", 110],
    ["Control+0", 100],
  ]) {
    await page.keyboard.press(key);
    await zoomed(page, zoom);
    const { height } = await row().boundingBox();
    expect(Math.abs(height / before - zoom / 100)).toBeLessThan(0.05);
  }
  for (let i = 0; i < 6; i++) await page.keyboard.press("Control+-");
  await zoomed(page, 50);
  const icon = await page.getByRole("button", { name: "Send" }).locator("svg").boundingBox();
  expect(icon.width).toBe(8);
  for (let i = 0; i < 14; i++) await page.keyboard.press("Control+=");
  await zoomed(page, 300);
  await page.getByLabel("Message", { exact: true }).fill("It can still be written");
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBeTruthy();
  await page.getByRole("button", { name: "Send" }).click({ trial: true });
});

test("beside the chat the panel opens by itself, once", async ({ open }) => {
  const page = await open("chat", { width: 1300 });
  await expect(page.getByText("Good. Keep it short next time.")).toBeVisible();
  expect(await page.locator(".dock").count()).toBe(0);
  await drop(page, "word_count");
  await expect(page.locator("[data-plugin=word_count]").getByText("Needs your approval")).toBeVisible();
  const { width } = await page.locator(".centre").boundingBox();
  expect(width).toBeGreaterThanOrEqual(560);
  await page.getByRole("button", { name: "Close the panel" }).click();
  await drop(page, "second");
  await expect(page.getByText("2 plugins need you.")).toBeVisible();
  expect(await page.locator(".dock").count()).toBe(0);
});

test("the panel speaks in words: states, versions, and code that changed", async ({ open }) => {
  const page = await open("approval");
  const panel = page.getByRole("complementary", { name: "Panel" });
  await page.evaluate(() => {
    const { plugins } = globalThis.fake;
    const change = (field, before, after) => ({ tool: "", field, before, after });
    plugins.changes.set("mail", [change("code", "9f2c41aa03d7", "4c1d0a7b11ff")]);
    plugins.change("mail", { shown: "4c1d0a7b11ff" });
    plugins.change("dice", { version: "0" });
  });
  await expect(panel.getByText("Its code changed. Open it in your editor to read it.")).toBeVisible();
  expect(await panel.getByText("9f2c41aa03d7").count()).toBe(0);
  await expect(panel.locator("[data-plugin=dice] h4").filter({ hasText: /^\s*Dice\s*$/ })).toBeVisible();
  await page.getByRole("tab", { name: /^Tools/ }).click();
  await expect(panel.getByText("needs your approval", { exact: true })).toBeVisible();
  expect(await panel.getByText("needs-approval").count()).toBe(0);
});

test("the theme is one switch of segments, gone through by arrow keys", async ({ open }) => {
  const page = await open();
  await page.keyboard.press("Control+,");
  const theme = page.getByRole("radiogroup", { name: "Theme" });
  await theme.getByRole("radio", { name: "Light" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await expect(theme.getByRole("radio", { name: "Dark", checked: true })).toBeVisible();
});

test("a setting is found by a word of its label, and its control gets the keyboard", async ({ open }) => {
  const page = await open();
  await page.keyboard.press("Control+,");
  const search = page.getByRole("searchbox", { name: "Search settings" });
  await search.fill("backup");
  const pages = page.getByRole("navigation", { name: "Settings" }).getByRole("button");
  expect((await pages.allInnerTexts()).map((t) => t.replace(/\s+/g, " "))).toEqual([
    "Data and backup",
    "Backup Data and backup",
  ]);
  await pages.nth(1).click();
  await expect(page.getByRole("button", { name: "Back up now…" })).toBeFocused();
  await search.fill("zoom");
  await search.press("Enter");
  await expect(page.getByRole("heading", { name: "General" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Zoom out" })).toBeFocused();
  await search.fill("nothing like it");
  await expect(page.getByText("No setting matches “nothing like it”.")).toBeVisible();
  await search.press("Escape");
  await expect(pages).toHaveCount(11); // Esc clears the search, and leaves the settings open
});

test("the first screen: the composer in the optical centre, below it four cards in two rows", async ({ open }) => {
  const page = await open("welcome", { width: 1280 });
  const cards = page.locator(".cards > section");
  await expect(cards).toHaveCount(4);
  await settled(page); // what is loaded after the first frame is there
  const box = await page.locator(".composer .box").boundingBox();
  const middle = (box.y + box.height / 2) / 832;
  expect(middle > 0.3 && middle < 0.5, `the composer is at ${middle}`).toBeTruthy();
  const tops = await cards.evaluateAll((all) => all.map((e) => e.getBoundingClientRect().top));
  expect(new Set(tops).size).toBe(2);
  await expect(page.getByLabel("Message", { exact: true })).toBeFocused();
});

test("of 316 tools only those in view are drawn, and all are found", async ({ open }) => {
  const page = await open("manytools");
  await expect(page.getByText("316 tools", { exact: true }).first()).toBeVisible();
  const panel = page.getByRole("complementary", { name: "Panel" });
  const drawn = await panel.evaluate((e) => e.querySelectorAll("*").length);
  expect(drawn).toBeLessThan(600);
  await panel.getByLabel("Filter tools").fill("tool_311");
  await panel.getByRole("button", { name: "Tool 311" }).click();
  await expect(panel.getByText("Name models use")).toBeVisible();
  await panel.getByLabel("Filter tools").fill("");
  await expect(panel.getByText("Tool 1", { exact: true })).toBeVisible();
});

test("what is typed before the window is loaded goes on in the composer", async ({ shared, site }) => {
  const page = await shared.newPage();
  let load;
  const loaded = new Promise((resolve) => (load = resolve));
  await page.route(/\/main-.*\.js/, async (route) => {
    await loaded;
    await route.continue();
  });
  await page.goto(`${site}/?scene=chat`);
  await expect(page.locator("#first textarea")).toBeFocused();
  await page.keyboard.type("Good mornin");
  await page.keyboard.press("Enter"); // nothing can send yet
  await page.keyboard.type("g");
  await page.keyboard.press("ArrowLeft");
  load();
  const composer = page.locator(".composer textarea");
  await expect(composer).toBeFocused();
  await expect(composer).toHaveValue("Good morning");
  expect(await composer.evaluate((area) => area.selectionStart)).toBe("Good mornin".length);
  expect(await page.locator("#first").count()).toBe(0);
  await page.keyboard.type("!");
  await expect(composer).toHaveValue("Good mornin!g");
  await page.close();
});
