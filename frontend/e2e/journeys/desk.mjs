// The window by keyboard and by right click: chats found, named, thrown away and brought back.
import { palette } from "../page.mjs";
import { expect, test } from "../person.mjs";

const answers = {
  "What to see in Lyon": "Walk the traboules, then climb to Fourvière.",
  "A letter to the landlord":
    "Keep it short.\n\n```python\ndef greet():\n    return 1\n```\n\nSave it, and it is callable.",
};

test.beforeAll(({ server }) => Object.assign(server.answers, answers));

const rows = (page) => page.locator("[data-chat-row]");
const field = (page) => page.getByLabel("Message", { exact: true });
/** Writes another title where the keyboard now is in a chat's, and keeps it. */
const retitle = async (page, title) => {
  await expect(page.getByLabel("Chat title").and(page.locator(":focus"))).toBeVisible();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(title);
  await page.keyboard.press("Enter");
};
const writes = (page) => page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

test("a day by keyboard: walk messages, find, palette, settings, rename, delete, undo", async ({ page, person }) => {
  for (const text of ["What to see in Lyon", "A letter to the landlord"]) {
    await person.newChat();
    await person.ask(text);
  }
  await page.keyboard.press("Alt+ArrowUp");
  await page.waitForFunction(() => document.activeElement?.matches("article"));
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement.tagName)).not.toBe("ARTICLE");
  await page.keyboard.press("Escape");
  await writes(page);

  await page.keyboard.press("Control+f");
  await expect(page.getByRole("searchbox", { name: "Find in this chat" })).toBeFocused();
  await page.keyboard.type("short");
  await expect(page.getByText("1 of 1")).toBeVisible();
  await page.keyboard.press("Escape");
  await writes(page);

  await palette(page, "theme: dark");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await palette(page, "theme: light");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");

  await page.keyboard.press("Control+k");
  await expect(page.locator(".palette input:focus")).toBeVisible();
  await page.keyboard.type("lyon");
  await expect(page.getByRole("option", { name: "What to see in Lyon" })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Fourvière")).toBeVisible();

  await palette(page, "rename");
  await retitle(page, "Two days in Lyon");
  await expect(rows(page).getByText("Two days in Lyon")).toBeVisible();

  await rows(page).filter({ hasText: "Two days in Lyon" }).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Delete" })).toBeVisible();
  await page.waitForFunction(() => document.activeElement?.closest("[role=menu]"));
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await expect(rows(page).getByText("Two days in Lyon")).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).focus();
  await page.keyboard.press("Enter");
  await expect(rows(page).getByText("Two days in Lyon")).toBeVisible();

  await page.keyboard.press("Control+,");
  await expect(page.getByRole("heading", { name: "General" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("heading", { name: "General" })).toHaveCount(0);
});

test("Esc in the search of chats gives the whole list back", async ({ page }) => {
  const landlord = rows(page).getByText("A letter to the landlord");
  await expect(landlord).toBeVisible();
  const all = await rows(page).count();
  const search = page.getByRole("searchbox", { name: "Search chats" });
  await search.fill("lyon");
  await expect(landlord).toHaveCount(0);
  await expect(rows(page).getByText("Two days in Lyon")).toBeVisible();
  await search.press("Escape");
  await expect(landlord).toBeVisible();
  await expect(rows(page)).toHaveCount(all);
  expect(await search.inputValue()).toBe("");
  await writes(page);
});

test("a right click offers what can be done: fields, words, rows, messages, code", async ({ page }) => {
  const menu = page.getByRole("menu");
  const item = (name) => menu.getByRole("menuitem", { name, exact: true });
  const right = async (target) => {
    await expect(menu).toHaveCount(0); // the one before it goes in its own time
    await target.click({ button: "right" });
    await expect(menu).toBeVisible();
  };
  const copied = (text) =>
    expect.poll(() => page.evaluate(() => globalThis.runtime.ClipboardGetText())).toContain(text);
  const value = (text) => page.waitForFunction((t) => document.activeElement?.value === t, text);
  await rows(page).getByText("A letter to the landlord").click();

  await right(page.locator("figure.code pre").first());
  await item("Copy code").click();
  await expect(menu).toHaveCount(0);
  await copied("def greet");
  await right(field(page));
  expect(await item("Cut").getAttribute("aria-disabled")).toBe("true");
  await item("Paste").click();
  await page.waitForFunction(() => document.activeElement?.value?.includes("def greet"));
  await field(page).fill("keep this");
  await field(page).press("Control+a");
  await right(field(page));
  await item("Cut").click();
  await value("");
  await right(field(page));
  await item("Paste").click();
  await value("keep this");
  await field(page).fill("");

  const words = page.locator("article p", { hasText: "Save it, and it is callable" });
  await words.click({ clickCount: 3 });
  await right(words);
  await item("Quote selection").click();
  await page.waitForFunction(() => document.activeElement?.value?.startsWith("> Save it"));
  await field(page).fill("");

  await right(page.locator("article", { hasText: "A letter to the landlord" }).first());
  await item("Copy").click();
  await expect(menu).toHaveCount(0);
  await copied("A letter to the landlord");
  await right(field(page));
  await item("Paste").click();
  await value("A letter to the landlord");
  await field(page).fill("");

  const row = rows(page).filter({ hasText: "Two days in Lyon" });
  await right(row);
  await item("Rename").click();
  await retitle(page, "Lyon again");
  const renamed = rows(page).filter({ hasText: "Lyon again" });
  await expect(renamed).toBeVisible();

  // The menu key does the same, and Esc gives the focus back.
  await renamed.focus();
  await page.keyboard.press("Shift+F10");
  await expect(item("Rename")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(menu).toHaveCount(0);
  await expect(renamed).toBeFocused();
});
