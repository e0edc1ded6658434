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
      await chip("Show me a sample answer").click();
      await page.locator("article table").waitFor();
      await page.getByText("Answer finished").waitFor({ state: "attached" });
      await page.keyboard.press("Control+n");
      await chip("Show me a permission request").click();
      await page.getByRole("button", { name: "Allow once" }).waitFor();
    },
  },

  "F104 a right click offers what can be done: fields, words, rows, messages, code, tools, plugins":
    {
      scene: "chat",
      width: 1440,
      async run(page) {
        const menu = page.getByRole("menu");
        const item = (name) => menu.getByRole("menuitem", { name, exact: true });
        const right = async (target) => {
          await target.click({ button: "right" });
          await menu.waitFor();
        };
        const field = page.getByLabel("Message", { exact: true });
        const copied = () => page.evaluate(() => globalThis.fake.done.copied.at(-1));

        const code = page.locator("figure.code pre").first();
        await right(code);
        await item("Copy code").click();
        await menu.waitFor({ state: "detached" });
        assert.match(await copied(), /def /);

        await right(field);
        assert.equal(await item("Cut").getAttribute("aria-disabled"), "true");
        await item("Paste").click();
        await page.waitForFunction(() => document.activeElement?.value?.includes("def "));
        await page.keyboard.press("Control+z");
        await page.waitForFunction(() => document.activeElement?.value === "");
        await field.fill("keep this");
        await field.press("Control+a");
        await right(field);
        await item("Cut").click();
        await page.waitForFunction(() => document.activeElement?.value === "");
        assert.equal(await copied(), "keep this");

        const words = page.locator("article p", { hasText: "Save it, and it is callable" });
        await words.click({ clickCount: 3 });
        await right(words);
        await item("Quote selection").click();
        await page.waitForFunction(() => document.activeElement?.value?.startsWith("> Save it"));

        await right(page.locator("article", { hasText: "I will." }).last());
        await item("Copy").click();
        await menu.waitFor({ state: "detached" });
        assert.equal(await copied(), "I will.");

        const row = page.locator("[data-chat-row]", { hasText: "Trip to Lyon" });
        await right(row);
        await item("Rename").click();
        await page.keyboard.press("Control+a");
        await page.keyboard.type("Two days");
        await page.keyboard.press("Enter");
        await page.locator("[data-chat-row]", { hasText: "Two days" }).waitFor();

        // The menu key does the same, and Esc gives the focus back.
        await page.locator("[data-chat-row]", { hasText: "Two days" }).focus();
        await page.keyboard.press("Shift+F10");
        await item("Rename").waitFor();
        await page.keyboard.press("Escape");
        await menu.waitFor({ state: "detached" });
        assert.ok(await page.evaluate(() => document.activeElement.matches("[data-chat-row]")));

        await page.getByRole("tab", { name: /^Tools/ }).click();
        await right(page.getByRole("complementary").getByText("Roll", { exact: true }));
        await item("Do not offer to models").click();
        await page.getByText("2 tools", { exact: true }).waitFor();
        await page.getByRole("tab", { name: /^Plugins/ }).click();
        await right(page.locator("[data-plugin=dice] h4"));
        await item("Reload").click();
        await page.getByText("Reloaded in 12 ms, 1 tool").waitFor();
      },
    },

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
        await page.getByText(`Zoom ${zoom} %`).waitFor();
        const { height } = await row().boundingBox();
        assert.ok(Math.abs(height / before - zoom / 100) < 0.05, `${zoom} %: ${height} px`);
      }
      for (let i = 0; i < 6; i++) await page.keyboard.press("Control+-");
      await page.getByText("Zoom 50 %").waitFor();
      const icon = await page.getByRole("button", { name: "Send" }).locator("svg").boundingBox();
      assert.equal(icon.width, 8);
      for (let i = 0; i < 14; i++) await page.keyboard.press("Control+=");
      await page.getByText("Zoom 300 %").waitFor();
      await page.getByLabel("Message", { exact: true }).fill("It can still be written");
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.getByRole("button", { name: "Send" }).click({ trial: true });
    },
  },

  "F117 a plugin dropped while the panel is closed: one line, and one press to read it": {
    width: 1100,
    async run(page) {
      await page.getByText("Good. Keep it short next time.").waitFor();
      await page.evaluate(() => globalThis.fake.plugins.New("python", "word_count"));
      const line = page.getByRole("region", { name: "Needs you" });
      await line.getByText("word_count is new.").waitFor();
      await line.getByRole("button", { name: "Review" }).click();
      await page.locator("[data-plugin=word_count]").getByText("Needs your approval").waitFor();
      await page.keyboard.press("Escape");
      await line.getByRole("button", { name: "Not now" }).click();
      await line.waitFor({ state: "detached" });
    },
  },

  "F117 beside the chat the panel opens by itself, once": {
    width: 1300,
    async run(page) {
      await page.getByText("Good. Keep it short next time.").waitFor();
      assert.equal(await page.locator(".dock").count(), 0);
      await page.evaluate(() => globalThis.fake.plugins.New("python", "word_count"));
      await page.locator("[data-plugin=word_count]").getByText("Needs your approval").waitFor();
      const { width } = await page.locator(".centre").boundingBox();
      assert.ok(width >= 560, `the chat is ${width} px wide`);
      await page.getByRole("button", { name: "Close the panel" }).click();
      await page.evaluate(() => globalThis.fake.plugins.New("python", "second"));
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
      await panel.getByText("waits for your approval").waitFor();
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
      assert.ok(await theme.getByRole("radio", { name: "Dark" }).isChecked());
    },
  },

  "the first screen: the composer in the optical centre, its chips in one row": {
    scene: "welcome",
    width: 1280,
    async run(page) {
      const box = await page.locator(".composer .box").boundingBox();
      const middle = (box.y + box.height / 2) / 832;
      assert.ok(middle > 0.3 && middle < 0.5, `the composer is at ${middle}`);
      const chips = page.getByRole("list", { name: "Suggestions" }).getByRole("button");
      const tops = await chips.evaluateAll((all) => all.map((e) => e.getBoundingClientRect().top));
      assert.equal(new Set(tops).size, 1);
      await page.keyboard.type("Hello");
      await page.keyboard.press("Enter");
      await page.getByText("Answer finished").waitFor({ state: "attached" });
      assert.ok(await page.evaluate(() => document.activeElement.matches("textarea")));
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
