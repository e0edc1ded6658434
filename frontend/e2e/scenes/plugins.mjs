// What cards of plugins and models show, and what a press on them asks for.
import { believe, noticed } from "../page.mjs";
import { copies, expect, given, test } from "../scene.mjs";

test("a file that is opened in the editor is answered with where it opened", async ({ open }) => {
  const page = await open("pluginerror");
  await page.getByRole("button", { name: "Open in editor" }).first().press("Enter");
  await noticed(page, "Opened in gedit");
  expect(await given(page, "Plugins.OpenInEditor")).toEqual([["weather", "weather.py", 7]]);
});

test("a broken save shows file, line and code, and what still serves", async ({ open }) => {
  const page = await open("pluginerror");
  const card = page.locator("[data-plugin=weather]");
  await expect(card.getByText("weather.py:7:31")).toBeVisible();
  await expect(card.getByText(/is used/)).toHaveText(/Version 1.2.0 of .* is used/);
  await expect(card.getByText("Latest save not loaded", { exact: true })).toBeVisible();
  await card.getByRole("button", { name: "Copy details" }).click();
  expect((await copies(page))[0]).toMatch(/SyntaxError/);
  await card.getByRole("button", { name: "Show log" }).click();
  await expect(page.getByText("the answer took 4.1 s")).toBeVisible();
  await page.getByLabel("Show").click();
  await page.getByRole("option", { name: "Errors only" }).click();
  await expect(page.getByText("the answer took 4.1 s")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("a log is read by keys, and stays where it is read while lines come", async ({ open }) => {
  const page = await open("pluginerror");
  const say = (from, to) =>
    page.evaluate(
      ([from, to]) => {
        const { bus, plugins } = globalThis.fake;
        const lines = plugins.logs.get("weather");
        for (let n = from; n <= to; n++) lines.push({ ...lines[0], n, text: `line number ${n} of many` });
        bus.changed("log", "weather");
      },
      [from, to],
    );
  await say(5, 400);
  const card = page.locator("[data-plugin=weather]");
  await card.getByRole("button", { name: "Show log" }).click();
  const log = page.getByRole("region", { name: /Weather/ });
  await expect(page.getByText("line number 400 of many")).toBeVisible();
  await log.focus();
  // Until its lines are measured the list goes to its end by itself.
  const top = () => log.evaluate((e) => new Promise((seen) => setTimeout(() => seen(e.scrollTop), 200)));
  do await page.keyboard.press("Home");
  while ((await top()) > 0);
  await say(401, 402);
  await page.waitForFunction(() => document.querySelector(".lines [tabindex]").scrollHeight > 8000);
  expect(await log.evaluate((e) => e.scrollTop)).toBe(0);
  await page.keyboard.press("End");
  await expect(page.getByText("line number 402 of many")).toBeVisible();
  await say(403, 404);
  await expect(page.getByText("line number 404 of many")).toBeVisible();
});

test("a folder that was refused is allowed on the plugin's card, and taken back", async ({ open }) => {
  const page = await open();
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
    await expect(card.locator("button[aria-disabled=false]", { hasText: words }).first()).toBeVisible();
  };
  const folders = (...all) => page.evaluate((folders) => globalThis.fake.plugins.change("notes", { folders }), all);
  const reports = { path: "/home/ada/Reports", write: false, setting: "" };
  await expect(card.getByText("It may not read /home/ada/Reports")).toBeVisible();
  await ready("Allow reading");
  await card.getByRole("button", { name: "Allow reading /home/ada/Reports" }).click();
  expect(await given(page, "Plugins.GrantFolder")).toEqual([["notes", "/home/ada/Reports", false]]);
  await folders(reports);
  await expect(card.getByText("may read", { exact: true })).toBeVisible();
  await expect(card.getByText("It may not read /home/ada/Reports")).toHaveCount(0);
  await folders(reports, { path: "/home/ada/Out", write: true, setting: "" });
  await expect(card.getByText("may read and write", { exact: true })).toBeVisible();
  await card.getByRole("button", { name: "Revoke /home/ada/Out" }).click();
  expect(await given(page, "Plugins.RevokeFolder")).toEqual([["notes", "/home/ada/Out"]]);
  await folders(reports);
  await expect(card.getByText("It may not write to /home/ada/Out")).toBeVisible();
});

test("how many calls of a plugin run at once is set on its card", async ({ open }) => {
  const page = await open();
  await page.getByRole("tab", { name: /^Plugins/ }).click();
  const card = page.locator("[data-plugin=notes]");
  await card.getByText("Settings", { exact: true }).click();
  const number = card.getByLabel("Calls at once");
  await expect(number).toHaveValue("");
  await expect(number).toHaveAttribute("placeholder", "4");
  await number.fill("12");
  await number.press("Enter");
  await page.evaluate(() => globalThis.fake.plugins.change("notes", { at_once: 12, at_once_set: true }));
  await expect(number).toHaveValue("12");
  await number.fill("99");
  await number.press("Enter");
  await noticed(page, "Enter a whole number from 1 to 32, or nothing for the default.");
  await expect(number).toHaveValue("12");
  await number.fill("");
  await number.press("Enter");
  expect(await given(page, "Plugins.SetRunning")).toEqual([
    ["notes", 12, false, false],
    ["notes", 0, false, false],
  ]);
});

test("what a plugin may reach is given and taken back in one sheet", async ({ open }) => {
  const page = await open();
  await page.getByRole("tab", { name: /^Plugins/ }).click();
  const reach = async (id) => {
    await page
      .locator(`[data-plugin=${id}]`)
      .getByRole("button", { name: /^More for/ })
      .click();
    await page.getByRole("menuitem", { name: "What it may reach…" }).click();
    await expect(page.getByRole("dialog")).toBeVisible();
  };
  await reach("notes");
  await expect(page.getByLabel("Folder or file")).toBeFocused();
  await page.keyboard.type("~/Letters");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space"); // to write too
  await page.getByRole("button", { name: "Allow folder" }).click();
  expect(await given(page, "Plugins.GrantFolder")).toEqual([["notes", "~/Letters", true]]);
  await page.getByLabel("Host", { exact: true }).fill("api.example.org");
  await page.keyboard.press("Enter");
  expect(await given(page, "Plugins.AllowHost")).toEqual([["notes", "api.example.org", false]]);
  await page.getByLabel("Program", { exact: true }).fill("make");
  await page.keyboard.press("Enter");
  expect(await given(page, "Plugins.AllowProgram")).toEqual([["notes", "make"]]);
  await page.getByRole("button", { name: "Revoke /usr/bin/git" }).click();
  expect(await given(page, "Plugins.RevokeProgram")).toEqual([["notes", "/usr/bin/git"]]);
  expect(await page.getByRole("heading", { name: "Secrets" }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);

  await reach("dice");
  await expect(page.getByText("sent only to api.example.org, api.example.net")).toBeVisible();
  const give = page.getByRole("button", { name: "Add secret" });
  await page.getByLabel("Name", { exact: true }).fill("moon");
  await page.getByLabel("Secret", { exact: true }).fill("0123456789");
  await expect(give).toBeDisabled(); // it names no host
  await page.getByLabel("Hosts it may be sent to").fill("a.example, b.example");
  await give.click();
  expect(await given(page, "Plugins.GiveSecret")).toEqual([["dice", "moon", "0123456789", ["a.example", "b.example"]]]);
  expect(await page.getByLabel("Secret", { exact: true }).inputValue()).toBe("");
  await page.getByRole("button", { name: "Revoke weather" }).click();
  expect(await given(page, "Plugins.ForgetSecret")).toEqual([["dice", "weather"]]);
});

test("what a plugin lists for the first time is no alteration, and is read before it is offered", async ({ open }) => {
  const page = await open("approval");
  await page.evaluate(() => {
    const { plugins } = globalThis.fake;
    const after = "Sends a mail to one person you name.";
    plugins.changes.set("mail", [{ tool: "send", field: "listed", before: "", after }]);
    plugins.change("mail", { shown: "4c1d0a7b11ff" });
  });
  const card = page.locator("[data-plugin=mail]");
  await expect(card.getByText("Mail has listed its tools")).toBeVisible();
  await expect(card.getByText("send: offered to models")).toBeVisible();
  await expect(card.getByText("Sends a mail to one person you name.")).toBeVisible();
  expect(await card.getByText(/changed|Keep the old version/i).count()).toBe(0);
  await believe(card, "Approve these tools");
  expect(await given(page, "Plugins.Approve")).toEqual([["mail", "4c1d0a7b11ff", false, false]]);
});

test("what is read before a plugin is approved stays as it is while notices come", async ({ open }) => {
  const page = await open("approval");
  const card = page.locator("[data-plugin=weather]");
  const tool = card.locator("details").filter({ hasText: "Forecast" });
  await tool.locator("summary").click();
  await tool.locator("pre").focus();
  await page.evaluate(() => {
    const { bus, plugins } = globalThis.fake;
    const { Show } = plugins;
    plugins.Show = (id) => ((globalThis.shown = id), Show.call(plugins, id));
    plugins.change("weather", { load_ms: 7 });
    bus.changed("plugins");
    plugins.change("mail", { shown: "4c1d0a7b11ff" });
  });
  // The other one's digest is another: its card alone is read again.
  await page.waitForFunction(() => globalThis.shown === "mail");
  await expect(tool.locator("pre")).toBeFocused();
});

test("a key names its provider, and is never shown", async ({ open }) => {
  const page = await open("welcome");
  await page.getByRole("button", { name: "Paste a key" }).click();
  await page.getByLabel("Key", { exact: true }).fill("sk-ant-secret");
  await expect(page.getByText("This looks like a key of Anthropic.")).toBeVisible();
  expect(await page.getByLabel("Key", { exact: true }).getAttribute("type")).toBe("password");
  await page.getByRole("button", { name: "Save and test" }).click();
  const [[, edit]] = await given(page, "Models.Save");
  expect([edit.kind, edit.key]).toEqual(["anthropic", "sk-ant-secret"]);
  expect((await page.content()).includes("sk-ant-secret")).toBeFalsy();
});

test("local servers are looked for on request", async ({ open }) => {
  const page = await open("welcome");
  await page.getByRole("button", { name: "Look for local models" }).click();
  await expect(page.getByText("0.9.2 · 3 models")).toBeVisible();
  await page.getByRole("button", { name: "Use", exact: true }).click();
  const [[, edit]] = await given(page, "Models.Save");
  expect([edit.kind, edit.url]).toEqual(["ollama", "http://127.0.0.1:11434"]);
});
