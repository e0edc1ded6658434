// The table of what each plugin may do, and trials of a mode and a rule.
import { noticed } from "../page.mjs";
import { expect, test } from "../scene.mjs";

async function opened(page) {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Permissions", exact: true }).click();
  await expect(page.locator("[data-row]").first()).toBeVisible();
}

/** Opens the dialog of a new rule, and says which tool it is about: nothing is chosen before. */
async function ruling(page) {
  await page.getByRole("button", { name: "New rule…" }).click();
  const make = page.getByRole("button", { name: "Create rule" });
  expect(await make.isDisabled()).toBe(true);
  await page.getByLabel("Tool", { exact: true }).click();
  await page.getByRole("option", { name: "Notes: any of its tools" }).click();
}

const focused = (page) => page.evaluate(() => document.activeElement?.textContent?.trim());

test("the table of permissions is read and opened with the keyboard alone", async ({ open }) => {
  const page = await open("grants");
  await opened(page);
  const row = page.locator("tr", { has: page.getByRole("button", { name: "Notes" }) });
  expect((await row.locator("td").allInnerTexts()).slice(0, 5).map((t) => t.replace(/\s+/g, " "))).toEqual([
    "Runs",
    "cannot",
    "cannot",
    "Runs",
    "Runs Council: refused",
  ]);
  await page.locator("[data-row]").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  expect(await focused(page)).toBe("Notes");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Your model: asks, first time this tool runs.").first()).toBeVisible();
  await page.keyboard.press("End");
  expect(await focused(page)).toBe("Wild");
  await page.keyboard.press("Home");
  expect(await focused(page)).toBe("Garden");
});

test("the table is filtered to what was not used, and by name", async ({ open }) => {
  const page = await open("grants");
  await opened(page);
  await page.getByText("Unused for 90 days", { exact: true }).click();
  const rows = page.locator("[data-row]");
  await expect(rows).toHaveCount(1);
  expect(await rows.innerText()).toBe("Notes");
  await page.getByText("All", { exact: true }).click();
  await expect(rows.nth(1)).toBeVisible();
  await page.getByLabel("Filter plugins and rules").fill("mai");
  await expect(rows).toHaveCount(1);
  expect(await rows.innerText()).toBe("Mail");
});

test("a mode is tried before it is used", async ({ open }) => {
  const page = await open("grants");
  await opened(page);
  const mode = () => page.evaluate(() => globalThis.fake.permissions.mode);
  await page.getByText("Careful", { exact: true }).click();
  await expect(page.getByText("31 would have been asked about instead of 4.")).toBeVisible();
  expect(await mode()).toBe("standard");
  await page.getByRole("button", { name: "Use this mode" }).click();
  await noticed(page, "The mode was changed.");
  expect(await mode()).toBe("careful");
});

test("a rule has several conditions, one of some values, a number of calls and an end", async ({ open }) => {
  const page = await open("grants");
  await opened(page);
  await ruling(page);
  const sheet = page.getByRole("dialog");
  await sheet.getByLabel("Argument", { exact: true }).fill("amount");
  await sheet.getByLabel("Value", { exact: true }).fill("20");
  await sheet.getByRole("button", { name: "Add condition" }).click();
  await sheet.getByLabel("Argument", { exact: true }).nth(1).fill("to");
  await sheet.getByLabel("Comparison").nth(1).click();
  await page.getByRole("option", { name: "is one of" }).click();
  await sheet.getByLabel("Values, one per line").fill("ada\nbo");
  await sheet.getByRole("button", { name: "Add condition" }).click();
  await sheet.getByRole("button", { name: "Remove condition 3" }).click();
  await sheet.getByLabel("Maximum calls").fill("3");
  await sheet.getByLabel("Valid until").fill("2999-12-24");
  await sheet.getByRole("button", { name: "Create rule" }).click();
  await noticed(page, "The rule was made: ");
  const [draft] = await page.evaluate(() => globalThis.fake.permissions.drafts);
  expect([draft.match, draft.project, draft.uses, draft.until]).toEqual([
    [
      { field: "amount", op: "equals", value: "20" },
      { field: "to", op: "enum", value: "ada\nbo" },
    ],
    "",
    3,
    "2999-12-24",
  ]);
});

test("a rule is tried before it is made", async ({ open }) => {
  const page = await open("grants");
  await opened(page);
  const rules = () => page.evaluate(() => globalThis.fake.permissions.grants.length);
  const before = await rules();
  await ruling(page);
  await page.getByRole("button", { name: "Test on last week’s calls" }).click();
  await expect(page.getByText("31 would have been asked about instead of 4.")).toBeVisible();
  expect(await rules()).toBe(before);
  await page.getByRole("button", { name: "Create rule" }).click();
  await noticed(page, "The rule was made: ");
  expect(await rules()).toBe(before + 1);
});
