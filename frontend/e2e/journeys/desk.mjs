// The window by keyboard and by right click: chats found, named, thrown away and brought back.
import assert from "node:assert/strict";
import { counts, focused, palette } from "../harness.mjs";

export const answers = {
  "What to see in Lyon": "Walk the traboules, then climb to Fourvière.",
  "A letter to the landlord":
    "Keep it short.\n\n```python\ndef greet():\n    return 1\n```\n\nSave it, and it is callable.",
};

export const steps = (world) => {
  const page = () => world.person.page;
  const rows = () => page().locator("[data-chat-row]");
  const field = () => page().getByLabel("Message", { exact: true });
  /** Writes another title where the keyboard now is in a chat's, and keeps it. */
  const retitle = async (title) => {
    await page().getByLabel("Chat title").and(page().locator(":focus")).waitFor();
    await page().keyboard.press("Control+a");
    await page().keyboard.type(title);
    await page().keyboard.press("Enter");
  };
  const writes = () => page().waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");

  return {
    "a day by keyboard: walk messages, find, palette, settings, rename, delete, undo": async () => {
      for (const text of ["What to see in Lyon", "A letter to the landlord"]) {
        await world.person.newChat();
        await world.person.ask(text);
      }
      await page().keyboard.press("Alt+ArrowUp");
      await page().waitForFunction(() => document.activeElement?.matches("article"));
      await page().keyboard.press("Tab");
      assert.notEqual(await page().evaluate(() => document.activeElement.tagName), "ARTICLE");
      await page().keyboard.press("Escape");
      await writes();

      await page().keyboard.press("Control+f");
      await focused(page().getByRole("searchbox", { name: "Find in this chat" }));
      await page().keyboard.type("short");
      await page().getByText("1 of 1").waitFor();
      await page().keyboard.press("Escape");
      await writes();

      await palette(page(), "theme: dark");
      await page().waitForFunction(() => document.documentElement.dataset.theme === "dark");
      await palette(page(), "theme: light");
      await page().waitForFunction(() => document.documentElement.dataset.theme === "light");

      await page().keyboard.press("Control+k");
      await page().locator(".palette input:focus").waitFor();
      await page().keyboard.type("lyon");
      await page().getByRole("option", { name: "What to see in Lyon" }).waitFor();
      await page().keyboard.press("Enter");
      await page().getByText("Fourvière").waitFor();

      await palette(page(), "rename");
      await retitle("Two days in Lyon");
      await rows().getByText("Two days in Lyon").waitFor();

      await rows().filter({ hasText: "Two days in Lyon" }).focus();
      await page().keyboard.press("Tab");
      await page().keyboard.press("Enter");
      await page().getByRole("menuitem", { name: "Delete" }).waitFor();
      await page().waitForFunction(() => document.activeElement?.closest("[role=menu]"));
      await page().keyboard.press("End");
      await page().keyboard.press("Enter");
      await rows().getByText("Two days in Lyon").waitFor({ state: "detached" });
      await page().getByRole("button", { name: "Undo" }).focus();
      await page().keyboard.press("Enter");
      await rows().getByText("Two days in Lyon").waitFor();

      await page().keyboard.press("Control+,");
      await page().getByRole("heading", { name: "General" }).waitFor();
      await page().keyboard.press("Escape");
      await page().getByRole("heading", { name: "General" }).waitFor({ state: "detached" });
    },

    "F103 Esc in the search of chats gives the whole list back": async () => {
      const landlord = rows().getByText("A letter to the landlord");
      await landlord.waitFor();
      const all = await rows().count();
      const search = page().getByRole("searchbox", { name: "Search chats" });
      await search.fill("lyon");
      await landlord.waitFor({ state: "detached" });
      await rows().getByText("Two days in Lyon").waitFor();
      await search.press("Escape");
      await landlord.waitFor();
      await counts(rows(), all);
      assert.equal(await search.inputValue(), "");
      await writes();
    },

    "F104 a right click offers what can be done: fields, words, rows, messages, code": async () => {
      const menu = page().getByRole("menu");
      const item = (name) => menu.getByRole("menuitem", { name, exact: true });
      const right = async (target) => {
        await counts(menu, 0); // the one before it goes in its own time
        await target.click({ button: "right" });
        await menu.waitFor();
      };
      const copied = (text) =>
        page().waitForFunction(
          async (t) => (await globalThis.runtime.ClipboardGetText()).includes(t),
          text,
        );
      const value = (text) =>
        page().waitForFunction((t) => document.activeElement?.value === t, text);
      await rows().getByText("A letter to the landlord").click();

      await right(page().locator("figure.code pre").first());
      await item("Copy code").click();
      await menu.waitFor({ state: "detached" });
      await copied("def greet");
      await right(field());
      assert.equal(await item("Cut").getAttribute("aria-disabled"), "true");
      await item("Paste").click();
      await page().waitForFunction(() => document.activeElement?.value?.includes("def greet"));
      await field().fill("keep this");
      await field().press("Control+a");
      await right(field());
      await item("Cut").click();
      await value("");
      await right(field());
      await item("Paste").click();
      await value("keep this");
      await field().fill("");

      const words = page().locator("article p", { hasText: "Save it, and it is callable" });
      await words.click({ clickCount: 3 });
      await right(words);
      await item("Quote selection").click();
      await page().waitForFunction(() => document.activeElement?.value?.startsWith("> Save it"));
      await field().fill("");

      await right(page().locator("article", { hasText: "A letter to the landlord" }).first());
      await item("Copy").click();
      await menu.waitFor({ state: "detached" });
      await copied("A letter to the landlord");
      await right(field());
      await item("Paste").click();
      await value("A letter to the landlord");
      await field().fill("");

      const row = rows().filter({ hasText: "Two days in Lyon" });
      await right(row);
      await item("Rename").click();
      await retitle("Lyon again");
      const renamed = rows().filter({ hasText: "Lyon again" });
      await renamed.waitFor();

      // The menu key does the same, and Esc gives the focus back.
      await renamed.focus();
      await page().keyboard.press("Shift+F10");
      await item("Rename").waitFor();
      await page().keyboard.press("Escape");
      await menu.waitFor({ state: "detached" });
      await focused(renamed);
    },
  };
};
