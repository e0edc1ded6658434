// A council on the real program: the sample run, watched, read, replayed and looked into, by
// keyboard where a keyboard does.
import { calledByEach, crew, install, letWeatherBeTold } from "../ecosystems.mjs";
import { accessible, palette, tabTo } from "../page.mjs";
import { expect, test } from "../person.mjs";

const over = (page) =>
  page.waitForFunction(() => document.querySelector("[data-lane]") && !document.querySelector("button.stop"));
// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

test("a sample council deliberates: three scripted members, their tools, an answer that cites them", async ({
  page,
  person,
}) => {
  await person.newChat();
  await palette(page, "show the council");
  await page.getByRole("button", { name: "Run a sample council" }).first().click();
  await expect(page.locator("[data-lane]").nth(2)).toBeVisible();
  await over(page);
  await expect(page.getByRole("heading", { name: "What the council found" })).toBeVisible();
  await expect(page.getByRole("button", { name: /^3 members · [\d.]+ m?s · / })).toBeVisible();
});

test("what a member saw is the request as it was sent", async ({ page }) => {
  const lane = page.locator("[data-lane]").first();
  await lane.locator(".who").focus();
  await page.keyboard.press("Enter");
  await lane.locator(".see").first().focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await expect(dialog.locator(".blocks li").first()).toBeVisible();
  await dialog.getByText("Exact request").click();
  const exact = JSON.parse(await dialog.locator(".exact").innerText());
  expect(JSON.stringify(exact).length).toBeGreaterThan(100);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
});

test("a point of the result leads to the words it stands in", async ({ page }) => {
  await page.locator(".point").first().click();
  await page.waitForFunction(() => document.activeElement?.dataset.point !== undefined);
});

test("the run is replayed from its beginning", async ({ page }) => {
  await page.getByRole("slider", { name: "Position in the run" }).focus();
  await page.keyboard.press("Home");
  await expect(page.locator("[data-lane]").getByText("Waiting", { exact: true }).first()).toBeVisible();
  for (let i = 0; i < 3; i++) await page.getByRole("button", { name: /^Speed/ }).click();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(page.getByRole("heading", { name: "What the council found" })).toBeVisible();
});

test("by keys alone four members are added, and each is given a tool of another ecosystem", async ({
  page,
  person,
  place,
}) => {
  await install(place);
  const { keyboard } = page;
  await person.newChat();
  await palette(page, "show the council");
  await expect(page.getByText("No members yet.")).toBeVisible();
  await accessible(page);
  for (const [i, { name }] of crew.entries()) {
    await tabTo(page, "Add member");
    await keyboard.press("Enter");
    const field = page.locator("[data-member] input.field:focus").first();
    await expect(field).toBeVisible();
    await keyboard.press("Control+a");
    await keyboard.type(name);
    await expect(page.locator("[data-member]").nth(i).getByText(name).first()).toBeVisible();
    await keyboard.press("Shift+Tab"); // its menu
    await keyboard.press("Shift+Tab"); // who it is
    await keyboard.press("Enter"); // which folds the form
  }
  for (const { name, tool } of crew) {
    await tabTo(page, `Give ${tool} to…`);
    await keyboard.press("Enter");
    await expect(
      page.getByRole("menuitem", { name: `Give to ${name}` }).last(), // the menu before it may be closing
    ).toBeVisible();
    const at = crew.findIndex((one) => one.name === name);
    for (const [i, other] of crew.slice(0, at + 1).entries()) {
      if (i > 0) await keyboard.press("ArrowDown");
      await expect(page.locator("[data-highlighted]", { hasText: `Give to ${other.name}` }).last()).toBeVisible();
    }
    await keyboard.press("Enter");
    await expect(page.getByRole("button", { name: `Remove ${tool} from ${name}` })).toBeVisible();
  }
  await tabTo(page, "How the members work together");
  await keyboard.press("Enter");
  const marked = page.locator("[role=option][data-highlighted]");
  await expect(marked).toBeVisible();
  await keyboard.press("End");
  await expect(marked.filter({ hasText: "Tools only, no answers" })).toBeVisible();
  await keyboard.press("Enter");
  await expect(page.getByText("Each member runs the tools you gave it")).toBeVisible();
  await tabTo(page, "Council in this chat");
  await keyboard.press("Space");
  await expect(page.getByRole("button", { name: /^Council: 4/ })).toBeVisible();
  await accessible(page);
});

