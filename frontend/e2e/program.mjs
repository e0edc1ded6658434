// The whole program, end to end: its first screen, a plugin, a call and an answer, everything that Tab
// reaches, and a restart in the dark.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./person.mjs";

test.use({ plugins: {}, connected: false });

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

const wordCount = `def word_count(text: str) -> int:
    """Count the words of a text.

    Args:
        text: The text to count.
    """
    return len(text.split())
`;

for (const [words, seen] of Object.entries({
  "Show me a permission request": (page) => page.getByRole("article").getByText(/To show you|I will ask/),
  "Run a sample council": (page) => page.getByRole("article").getByText(/plays the chair/),
  "Make a plugin": (page) => page.getByRole("dialog", { name: "New plugin" }),
  "Paste a key": (page) => page.getByRole("heading", { name: "Models", exact: true }),
})) {
  test(`the button “${words}” does what it says`, async ({ page }) => {
    await page.keyboard.press("Control+n");
    await page.getByRole("button", { name: words }).first().click();
    await expect(seen(page)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "Stop", exact: true })).toHaveCount(0);
  });
}

test("a script dropped into the plugins folder waits for the person", async ({ page, place }) => {
  writeFileSync(join(place.plugins, "word_count.py"), wordCount);
  await page.getByRole("tab", { name: "Plugins" }).click();
  await expect(page.getByText("word_count").first()).toBeVisible();
  await expect(page.getByRole("button", { name: /^Approve/ }).first()).toBeVisible();
});

test("once approved its tool is there", async ({ page }) => {
  await page
    .getByRole("button", { name: /^Approve/ })
    .first()
    .click();
  await page.getByRole("tab", { name: "Tools" }).click();
  await expect(page.getByText("word_count").first()).toBeVisible();
  await expect(page.getByText("1 tool", { exact: true }).first()).toBeVisible(); // the composer offers it
});

test("a call asks the person, and the answer holds the result", async ({ page, person }) => {
  await person.write('/tool word_count {"text":"a b c"}');
  const allow = page.getByRole("button", { name: "Allow once" });
  await expect(allow).toBeVisible();
  await expect(allow).toBeEnabled();
  await allow.click();
  await expect(page.getByRole("article").filter({ hasText: /\b3\b/ }).first()).toBeVisible();
});

test("Markdown comes with a highlighted code block and a table", async ({ page, person }) => {
  await person.write("Show me Markdown");
  await expect(page.locator("article table").first()).toBeVisible();
  await expect(page.locator("article pre code span[class]").first()).toBeVisible();
  await expect(page.getByRole("button", { name: /Stop/ })).toHaveCount(0);
});

test("the terminal writes the chat as a web page, which the window's program draws", async ({ person }) => {
  const [chat] = person.place.told("chats", "list", "--json");
  const page = person.place.told("chats", "export", chat.id, "--format", "html");
  expect(page).toMatch(/^<!doctype html>[^]*figure\.code [^]*<table>[^]*<pre[^]*<\/html>\n$/);
});

