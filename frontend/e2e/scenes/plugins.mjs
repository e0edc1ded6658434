// What cards of plugins and models show, and what a press on them asks for.
import assert from "node:assert/strict";
import { armed, copies, focused, noticed, waits } from "../harness.mjs";

export const tests = {
  "a file that is opened in the editor is answered with where it opened": {
    scene: "pluginerror",
    async run(page) {
      await page.getByRole("button", { name: "Open in editor" }).first().press("Enter");
      await noticed(page, "Opened in gedit");
      assert.deepEqual(await waits(page, "Plugins.OpenInEditor"), [["weather", "weather.py", 7]]);
    },
  },

  "a broken save shows file, line and code, and what still serves": {
    scene: "pluginerror",
    async run(page) {
      const card = page.locator("[data-plugin=weather]");
      await card.getByText("weather.py:7:31").waitFor();
      await card.getByText(/Version of .* is used/).waitFor();
      await card.getByText("Latest save not loaded", { exact: true }).waitFor();
      await card.getByRole("button", { name: "Copy details" }).click();
      assert.match((await copies(page))[0], /SyntaxError/);
      await card.getByRole("button", { name: "Show log" }).click();
      await page.getByText("the answer took 4.1 s").waitFor();
      await page.getByLabel("Show").click();
      await page.getByRole("option", { name: "Errors only" }).click();
      await page.getByText("the answer took 4.1 s").waitFor({ state: "detached" });
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    },
  },

  "a log is read by keys, and stays where it is read while lines come": {
    scene: "pluginerror",
    async run(page) {
      const say = (from, to) =>
        page.evaluate(
          ([from, to]) => {
            const { bus, plugins } = globalThis.fake;
            const lines = plugins.logs.get("weather");
            for (let n = from; n <= to; n++)
              lines.push({ ...lines[0], n, text: `line number ${n} of many` });
            bus.changed("log", "weather");
          },
          [from, to],
        );
      await say(5, 400);
      const card = page.locator("[data-plugin=weather]");
      await card.getByRole("button", { name: "Show log" }).click();
      const log = page.getByRole("region", { name: /Weather/ });
      await page.getByText("line number 400 of many").waitFor();
      await log.focus();
      // Until its lines are measured the list goes to its end by itself.
      const top = () =>
        log.evaluate((e) => new Promise((seen) => setTimeout(() => seen(e.scrollTop), 200)));
      do await page.keyboard.press("Home");
      while ((await top()) > 0);
      await say(401, 402);
      await page.waitForFunction(
        () => document.querySelector(".lines [tabindex]").scrollHeight > 8000,
      );
      assert.equal(await log.evaluate((e) => e.scrollTop), 0);
      await page.keyboard.press("End");
      await page.getByText("line number 402 of many").waitFor();
      await say(403, 404);
      await page.getByText("line number 404 of many").waitFor();
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
      const folders = (...all) =>
        page.evaluate((folders) => globalThis.fake.plugins.change("notes", { folders }), all);
      const reports = { path: "/home/ada/Reports", write: false, setting: "" };
      await card.getByText("It could not read /home/ada/Reports").waitFor();
      await ready("Allow reading");
      await card.getByRole("button", { name: "Allow reading /home/ada/Reports" }).click();
      assert.deepEqual(await waits(page, "Plugins.GrantFolder"), [
        ["notes", "/home/ada/Reports", false],
      ]);
      await folders(reports);
      await card.getByText("may read", { exact: true }).waitFor();
      await card.getByText("It could not read /home/ada/Reports").waitFor({ state: "detached" });
      await folders(reports, { path: "/home/ada/Out", write: true, setting: "" });
      await card.getByText("may read and write", { exact: true }).waitFor();
      await card.getByRole("button", { name: "Revoke /home/ada/Out" }).click();
      assert.deepEqual(await waits(page, "Plugins.RevokeFolder"), [["notes", "/home/ada/Out"]]);
      await folders(reports);
      await card.getByText("It could not write to /home/ada/Out").waitFor();
    },
  },

  "what a plugin may reach is given and taken back in one sheet": {
    async run(page) {
      await page.getByRole("tab", { name: /^Plugins/ }).click();
      const open = async (id) => {
        await page
          .locator(`[data-plugin=${id}]`)
          .getByRole("button", { name: /^More for/ })
          .click();
        await page.getByRole("menuitem", { name: "What it may reach…" }).click();
        await page.getByRole("dialog").waitFor();
      };
      await open("notes");
      await focused(page.getByLabel("Folder or file"));
      await page.keyboard.type("~/Letters");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Space"); // to write too
      await page.getByRole("button", { name: "Allow folder" }).click();
      assert.deepEqual(await waits(page, "Plugins.GrantFolder"), [["notes", "~/Letters", true]]);
      await page.getByLabel("Host", { exact: true }).fill("api.example.org");
      await page.keyboard.press("Enter");
      assert.deepEqual(await waits(page, "Plugins.AllowHost"), [
        ["notes", "api.example.org", false],
      ]);
      await page.getByLabel("Program", { exact: true }).fill("make");
      await page.keyboard.press("Enter");
      assert.deepEqual(await waits(page, "Plugins.AllowProgram"), [["notes", "make"]]);
      await page.getByRole("button", { name: "Revoke /usr/bin/git" }).click();
      assert.deepEqual(await waits(page, "Plugins.RevokeProgram"), [["notes", "/usr/bin/git"]]);
      assert.equal(await page.getByRole("heading", { name: "Secrets" }).count(), 0);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });

      await open("dice");
      await page.getByText("sent only to api.example.org, api.example.net").waitFor();
      const give = page.getByRole("button", { name: "Add secret" });
      await page.getByLabel("Name", { exact: true }).fill("moon");
      await page.getByLabel("Secret", { exact: true }).fill("0123456789");
      assert.ok(await give.isDisabled()); // it names no host
      await page.getByLabel("Hosts it may be sent to").fill("a.example, b.example");
      await give.click();
      assert.deepEqual(await waits(page, "Plugins.GiveSecret"), [
        ["dice", "moon", "0123456789", ["a.example", "b.example"]],
      ]);
      assert.equal(await page.getByLabel("Secret", { exact: true }).inputValue(), "");
      await page.getByRole("button", { name: "Revoke weather" }).click();
      assert.deepEqual(await waits(page, "Plugins.ForgetSecret"), [["dice", "weather"]]);
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
      await card.getByText("Mail has listed its tools").waitFor();
      await card.getByText("send: offered to models").waitFor();
      await card.getByText("Sends a mail to one person you name.").waitFor();
      assert.equal(await card.getByText(/changed|Keep the old version/i).count(), 0);
      await armed(card, "Approve these tools");
      await card.getByRole("button", { name: "Approve these tools" }).click();
      assert.deepEqual(await waits(page, "Plugins.Approve"), [["mail", "4c1d0a7b11ff", false]]);
    },
  },

  "what is read before a plugin is approved stays as it is while notices come": {
    scene: "approval",
    async run(page) {
      const card = page.locator("[data-plugin=weather]");
      const tool = card.locator("details");
      await tool.locator("summary").click();
      await tool.locator("pre").focus();
      await page.evaluate(() => {
        const { bus, plugins } = globalThis.fake;
        const { Show } = plugins;
        plugins.Show = (id) => ((globalThis.shown = id), Show.call(plugins, id));
        plugins.change("weather", { load_ms: 7 });
        bus.changed("plugins");
        plugins.change("mail", { digest: "4c1d0a7b11ff" });
      });
      // The other one's digest is another: its card is read anew, and that one only.
      await page.waitForFunction(() => globalThis.shown === "mail");
      await focused(tool.locator("pre"));
    },
  },

  "a key names its provider, and is never shown": {
    scene: "welcome",
    async run(page) {
      await page.getByRole("button", { name: "Paste a key" }).click();
      await page.getByLabel("Key", { exact: true }).fill("sk-ant-secret");
      await page.getByText("This looks like a key of Anthropic.").waitFor();
      assert.equal(await page.getByLabel("Key", { exact: true }).getAttribute("type"), "password");
      await page.getByRole("button", { name: "Save and test" }).click();
      const [[edit]] = await waits(page, "Models.Add");
      assert.deepEqual([edit.kind, edit.key], ["anthropic", "sk-ant-secret"]);
      assert.ok(!(await page.content()).includes("sk-ant-secret"));
    },
  },

  "local servers are looked for on request": {
    scene: "welcome",
    async run(page) {
      await page.getByRole("button", { name: "Look for local models" }).click();
      await page.getByText("0.9.2 · 3 models").waitFor();
      await page.getByRole("button", { name: "Use", exact: true }).click();
      const [[edit]] = await waits(page, "Models.Add");
      assert.deepEqual([edit.kind, edit.url], ["ollama", "http://127.0.0.1:11434"]);
    },
  },
};