test("by keys alone they are asked, each calls its own tool, and the run is read", async ({ page, place }) => {
  const { keyboard } = page;
  await tabTo(page, "Limits, chair and helper");
  await keyboard.press("Enter");
  await expect(page.getByLabel("Helper model")).toBeVisible();
  await keyboard.press("Escape");
  await expect(page.getByLabel("Message", { exact: true })).toBeFocused();
  await keyboard.type("Where do we land tomorrow?");
  await keyboard.press("Enter");
  await expect(page.locator("[data-lane]").getByText("Using Weather")).toBeVisible();
  await expect(page.locator(".council details[open]")).toHaveCount(0); // what is set made room for the run
  await keyboard.press("Control+j");
  const way = page.getByRole("main").getByRole("button", { name: "Show the council" });
  await way.press("Enter");
  await expect(page.locator("[data-lane]").getByText("Using Weather")).toBeVisible();
  letWeatherBeTold(place);
  await expect(page.getByRole("heading", { name: "What the council found" })).toBeVisible();
  calledByEach(place);
  for (const { name, says } of crew) {
    await tabTo(page, new RegExp(`^.?\\s*${name}\\s*Done\\b`));
    await keyboard.press("Enter");
    await expect(page.locator("[data-lane]", { hasText: name }).getByText(says).first()).toBeVisible();
  }
  await accessible(page);
  await tabTo(page, "Position in the run");
  await keyboard.press("Home");
  await expect(page.locator("[data-lane]").getByText("Waiting", { exact: true }).first()).toBeVisible();
  await keyboard.press("End");
  await tabTo(page, "As a table");
  await keyboard.press("Enter");
  await expect(page.getByRole("table")).toBeVisible();
  await accessible(page);
  await tabTo(page, "As a table");
  await keyboard.press("Enter");
  await keyboard.press("Control+Shift+J");
  await expect(page.getByRole("button", { name: "Show next to the conversation" })).toBeVisible();
  await accessible(page);
  await keyboard.press("Control+Shift+J");
  await tabTo(page, "More for the council");
  await keyboard.press("Enter");
  await expect(page.locator("[role=menuitem][data-highlighted]")).toBeVisible(); // the keyboard is in it
  await keyboard.press("End");
  await expect(
    page.locator("[data-highlighted]", { has: page.getByText("Reset to the shared council") }),
  ).toBeVisible();
  await keyboard.press("Enter");
  await expect(page.getByText("No members yet.")).toBeAttached(); // folded, below it a run
});

test("a preset is set and kept, and the chip says what the next message asks", async ({ page, person }) => {
  await person.newChat();
  // The chat before has a run, and offers presets for itself.
  await expect(page.locator("[data-lane]").first()).toHaveCount(0);
  await page.getByRole("button", { name: /^Three chairs/ }).click();
  await expect(page.getByRole("button", { name: /^Council: 3/ })).toBeVisible();
  await page.getByRole("switch", { name: "Council in this chat" }).click();
  await expect(page.getByRole("button", { name: /^Council: 3/ })).toHaveCount(0);
  // What is set in a chat that has no message yet stays set in it, also over another look at it.
  await page.getByRole("button", { name: "More for the council" }).click();
  await page.getByRole("menuitem", { name: "Reset to the shared council" }).click();
  await expect(page.getByText("No members yet.")).toBeVisible();
});