test("an own prompt is asked for its places, and earlier messages come back into the field", async ({ page }) => {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Prompts", exact: true }).click();
  await page.getByRole("button", { name: "New prompt" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Letter");
  await page.getByLabel("Text", { exact: true }).fill("Write to {{name}}, {{tone:choice(kind, firm)}}.");
  await expect(page.getByRole("dialog").getByText("tone: choice")).toBeVisible();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Back to chats" }).click();
  const field = page.getByPlaceholder("Message Conclave");
  await field.fill("/lett");
  await expect(page.getByRole("option", { name: /Letter/ })).toBeVisible();
  await field.press("Enter");
  await page.getByLabel("name", { exact: true }).fill("Ada");
  await page.getByRole("button", { name: "Put into the message" }).click();
  await expect(field).toHaveValue("Write to Ada, kind.");

  await field.press("Control+ArrowUp");
  await expect(field).toHaveValue("Show me Markdown");
  await field.press("ArrowDown");
  await expect(field).toHaveValue("Write to Ada, kind.");
  await field.fill("");
  await page.getByRole("button", { name: /About .* tokens?/ }).click();
  await expect(page.getByText("The numbers are estimates.")).toBeVisible();
  await page.keyboard.press("Escape");
});

test("stopping keeps what was said", async ({ page, person }) => {
  await person.write("/slow 30");
  const stop = page.getByRole("button", { name: /Stop/ }).first();
  await expect(stop).toBeVisible();
  await page.waitForFunction(() => [...document.querySelectorAll("article")].at(-1)?.innerText.length > 60);
  await stop.click();
  await expect(page.getByText(/stopped/i).first()).toBeVisible();
});

test("a broken save keeps the old tool and shows the line", async ({ page, place }) => {
  writeFileSync(join(place.plugins, "word_count.py"), `${wordCount}\ndef broken(:\n`);
  await page.getByRole("tab", { name: "Plugins" }).click();
  await expect(page.getByText(/SyntaxError/).first()).toBeVisible();
  await page.getByRole("tab", { name: "Tools" }).click();
  await expect(page.getByText("word_count").first()).toBeVisible();
});

/** Makes a list of what a person can press, and takes down what Tab reaches. */
async function unreachable(page) {
  const controls = await page.evaluate(() => {
    const kinds = "button, a[href], input, textarea, summary, [role=button], [role=tab], [role=switch], [role=link]";
    // In these, the arrow keys go from one to the next, and Tab goes past them.
    const roving = "[role=tablist], [role=menu], [role=listbox], [role=toolbar], [role=radiogroup]";
    const shown = (e) =>
      e.checkVisibility({ visibilityProperty: true }) && // false within closed details
      !e.disabled &&
      !e.closest("[inert], [aria-hidden=true]");
    const wanted = [...document.querySelectorAll(kinds)].filter(
      (e) => shown(e) && !(e.tabIndex < 0 && e.closest(roving)) && e.type !== "radio",
    );
    globalThis.tabbed = { wanted: new Set(wanted), presses: 0 };
    document.addEventListener("focusin", (e) => globalThis.tabbed.wanted.delete(e.target), true);
    document.activeElement?.blur();
    return wanted.length;
  });
  expect(controls).toBeGreaterThanOrEqual(8);
  for (let i = 0; i < 500; i++) {
    await page.keyboard.press("Tab");
    const left = await page.evaluate(() => [...globalThis.tabbed.wanted].filter((e) => e.isConnected).length);
    if (left === 0) break;
  }
  return page.evaluate(() =>
    [...globalThis.tabbed.wanted]
      .filter((e) => e.isConnected)
      .map((e) => e.getAttribute("aria-label") ?? (e.textContent.trim() || e.outerHTML.slice(0, 120))),
  );
}

for (const [name, go] of Object.entries({
  "the chat and its tools": (page) => page.getByRole("tab", { name: "Tools" }).click(),
  "the plugins": (page) => page.getByRole("tab", { name: "Plugins" }).click(),
  "the settings": async (page) => {
    await page.keyboard.press("Control+,");
    await expect(page.getByRole("heading", { name: "General" })).toBeVisible();
  },
  "the settings of models": (page) => page.getByRole("button", { name: "Models", exact: true }).click(),
})) {
  test(`every control of ${name} is reached by Tab`, async ({ page }) => {
    await go(page);
    expect(await unreachable(page), "Tab does not reach").toEqual([]);
  });
}

test("Esc leads from the settings back to writing", async ({ page }) => {
  await page.keyboard.press("Escape");
  await expect(page.getByPlaceholder("Message Conclave")).toBeVisible();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
});

test("everything is there after a restart, in the dark too", async ({ person }) => {
  await person.page.evaluate(() => window.go.window.Settings.Set({ theme: "dark" }));
  await person.restart("dark");
  const { page } = person;
  await expect(page.getByText("/slow 30").first()).toBeVisible();
  await page.getByRole("region", { name: "Conversation" }).press("Home");
  await expect(page.getByText("/tool word_count").last()).toBeVisible();
  expect(person.errors).toEqual([]);
});
