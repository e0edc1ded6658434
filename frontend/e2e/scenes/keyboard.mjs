// Everything by keyboard, and nothing stolen from it.
import assert from "node:assert/strict";
import { waits } from "../harness.mjs";

const focused = (page) =>
  page.evaluate(
    () =>
      document.activeElement?.getAttribute("aria-label") ??
      document.activeElement?.textContent?.trim() ??
      "",
  );

export const tests = {
  "F6 walks the regions and comes round": {
    async run(page) {
      const seen = [];
      // The panel is loaded for itself, and the composer takes the focus once the page is there.
      await page.getByRole("complementary", { name: "Panel" }).waitFor();
      await page.waitForFunction(
        () =>
          document.activeElement?.closest("[data-region]")?.getAttribute("aria-label") ===
          "Write a message",
      );
      for (let i = 0; i < 5; i++) {
        await page.keyboard.press("F6");
        seen.push(
          await page.evaluate(() =>
            document.activeElement.closest("[data-region]").getAttribute("aria-label"),
          ),
        );
      }
      assert.deepEqual(seen, ["Panel", "Chats", "Conversation", "Write a message", "Panel"]);
      await page.keyboard.press("Shift+F6");
      assert.equal(await focused(page), "Message");
    },
  },

  "dividers move by arrow keys, 16 px, and double-click resets": {
    async run(page) {
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
    },
  },

  "a shortcut is changed, a taken one is refused by name": {
    async run(page) {
      await page.keyboard.press("Control+/");
      await page.getByRole("button", { name: /^New chat: Ctrl\+N/ }).click();
      await page.keyboard.press("Control+k");
      await page.getByText("Already used by “Command palette”.").waitFor();
      await page.keyboard.press("Control+y");
      await page.getByRole("button", { name: /^New chat: Ctrl\+Y/ }).waitFor();
    },
  },

  "a key that one writes or moves with becomes no shortcut": {
    async run(page) {
      await page.keyboard.press("Control+/");
      const newChat = page.getByRole("button", { name: /^New chat: Ctrl\+N/ });
      await newChat.focus();
      await page.keyboard.press("Enter");
      const asks = page.getByText("Press keys, or Esc");
      await asks.waitFor();
      await page.keyboard.press("Tab");
      await asks.waitFor({ state: "detached" });
      assert.notEqual(await focused(page), await newChat.getAttribute("aria-label"));
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");
      await page.keyboard.press("e");
      await page.getByText("Hold Ctrl or Alt with it, or press a function key.").waitFor();
      await page.keyboard.press("Escape");
      await asks.waitFor({ state: "detached" });
      await newChat.waitFor();
    },
  },

  "a title is changed from the menu by keys, and in its own chat whatever is opened meanwhile": {
    async run(page) {
      const field = page.locator("header input.field");
      const begin = async () => {
        await page.getByRole("button", { name: "More for this chat" }).focus();
        await page.keyboard.press("Enter");
        await page.getByRole("menuitem", { name: "Rename" }).press("Enter");
        await page.locator("header input.field:focus").waitFor();
      };
      await begin();
      await page.keyboard.type("Called by keys");
      await page.keyboard.press("Enter");
      await field.waitFor({ state: "detached" });
      // What was typed in is gone: one writes on.
      await page.waitForFunction(() => document.activeElement.closest("form.composer"));
      await begin();
      await page.keyboard.type("Called once more");
      await page.keyboard.press("Control+1");
      await field.waitFor({ state: "detached" });
      const [[chat, first], [same, second]] = await waits(page, "Chats.Rename", 2);
      assert.deepEqual([first, second, same], ["Called by keys", "Called once more", chat]);
    },
  },

  "a narrow window lays the columns over the centre": {
    width: 800,
    height: 600,
    async run(page) {
      assert.equal(await page.locator(".side").count(), 0);
      await page.keyboard.press("Control+b");
      await page.locator(".side.floats").waitFor();
      await page.keyboard.press("Escape");
      await page.locator(".side").waitFor({ state: "detached" });
      await page.keyboard.press("Control+j");
      await page.locator(".dock.floats").waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
      assert.ok(wide, "the page scrolls sideways");
    },
  },
};
