// Everything by keyboard, and nothing stolen from it.
import { expect, given, test } from "../scene.mjs";

const focused = (page) =>
  page.evaluate(
    () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.trim() ?? "",
  );

test("walks the regions and comes round", async ({ open }) => {
  const page = await open();
  const seen = [];
  // The panel is loaded for itself, and the composer takes the focus once the page is there.
  await expect(page.getByRole("complementary", { name: "Panel" })).toBeVisible();
  await page.waitForFunction(
    () => document.activeElement?.closest("[data-region]")?.getAttribute("aria-label") === "Write a message",
  );
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press("F6");
    seen.push(await page.evaluate(() => document.activeElement.closest("[data-region]").getAttribute("aria-label")));
  }
  expect(seen).toEqual(["Panel", "Chats", "Conversation", "Write a message", "Panel"]);
  await page.keyboard.press("Shift+F6");
  expect(await focused(page)).toBe("Message");
});

test("dividers move by arrow keys, 16 px, and double-click resets", async ({ open }) => {
  const page = await open();
  const divider = page.getByRole("separator", { name: "Width of the chat list" });
  await divider.focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector(".side").offsetWidth === 280);
  await divider.dblclick();
  await page.waitForFunction(() => document.querySelector(".side").offsetWidth === 264);
  const dock = page.getByRole("separator", { name: "Width of the panel" });
  await dock.focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelector(".dock").offsetWidth === 416);
});

test("a shortcut is changed, a taken one is refused by name", async ({ open }) => {
  const page = await open();
  await page.keyboard.press("Control+/");
  await page.getByRole("button", { name: /^New chat: Ctrl\+N/ }).click();
  await page.keyboard.press("Control+k");
  await expect(page.getByText("Already used by “Command palette”.")).toBeVisible();
  await page.keyboard.press("Control+y");
  await expect(page.getByRole("button", { name: /^New chat: Ctrl\+Y/ })).toBeVisible();
});

test("a key that one writes or moves with becomes no shortcut", async ({ open }) => {
  const page = await open();
  await page.keyboard.press("Control+/");
  const newChat = page.getByRole("button", { name: /^New chat: Ctrl\+N/ });
  await newChat.focus();
  await page.keyboard.press("Enter");
  const asks = page.getByText("Press keys, or Esc");
  await expect(asks).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(asks).toHaveCount(0);
  expect(await focused(page)).not.toBe(await newChat.getAttribute("aria-label"));
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("e");
  await expect(page.getByText("Hold Ctrl or Alt with it, or press a function key.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(asks).toHaveCount(0);
  await expect(newChat).toBeVisible();
});

test("a title is changed from the menu by keys, and in its own chat whatever is opened meanwhile", async ({ open }) => {
  const page = await open();
  const field = page.locator("header input.field");
  const begin = async () => {
    await page.getByRole("button", { name: "More for this chat" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Rename" }).press("Enter");
    await expect(page.locator("header input.field:focus")).toBeVisible();
  };
  await begin();
  await page.keyboard.type("Called by keys");
  await page.keyboard.press("Enter");
  await expect(field).toHaveCount(0);
  // What was typed in is gone: one writes on.
  await page.waitForFunction(() => document.activeElement.closest("form.composer"));
  await begin();
  await page.keyboard.type("Called once more");
  await page.keyboard.press("Control+1");
  await expect(field).toHaveCount(0);
  const [[chat, first], [same, second]] = await given(page, "Chats.Rename", 2);
  expect([first, second, same]).toEqual(["Called by keys", "Called once more", chat]);
});

test("a narrow window lays the columns over the centre", async ({ open }) => {
  const page = await open("chat", { height: 600, width: 800 });
  expect(await page.locator(".side").count()).toBe(0);
  await page.keyboard.press("Control+b");
  await expect(page.locator(".side.floats")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator(".side")).toHaveCount(0);
  await page.keyboard.press("Control+j");
  await expect(page.locator(".dock.floats")).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  expect(wide, "the page scrolls sideways").toBeTruthy();
});

test("what is typed where nothing takes it goes to the composer", async ({ open }) => {
  const page = await open();
  const composer = page.locator(".composer textarea");
  await expect(composer).toBeFocused();
  await page.locator(".scroller").click({ position: { x: 5, y: 100 } });
  await expect(composer).not.toBeFocused();
  await page.keyboard.press("Alt+x");
  await page.keyboard.press("ArrowDown");
  await expect(composer).not.toBeFocused();
  await page.keyboard.type("Good morning");
  await expect(composer).toHaveValue("Good morning");
  // Space presses a button that has the focus, and a letter does not.
  const menu = page.getByRole("button", { name: "More for this chat" });
  await menu.focus();
  await page.keyboard.press("Space");
  await expect(page.getByRole("menu")).toBeVisible();
  await page.keyboard.press("x"); // a menu takes its letters
  await page.keyboard.press("Escape");
  await expect(page.getByRole("menu")).toHaveCount(0);
  await menu.focus();
  await page.keyboard.type("!");
  await expect(composer).toHaveValue("Good morning!");
  // A dialog keeps the keyboard.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("quit");
  await expect(composer).toHaveValue("Good morning!");
});
