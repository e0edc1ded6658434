// Every screen with names of 90 characters: nothing leaves the window, nothing covers a control.
import { palette, settled } from "../page.mjs";
import { expect, test } from "../scene.mjs";

/** What a person cannot press: it is outside the window, or something lies over its middle. */
const lost = (page) =>
  page.evaluate(() => {
    const kinds = "button, a[href], input, textarea, summary, [role=tab], [role=switch]";
    const shown = (e) =>
      e.checkVisibility({ visibilityProperty: true }) && // not in a closed part
      !e.closest("[inert], [aria-hidden=true], .sr, .veil");
    const over = "[role=dialog], [role=menu], [role=listbox], .dock.floats, .side.floats";
    const open = document.querySelector(over) ?? document;
    const found = [];
    for (const control of open.querySelectorAll(kinds)) {
      if (!shown(control) || control.closest(".more")) continue; // a row's menu shows when pointed at
      control.scrollIntoView({ block: "nearest", inline: "nearest" });
      const box = control.getBoundingClientRect();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const name = (control.getAttribute("aria-label") ?? control.textContent).trim().slice(0, 40);
      if (box.right > innerWidth + 1 || box.left < -1) found.push(`${name}: outside the window`);
      else {
        const top = document.elementFromPoint(x, y);
        const label = control.closest("label");
        const pill = top?.closest(".pill"); // it points at a request, and goes when pressed
        if (top && !pill && !control.contains(top) && !top.contains(control) && !label?.contains(top))
          found.push(`${name}: under ${top.getAttribute("class") ?? top.tagName}`);
      }
    }
    for (const region of document.querySelectorAll("[data-region], .page, .pane, .sheet-body"))
      if (region.scrollWidth > region.clientWidth + 1)
        found.push(`${region.getAttribute("aria-label") ?? region.className}: scrolls sideways`);
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
    return found;
  });

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
