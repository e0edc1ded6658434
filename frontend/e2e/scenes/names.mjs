// Every screen with names of 90 characters: nothing leaves the window, nothing covers a control.
import { fits, lost } from "../fits.mjs";
import { palette, settled } from "../page.mjs";
import { expect, test } from "../scene.mjs";
import { others, states } from "../states.mjs";

const settings = (name) => async (page) => {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name, exact: true }).click();
  await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
};

const screens = {
  chat: async (page) => {
    await expect(page.getByText("Good. Keep it short next time.")).toBeVisible();
    if (page.viewportSize().width < 880) return;
    const foot = page.getByRole("button", { name: "Settings", exact: true });
    await foot.click();
    await expect(page.getByRole("heading", { name: "General" })).toBeVisible();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Pause all tools" }).click();
    await page.getByRole("button", { name: "Tools are paused. Resume" }).first().click();
    await expect(page.getByRole("button", { name: "Pause all tools" })).toBeVisible();
  },
  welcome: async (page) => {
    await page.keyboard.press("Control+n");
    await expect(page.locator(".welcome")).toBeVisible();
  },
  tools: async (page) => {
    await palette(page, "show tools");
    await expect(page.getByRole("tabpanel", { name: /^Tools/ })).toBeVisible();
  },
  plugins: async (page) => {
    await palette(page, "show plugins");
    await expect(page.getByRole("tabpanel", { name: /^Plugins/ })).toBeVisible();
  },
  models: async (page) => {
    await page.getByRole("button", { name: /^Model: / }).click();
    await expect(page.getByPlaceholder("Search models")).toBeVisible();
  },
  permission: (page) => expect(page.getByRole("button", { name: "Allow once" })).toBeVisible(),
  ...Object.fromEntries(
    ["General", "Models", "Permissions", "Plugins", "Council presets", "Keys and shortcuts", "About"].map((name) => [
      `settings, ${name}`,
      settings(name),
    ]),
  ),
};

for (const [name, act] of Object.entries(screens))
  for (const width of [720, 1280])
    test(`names of 90 characters leave every control in reach: ${name}, ${width} wide`, async ({ open }) => {
      const scene = name === "permission" ? "longrequest" : "longnames";
      const page = await open(scene, { width, height: 700 });
      await act(page);
      await settled(page); // a column slides in
      expect(await lost(page)).toEqual([]);
    });

test("a name that is cut shows all of itself to the pointer and to the keyboard", async ({ open }) => {
  const page = await open("longnames");
  const row = page.locator("[data-chat-row]").first();
  const name = (await row.locator(".cut").first().innerText()).trim();
  expect(name.length).toBeGreaterThanOrEqual(90);
  const hint = page.locator(".tip");
  await row.hover();
  await expect(hint).toContainText(name);
  await page.mouse.move(700, 400);
  await expect(hint).toHaveCount(0);
  await page.getByRole("searchbox", { name: "Search chats" }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(row).toBeFocused();
  await expect(hint).toContainText(name);
  await expect(row).not.toHaveAttribute("title"); // the system shows none meanwhile
  await page.keyboard.press("Escape");
  await expect(hint).toHaveCount(0);
});

/** A state of each list, card, dialog and page that shows names. */
const shown = [
  ...[
    "permission",
    "permission-more",
    "batch",
    "tainted",
    "approval",
    "permissions",
    "permissionrule",
    "activity-changes",
  ],
  ...["slash", "resources", "prompt", "question", "welcome", "tool", "states", "pluginerror", "packages", "addplugin"],
  ...["models", "palette", "reach", "project-dialog", "info", "hooks-all", "presets", "councilset", "councilreview"],
  "counciltwelve",
];

for (const name of shown)
  test(`names of 90 letters, in Arabic, Chinese and emoji fit at 100 and 200 %: ${name}`, async ({ open }) => {
    const { scene, act, ...size } = { ...states, ...others }[name];
    const page = await open(scene, size);
    await act?.(page);
    await fits(page);
  });
