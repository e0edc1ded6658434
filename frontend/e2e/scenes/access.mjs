// Contrast by arithmetic, and axe on every screen in both themes.
import { others, states } from "../states.mjs";
import { accessibleInBoth, scrolled, settings, settled } from "../page.mjs";
import { expect, test } from "../scene.mjs";

/** Of the other states those that are looked at as they are. */
const looked = [
  ...["welcome", "chat", "showcase", "states", "pluginerror", "packages", "addplugin", "palette"],
  ...["general", "models", "keys"],
];

const screens = {
  ...Object.fromEntries(
    [
      "council",
      "councilempty",
      "councilset",
      "councilproblems",
      "councillive",
      "councilpermission",
      "councilasking",
      "councilfailed",
      "councilinterrupted",
      "councilvote",
    ].map((scene) => [
      scene,
      {
        scene,
        act: async (page) => {
          await expect(page.locator(".council .use")).toBeVisible();
          await settled(page, { arming: false });
          const lane = page.locator("[data-lane] .who").first();
          if (await lane.count()) await lane.click();
          const member = page.locator("[data-member] .who").first();
          if (await member.isVisible()) await member.click();
        },
      },
    ]),
  ),
  "what a member was told": {
    scene: "council",
    act: async (page) => {
      await page.getByRole("button", { name: "More for the lane of Sceptic" }).click();
      await page.getByRole("menuitem", { name: "What did Sceptic see?" }).click();
      await expect(page.getByRole("dialog").getByText("garden.pdf")).toBeVisible();
    },
  },
  "a run as a table": {
    scene: "councilasking",
    act: async (page) => {
      await page.getByRole("button", { name: "As a table" }).click();
      await expect(page.getByRole("table")).toBeVisible();
    },
  },
  prices: {
    scene: "chat",
    act: async (page) => {
      await settings(page, "Prices");
      await page.getByRole("button", { name: "Add a price" }).click();
      await expect(page.getByRole("textbox", { name: "Model", exact: true })).toBeVisible();
    },
  },
  "council presets": {
    scene: "councilpresets",
    act: async (page) => {
      await settings(page, "Council presets");
      await page.getByRole("button", { name: "More for My reviewers" }).click();
      await page.getByRole("menuitem", { name: "Rename…" }).click();
      await expect(page.getByLabel("New name for My reviewers")).toBeVisible();
    },
  },
};

// Pairs of the themes' colours: text on surface, and the ratio each must reach.
const surfaces = ["bg", "surface", "raised", "sunk"];
const pairs = [
  ...[
    "text",
    "text-2",
    "text-3",
    "accent",
    "link",
    "code-keyword",
    "code-string",
    "code-constant",
    "code-variable",
    "code-builtin",
    "code-name",
    "code-type",
    "code-comment",
    "code-deleted",
  ].flatMap((t) => surfaces.map((on) => [t, on, 4.5])),
  ...surfaces.map((on) => ["line-strong", on, 3]),
  ...surfaces.map((on) => ["focus", on, 3]),
  ["on-accent", "accent", 4.5],
  ["on-danger", "danger", 4.5],
  ["accent", "accent-tint", 4.5],
  ["text", "accent-tint", 4.5],
  ["text", "warn-tint", 4.5],
  ["text-2", "warn-tint", 4.5],
  ["text", "danger-tint", 4.5],
  ["text-2", "danger-tint", 4.5],
  ["ok", "ok-tint", 4.5],
  ["warn", "warn-tint", 4.5],
  ["danger", "danger-tint", 4.5],
  ["ok", "surface", 4.5],
  ["warn", "surface", 4.5],
  ["danger", "surface", 4.5],
];

const contrast = (page) =>
  page.evaluate((pairs) => {
    const style = getComputedStyle(document.documentElement);
    const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const luminance = (token) => {
      const probe = document.createElement("i");
      probe.style.color = style.getPropertyValue(`--${token}`);
      document.body.append(probe);
      const [r, g, b] = getComputedStyle(probe)
        .color.match(/[\d.]+/g)
        .map((n) => channel(n / 255));
      probe.remove();
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return pairs
      .map(([a, b, least]) => {
        const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m);
        return [a, b, least, (x + 0.05) / (y + 0.05)];
      })
      .filter(([, , least, ratio]) => ratio < Math.floor(least * 10) / 10 - 0.05)
      .map(([a, b, least, ratio]) => `${a} on ${b}: ${ratio.toFixed(2)} < ${least}`);
  }, pairs);

for (const theme of ["light", "dark", "contrast"])
  test(`contrast of every text on every surface, ${theme}`, async ({ open }) => {
    expect(await contrast(await open("chat", { theme }))).toEqual([]);
  });

for (const [name, { scene, act }] of [
  ...Object.entries(states).filter(([name]) => name !== "permission-deny"), // a menu, which like all stands outside the landmarks
  ...looked.map((name) => [name, others[name]]),
  ...Object.entries(screens),
])
  test(`axe finds nothing in both themes: ${name}`, async ({ open }) => {
    const page = await open(scene);
    await act?.(page);
    await accessibleInBoth(page);
  });

test("forced colours keep borders on controls", async ({ open }) => {
  const page = await open();
  await page.emulateMedia({ forcedColors: "active" });
  const border = await page
    .getByRole("button", { name: "New chat" })
    .first()
    .evaluate((b) => getComputedStyle(b).borderTopStyle);
  expect(border).toBe("solid");
});

test("text at 200 % and a right-to-left page lose nothing sideways", async ({ open }) => {
  const page = await open();
  await page.evaluate(() => {
    document.documentElement.style.fontSize = "200%";
    document.documentElement.dir = "rtl";
  });
  await settled(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBeTruthy();
  // At this size the code is above the view, where nothing is drawn.
  // In the narrow column that is left, the button that leads to the end lies over the middle.
  await page.locator(".scroller").hover({ position: { x: 20, y: 20 } });
  const code = page.locator("figure.code pre").first();
  for (let i = 0; i < 100 && (await code.count()) === 0; i++) await scrolled(page, () => page.mouse.wheel(0, -500));
  expect(await code.evaluate((e) => getComputedStyle(e).direction)).toBe("ltr");
});
