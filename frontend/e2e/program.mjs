// The whole program, end to end: the window's real program under Xvfb, its real
// bindings served to Chromium by Wails' development build, real plugins in real
// processes, in light and dark.
//
//   node e2e/program.mjs [folder for pictures]
//
// It needs build/bin/conclave, build/bin/conclave-worker, build/bin/conclave-dev (tags dev,webkit2_41) and
// frontend/dist; .ci/test builds them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./harness.mjs";
import { Person } from "./person.mjs";
import { Place, devProgram, perform, pictures, until } from "./processes.mjs";

const shots = pictures();
const place = new Place();

const steps = {};
const test = (name, run) => (steps[name] = run);

let browser, person, page, app;

async function open(colorScheme) {
  await person.open(app, { width: 1440, colorScheme });
  page = person.page;
}

const wordCount = `def word_count(text: str) -> int:
    """Count the words of a text.

    Args:
        text: The text to count.
    """
    return len(text.split())
`;

for (const [chip, seen] of Object.entries({
  "Show me a permission request": () =>
    page.getByRole("article").getByText(/To show you|I will ask/),
  "Run a sample council": () => page.getByRole("article").getByText(/plays the chair/),
  "Make a plugin": () => page.getByRole("dialog", { name: "New plugin" }),
  "Connect a model": () => page.getByRole("heading", { name: "Models", exact: true }),
})) {
  test(`F105 the chip “${chip}” does what it says`, async () => {
    await page.keyboard.press("Control+n");
    await page.getByRole("button", { name: chip }).first().click();
    await seen().waitFor();
    await page.keyboard.press("Escape");
    await until("the answer to end", async () => {
      const going = page.getByRole("button", { name: "Stop", exact: true });
      return (await going.count()) === 0;
    });
  });
}

test("a script dropped into the plugins folder waits for the person", async () => {
  writeFileSync(join(place.plugins, "word_count.py"), wordCount);
  await page.getByRole("tab", { name: "Plugins" }).click();
  await page.getByText("word_count").first().waitFor();
  await page
    .getByRole("button", { name: /^Approve/ })
    .first()
    .waitFor();
  await person.picture("plugin-waits");
});

test("once approved its tool is there", async () => {
  await page
    .getByRole("button", { name: /^Approve/ })
    .first()
    .click();
  await page.getByRole("tab", { name: "Tools" }).click();
  await page.getByText("word_count").first().waitFor();
  await page.getByText("1 tool", { exact: true }).first().waitFor(); // the composer offers it
});

test("a call asks the person, and the answer holds the result", async () => {
  await person.write('/tool word_count {"text":"a b c"}');
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  await person.picture("permission");
  await until("the button to arm", () => allow.isEnabled());
  await allow.click();
  await page.getByRole("article").filter({ hasText: /\b3\b/ }).first().waitFor();
  await person.picture("tool-card");
});

test("Markdown comes with a highlighted code block and a table", async () => {
  await person.write("Show me Markdown");
  await page.locator("article table").first().waitFor();
  await page.locator("article pre code span[class]").first().waitFor();
  await until(
    "the end of the answer",
    async () => (await page.getByRole("button", { name: /Stop/ }).count()) === 0,
  );
  await person.picture("markdown-light");
});

test("stopping keeps what was said", async () => {
  await person.write("/slow 30");
  const stop = page.getByRole("button", { name: /Stop/ }).first();
  await stop.waitFor();
  await page.waitForFunction(
    () => [...document.querySelectorAll("article")].at(-1)?.innerText.length > 60,
  );
  await stop.click();
  await page
    .getByText(/stopped/i)
    .first()
    .waitFor();
  await person.picture("stopped");
});

test("a broken save keeps the old tool and shows the line", async () => {
  writeFileSync(join(place.plugins, "word_count.py"), `${wordCount}\ndef broken(:\n`);
  await page.getByRole("tab", { name: "Plugins" }).click();
  await page
    .getByText(/SyntaxError/)
    .first()
    .waitFor();
  await person.picture("plugin-broken");
  await page.getByRole("tab", { name: "Tools" }).click();
  await page.getByText("word_count").first().waitFor();
});

/** Makes a list of what a person can press, and takes down what Tab reaches. */
async function unreachable() {
  const controls = await page.evaluate(() => {
    const kinds =
      "button, a[href], input, textarea, summary, [role=button], [role=tab], [role=switch], [role=link]";
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
  if (controls < 8) throw new Error(`only ${controls} controls are on the screen`);
  for (let i = 0; i < 500; i++) {
    await page.keyboard.press("Tab");
    const left = await page.evaluate(
      () => [...globalThis.tabbed.wanted].filter((e) => e.isConnected).length,
    );
    if (left === 0) break;
  }
  return page.evaluate(() =>
    [...globalThis.tabbed.wanted]
      .filter((e) => e.isConnected)
      .map(
        (e) => e.getAttribute("aria-label") ?? (e.textContent.trim() || e.outerHTML.slice(0, 120)),
      ),
  );
}

for (const [name, go] of Object.entries({
  "the chat and its tools": async () => {
    await page.getByRole("tab", { name: "Tools" }).click();
  },
  "the plugins": async () => {
    await page.getByRole("tab", { name: "Plugins" }).click();
  },
  "the settings": async () => {
    await page.keyboard.press("Control+,");
    await page.getByRole("heading", { name: "General" }).waitFor();
  },
  "the settings of models": async () => {
    await page.getByRole("button", { name: "Models", exact: true }).click();
  },
})) {
  test(`every control of ${name} is reached by Tab`, async () => {
    await go();
    const left = await unreachable();
    if (left.length > 0) throw new Error(`Tab does not reach: ${left.join("; ")}`);
  });
}

test("Esc leads from the settings back to writing", async () => {
  await page.keyboard.press("Escape");
  await page.getByPlaceholder("Message Conclave").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
});

test("everything is there after a restart, in the dark too", async () => {
  await page.evaluate(() => window.go.window.Settings.Set({ theme: "dark" }));
  await page.close();
  await place.end(app.child);
  await place.free();
  app = await devProgram(place);
  await open("dark");
  await page.getByText("/slow 30").first().waitFor();
  await person.picture("restarted-dark");
  await page.getByRole("region", { name: "Conversation" }).press("Home");
  await page.getByText("/tool word_count").last().waitFor();
  await person.picture("restarted-dark-top");
  if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
});

test("the page met no error of its own", async () => {
  if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
});

await perform(place, steps, {
  begin: async () => {
    await place.screen();
    await place.bus();
    browser = await launch();
    app = await devProgram(place);
    person = new Person(browser, { folder: shots, begin: "program" });
    await open("light");
  },
  onfail: (n) => person.picture(`failed-${n}`).catch(() => {}),
  ends: () => [browser],
});
