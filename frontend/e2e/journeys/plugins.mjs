// Plugins and models in the dock and in Settings.
import assert from "node:assert/strict";
import { armed, palette } from "../harness.mjs";

export const tests = {
  "a broken save shows file, line and code, and what still serves": {
    scene: "pluginerror",
    async run(page) {
      const card = page.locator("[data-plugin=weather]");
      await card.getByText("weather.py:7:31").waitFor();
      await card.getByText(/Version from .* still active/).waitFor();
      await card.getByText("Newest save not loaded", { exact: true }).waitFor();
      await card.getByRole("button", { name: "Copy details" }).click();
      assert.match((await page.evaluate(() => globalThis.fake.done.copied))[0], /SyntaxError/);
      await card.getByRole("button", { name: "Show log" }).click();
      await page.getByText("the answer took 4.1 s").waitFor();
      await page.getByLabel("Show").click();
      await page.getByRole("option", { name: "Errors only" }).click();
      await page.getByText("the answer took 4.1 s").waitFor({ state: "detached" });
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    },
  },

  "a plugin's settings are changed, refused where they do not fit, and saved": {
    scene: "settings",
    async run(page) {
      const card = page.locator("[data-plugin=weather]");
      await card.getByText("Settings", { exact: true }).click();
      await card.getByLabel("Days").fill("3");
      await card.getByLabel("Unit").click();
      await page.getByRole("option", { name: "fahrenheit" }).click();
      await card.getByRole("switch", { name: "Warn of storms" }).click();
      await card.getByLabel("Places").fill("Kyiv\nQuito");
      await card.getByLabel("Key").fill("secret");
      await card.getByRole("button", { name: "Save settings" }).click();
      await card.getByText("Saved. The plugin was started anew.").waitFor();
      assert.equal(await card.getByLabel("Days").inputValue(), "3");
      await card.getByLabel("Places").fill("Lima");
      await card.getByRole("button", { name: "Save settings" }).click();
      await card.getByRole("button", { name: "Save settings", disabled: true }).waitFor();
      assert.equal(await card.getByLabel("Places").inputValue(), "Lima");
    },
  },

  "a reload says its time and its tools": {
    scene: "pluginerror",
    async run(page) {
      const card = page.locator("[data-plugin=dice]");
      await card.getByRole("button", { name: "More for Dice" }).click();
      await page.getByRole("menuitem", { name: "Reload" }).click();
      await card.getByText("Loading").waitFor();
      await card.getByText("Reloaded in 12 ms, 1 tool").waitFor();
    },
  },

  "a new plugin is read and approved, a changed one shows its words": {
    scene: "approval",
    async run(page) {
      await page.locator("[data-plugin=mail] ins", { hasText: "archive@example.org" }).waitFor();
      const card = page.locator("[data-plugin=weather]");
      await card.getByText("Runs as you, not isolated.").waitFor();
      await armed(card, "Approve and turn on");
      await card.getByRole("button", { name: "Approve and turn on" }).click();
      await card.getByText("Ready", { exact: true }).waitFor();
    },
  },

  "a plugin from a template appears and asks to be approved": {
    async run(page) {
      await palette(page, "new plugin");
      await page.getByLabel("Name").waitFor();
      await page.keyboard.type("my-tool");
      await page.keyboard.press("Enter");
      await page.locator("[data-plugin=my_tool]").getByText("Needs your approval").waitFor();
    },
  },

  "F81 a folder that was refused is allowed on the plugin's card, and taken back": {
    async run(page) {
      await page.getByRole("tab", { name: /^Plugins/ }).click();
      const card = page.locator("[data-plugin=notes]");
      await page.evaluate(() => {
        const ask = (path, write) => ({ permission: "filesystem", path, write, command: "" });
        globalThis.fake.plugins.change("notes", {
          refused: [ask("/home/ada/Reports", false), ask("/home/ada/Out", true)],
        });
      });
      const ready = async (words) => {
        await card.getByText(words, { exact: true }).first().scrollIntoViewIfNeeded();
        await card.locator("button[aria-disabled=false]", { hasText: words }).first().waitFor();
      };
      await card.getByText("It could not read /home/ada/Reports").waitFor();
      await ready("Allow reading");
      await card.getByRole("button", { name: "Allow reading /home/ada/Reports" }).click();
      await card.getByText("may read", { exact: true }).waitFor();
      await card.getByText("It could not read /home/ada/Reports").waitFor({ state: "detached" });
      await ready("Allow reading and writing");
      await card.getByRole("button", { name: "Allow reading and writing /home/ada/Out" }).click();
      await card.getByText("may read and write", { exact: true }).waitFor();
      await card.getByRole("button", { name: "Take back /home/ada/Out" }).click();
      await card.getByText("It could not write to /home/ada/Out").waitFor();
    },
  },

  "F81 what a plugin lists for the first time is no alteration, and is read before it is offered": {
    scene: "approval",
    async run(page) {
      await page.evaluate(() => {
        const { plugins } = globalThis.fake;
        const after = "Sends a mail to one person you name.";
        plugins.changes.set("mail", [{ tool: "send", field: "listed", before: "", after }]);
        plugins.change("mail", { digest: "4c1d0a7b11ff" });
      });
      const card = page.locator("[data-plugin=mail]");
      await card.getByText("Mail shows what it offers").waitFor();
      await card.getByText("send: offered to models").waitFor();
      await card.getByText("Sends a mail to one person you name.").waitFor();
      assert.equal(await card.getByText(/changed|Keep the old version/i).count(), 0);
      await armed(card, "Approve these tools");
      await card.getByRole("button", { name: "Approve these tools" }).click();
      await card.getByText("Ready", { exact: true }).waitFor();
    },
  },

  "F107 a new plugin asks for its name first, says its file, and why it cannot be made": {
    height: 480,
    async run(page) {
      await palette(page, "new plugin");
      const name = page.getByLabel("Name");
      await page.waitForFunction(() => document.activeElement?.labels?.[0]?.innerText === "Name");
      const box = await name.boundingBox();
      assert.ok(box.y + box.height < 480, "the name is below the fold");
      await page.keyboard.press("Enter");
      await page.getByText("Give it a name first.").waitFor();
      await page.keyboard.type("погода");
      await page.getByText("needs a letter from a to z").waitFor();
      await name.fill("My Tool");
      await page.getByText("Makes my_tool.py in your plugins folder.").waitFor();
      assert.equal(await page.getByRole("radio").count(), 3);
      await page.getByText("Other ecosystems").click();
      await page.getByRole("radio", { name: /N\.E\.K\.O/ }).check();
      await page.getByText("Makes my_tool/ in your plugins folder.").waitFor();
      await page.getByRole("button", { name: "Create and open" }).click();
      await page.locator("[data-plugin=my_tool]").getByText("Needs your approval").waitFor();
    },
  },

  "a plugin from elsewhere is fetched, asks to be approved, and is updated": {
    async run(page) {
      await page.getByRole("tab", { name: /^Plugins/ }).click();
      await page.getByRole("button", { name: "Add plugin…" }).click();
      await page.getByLabel("Address or path").fill("http://example.org/moon.git");
      await page.keyboard.press("Enter");
      await page.getByRole("progressbar", { name: "Fetching the plugin" }).waitFor();
      await page.getByRole("alert").getByText("A plugin is fetched over https only").waitFor();
      await page.getByRole("button", { name: "Choose folder…" }).click();
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const card = page.locator("[data-plugin=moon]");
      await card.getByText("Needs your approval").waitFor();
      await card.getByRole("button", { name: "More for Moon" }).click();
      await page.getByRole("menuitem", { name: "Update" }).click();
      await page.getByText("Fetching Moon from /home/ada/Downloads/moon.").waitFor();
      await page.getByText("“Moon” was fetched anew.").waitFor();
      await page.getByText("Fetching Moon from").waitFor({ state: "detached" });
      await card.getByText("1.3.0").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await card.getByText("1.2.0").waitFor();
    },
  },

  "a tool can be switched off, and the composer's chip counts": {
    async run(page) {
      await page.getByRole("switch", { name: "Offer roll to models" }).click();
      await page.getByText("2 tools", { exact: true }).waitFor();
    },
  },

  "a key names its provider, is tested, and is never shown": {
    scene: "welcome",
    async run(page) {
      await page.getByRole("button", { name: "Paste a key" }).click();
      await page.getByLabel("Key", { exact: true }).fill("sk-ant-secret");
      await page.getByText("This looks like a key of Anthropic.").waitFor();
      assert.equal(await page.getByLabel("Key", { exact: true }).getAttribute("type"), "password");
      await page.getByRole("button", { name: "Save and test" }).click();
      await page
        .locator("[data-connection=anthropic]")
        .getByText("Answered in 212 ms, 2 models")
        .waitFor();
      assert.ok(!(await page.content()).includes("sk-ant-secret"));
      await page.getByRole("button", { name: "Back to chats" }).click();
      await page.getByText("Anthropic Large answers.").waitFor();
    },
  },

  "local servers are looked for on request": {
    scene: "welcome",
    async run(page) {
      await page.getByRole("button", { name: "Look for local models" }).click();
      await page.getByText("0.9.2 · 3 models").waitFor();
      await page.getByRole("button", { name: "Use", exact: true }).click();
      await page.getByText("Ollama Large answers.").waitFor();
    },
  },
};
