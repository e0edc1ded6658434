// The frame: zoom, the panel, the first screen.
import assert from "node:assert/strict";
import { focused, noticed, settled } from "../harness.mjs";

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

export const tests = {
  "F116 everything grows and shrinks by keyboard, and nothing is lost sideways": {
    async run(page) {
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
        assert.ok(Math.abs(height / before - zoom / 100) < 0.05, `${zoom} %: ${height} px`);
      }
      for (let i = 0; i < 6; i++) await page.keyboard.press("Control+-");
      await zoomed(page, 50);
      const icon = await page.getByRole("button", { name: "Send" }).locator("svg").boundingBox();
      assert.equal(icon.width, 8);
      for (let i = 0; i < 14; i++) await page.keyboard.press("Control+=");
      await zoomed(page, 300);
      await page.getByLabel("Message", { exact: true }).fill("It can still be written");
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.getByRole("button", { name: "Send" }).click({ trial: true });
    },
  },

  "F117 beside the chat the panel opens by itself, once": {
    width: 1300,
    async run(page) {
      await page.getByText("Good. Keep it short next time.").waitFor();
      assert.equal(await page.locator(".dock").count(), 0);
      await drop(page, "word_count");
      await page.locator("[data-plugin=word_count]").getByText("Needs your approval").waitFor();
      const { width } = await page.locator(".centre").boundingBox();
      assert.ok(width >= 560, `the chat is ${width} px wide`);
      await page.getByRole("button", { name: "Close the panel" }).click();
      await drop(page, "second");
      await page.getByText("2 plugins need you.").waitFor();
      assert.equal(await page.locator(".dock").count(), 0);
    },
  },

  "F120 the panel speaks in words: states, versions, and code that changed": {
    scene: "approval",
    async run(page) {
      const panel = page.getByRole("complementary", { name: "Panel" });
      await page.evaluate(() => {
        const { plugins } = globalThis.fake;
        const change = (field, before, after) => ({ tool: "", field, before, after });
        plugins.changes.set("mail", [change("code", "9f2c41aa03d7", "4c1d0a7b11ff")]);
        plugins.change("mail", { digest: "4c1d0a7b11ff" });
        plugins.change("dice", { version: "0" });
      });
      await panel.getByText("Its code changed. Open it in your editor to read it.").waitFor();
      assert.equal(await panel.getByText("9f2c41aa03d7").count(), 0);
      await panel
        .locator("[data-plugin=dice] h4")
        .filter({ hasText: /^\s*Dice\s*$/ })
        .waitFor();
      await page.getByRole("tab", { name: /^Tools/ }).click();
      await panel.getByText("needs your approval", { exact: true }).waitFor();
      assert.equal(await panel.getByText("needs-approval").count(), 0);
    },
  },

  "the theme is one switch of segments, gone through by arrow keys": {
    async run(page) {
      await page.keyboard.press("Control+,");
      const theme = page.getByRole("radiogroup", { name: "Theme" });
      await theme.getByRole("radio", { name: "Light" }).focus();
      await page.keyboard.press("ArrowRight");
      await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
      await theme.getByRole("radio", { name: "Dark", checked: true }).waitFor();
    },
  },

  "the first screen: the composer in the optical centre, its chips in one row": {
    scene: "welcome",
    width: 1280,
    async run(page) {
      const chips = page.getByRole("list", { name: "Suggestions" }).getByRole("button");
      await chips.first().waitFor();
      await settled(page); // what is loaded after the first frame is there
      const box = await page.locator(".composer .box").boundingBox();
      const middle = (box.y + box.height / 2) / 832;
      assert.ok(middle > 0.3 && middle < 0.5, `the composer is at ${middle}`);
      const tops = await chips.evaluateAll((all) => all.map((e) => e.getBoundingClientRect().top));
      assert.equal(new Set(tops).size, 1);
      await focused(page.getByLabel("Message", { exact: true }));
    },
  },

  "F124 of 316 tools only those in view are drawn, and all are found": {
    scene: "manytools",
    async run(page) {
      await page.getByText("316 tools", { exact: true }).first().waitFor();
      const panel = page.getByRole("complementary", { name: "Panel" });
      const drawn = await panel.evaluate((e) => e.querySelectorAll("*").length);
      assert.ok(drawn < 600, `${drawn} elements`);
      await panel.getByLabel("Filter tools").fill("tool_311");
      await panel.getByRole("button", { name: "Tool 311" }).click();
      await panel.getByText("Name models use").waitFor();
      await panel.getByLabel("Filter tools").fill("");
      await panel.getByText("Tool 1", { exact: true }).waitFor();
    },
  },
};
