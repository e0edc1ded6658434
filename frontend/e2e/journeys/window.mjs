// The frame: the list's search, the chips of the first screen.
import assert from "node:assert/strict";

export const tests = {
  "F103 Esc in the search of chats gives the whole list back": {
    async run(page) {
      const rows = page.locator("[data-chat-row]");
      await rows.getByText("Trip to Lyon").waitFor();
      const all = await rows.count();
      const search = page.getByRole("searchbox", { name: "Search chats" });
      await search.fill("lyon");
      await rows.getByText("Letter to the landlord").waitFor({ state: "detached" });
      await search.press("Escape");
      await rows.getByText("Letter to the landlord").waitFor();
      assert.equal(await rows.count(), all);
      assert.equal(await search.inputValue(), "");
      await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
    },
  },

  "F105 every chip of the first screen does what it says": {
    scene: "welcome",
    async run(page) {
      const chip = (name) =>
        page.getByRole("list", { name: "Suggestions" }).getByRole("button", { name });
      await chip("Make a plugin").click();
      await page.getByRole("dialog", { name: "New plugin" }).waitFor();
      await page.keyboard.press("Escape");
      await chip("Connect a model").click();
      await page.getByRole("heading", { name: "Models" }).waitFor();
      await page.getByRole("button", { name: "Back to chats" }).click();
      await chip("Show me what an answer can look like").click();
      await page.locator("article table").waitFor();
      await page.getByText("Answer finished").waitFor({ state: "attached" });
      await page.keyboard.press("Control+n");
      await chip("Show me a permission request").click();
      await page.getByRole("button", { name: "Allow once" }).waitFor();
    },
  },
};
