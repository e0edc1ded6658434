// What hooks of plugins did to an answer.
import assert from "node:assert/strict";
import { focused } from "../harness.mjs";

export const tests = {
  "what hooks changed is opened by keys, read line by line, and closed back to where one was": {
    scene: "hooks",
    async run(page) {
      const line = page.getByRole("button", { name: /failed · Slow index timed out/ });
      await line.focus();
      await page.keyboard.press("Enter");
      const sheet = page.getByRole("dialog", { name: "Plugin changes" });
      await sheet.getByText("In the order they ran").waitFor();
      for (const words of [
        "Macros were filled in",
        "Lorebook changed the request",
        "Counter changed nothing",
        "Slow index timed out, so it changed nothing",
        "Old hook failed, so it changed nothing",
        "House style changed the answer",
        "Path keeper changed the arguments",
        "Sunday guard denied the call",
        "Lorebook stopped the answer",
      ]) {
        assert.ok((await sheet.innerText()).includes(words), `it does not say: ${words}`);
      }
      const lines = sheet.getByRole("group", { name: "Lines that Lorebook changed" });
      await lines.focus();
      assert.match(await lines.innerText(), /added:\s*Its river is called the Lower Ashwater\./);
      await page.keyboard.press("Escape");
      await sheet.waitFor({ state: "detached" });
      await focused(line);
    },
  },
  "an answer that no hook looked at says so": {
    scene: "chat",
    async run(page) {
      await page.getByRole("button", { name: "More for this message" }).last().click();
      await page.getByRole("menuitem", { name: "Plugin changes" }).click();
      await page.getByText("No plugin hook ran for this answer").waitFor();
    },
  },
};
