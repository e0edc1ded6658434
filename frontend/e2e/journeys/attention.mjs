// What asks for the person is found in one place, and what does not stays out of the way.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { armed, palette } from "../page.mjs";
import { expect, test } from "../person.mjs";

test.use({ models: ["talker"] }); // and so a home of its own, where nothing else waits

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

const note = { name: "write_note", arguments: { path: "a.md", text: "b" } };

test.beforeAll(({ server }) => {
  Object.assign(server.answers, {
    "Note the tide": { text: "", call: note },
    "Note the wind": { text: "", call: note },
  });
});

const field = (page) => page.getByPlaceholder("Message Conclave");
const row = (page, title) => page.locator("[data-chat-row]").filter({ hasText: title });
const inbox = (page, name) => page.getByRole("button", { name, exact: true });
const hint = (page) => page.locator(".tip");

/** Waits as long as a hint takes to come, by the clock that brings it: one that was to come has come. */
const patiently = (page) => page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 600)));

test("all that waits for the person is in one list, over all chats, and each leads to its place", async ({
  page,
  person,
  place,
}) => {
  await person.newChat();
  await expect(page.getByRole("button", { name: /waits? for you$/ })).toHaveCount(0);
  for (const text of ["Note the tide", "Note the wind"]) {
    await person.newChat();
    await person.write(text);
    await expect(page.getByRole("button", { name: "Allow once" })).toBeVisible();
  }
  writeFileSync(
    join(place.plugins, "harbour.py"),
    'def berths() -> int:\n    """Count the berths."""\n    return 14\n',
  );
  await person.newChat();
  await inbox(page, "3 things wait for you").click();
  const list = page.getByRole("complementary").getByRole("list").filter({ hasText: "harbour" });
  await expect(list.getByRole("listitem")).toHaveCount(3);
  await person.reads(list, /in “Note the tide”/, /in “Note the wind”/, /harbour/);
  await list
    .getByRole("listitem")
    .filter({ hasText: "in “Note the tide”" })
    .getByRole("button", { name: /^Answer/ })
    .click();
  await expect(page.getByRole("heading", { level: 1, name: "Note the tide" })).toBeVisible();
  await armed(page, "Allow once");
  await page.getByRole("button", { name: "Allow once" }).click();
  await expect(page.getByText("That was the tool.")).toBeVisible();
  await inbox(page, "2 things wait for you").click();
  await list.getByRole("button", { name: /^Review\b.*harbour$/ }).click();
  await expect(page.getByRole("tab", { name: "Plugins" })).toHaveAttribute("aria-selected", "true");
  await row(page, "Note the wind").click();
  await page.getByRole("button", { name: "Not now" }).click();
  await expect(inbox(page, "1 thing waits for you")).toBeVisible();
});

test("a hint is never over an open menu", async ({ page }) => {
  const button = page.getByRole("button", { name: "More for this chat" });
  await button.hover();
  await expect(hint(page)).toHaveText("More for this chat");
  await button.click();
  await expect(page.getByRole("menu")).toBeVisible();
  await expect(hint(page)).toHaveCount(0);
  for (const element of [page.getByRole("menuitem").first(), page.getByRole("menuitem").nth(1)]) {
    await element.hover();
    await patiently(page);
    await expect(hint(page)).toHaveCount(0);
  }
  const box = await button.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await patiently(page);
  await expect(hint(page)).toHaveCount(0);
  await expect(page.getByRole("menu")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("menu")).toHaveCount(0);
});

test("what is typed right after Ctrl+K is the palette's, however late it is drawn", async ({ person, server }) => {
  await person.restart();
  const { page } = person;
  let letGo;
  const gate = new Promise((resolve) => (letGo = resolve));
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await gate;
    await route.continue();
  });
  const asked = server.asked.length;
  await field(page).focus();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("theme: dark");
  await page.keyboard.press("Enter");
  letGo();
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await page.unroute(/\/assets\/.*\.js$/);
  await expect(field(page)).toHaveValue("");
  expect(server.asked.length).toBe(asked);
  await palette(page, "theme: light");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
});

test("the panel says that the next message asks the council where it will", async ({ person }) => {
  const { page } = person;
  await person.newChat();
  await palette(page, "show the council");
  await expect(page.getByText("No members yet.")).toBeVisible();
  const asks = page.getByText("The next message you send asks the council.");
  await page.getByRole("button", { name: "Add member" }).click();
  await expect(page.locator("[data-member]")).toHaveCount(1);
  const use = page.getByRole("switch", { name: "Council in this chat" });
  if ((await use.getAttribute("aria-checked")) !== "true") {
    await expect(asks).toHaveCount(0);
    await use.click();
  }
  await expect(asks).toBeVisible();
  await use.click();
  await expect(asks).toHaveCount(0);
});

test("Ctrl+Shift+P shows a new plugin with its name, and has its question for a heading", async ({ person }) => {
  const { page } = person;
  await page.setViewportSize({ width: 1440, height: 480 });
  await page.keyboard.press("Control+Shift+P");
  const its = page.locator('[data-plugin="harbour"]');
  await expect(its.getByRole("heading", { name: "“harbour” is new" })).toBeFocused();
  await expect(its.getByRole("heading", { name: "harbour", exact: true })).toBeInViewport();
});
