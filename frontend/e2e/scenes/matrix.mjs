// The table of what each plugin may do, and trials of a mode and a rule.
import assert from "node:assert/strict";
import { counts, noticed } from "../harness.mjs";

async function opened(page) {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Permissions", exact: true }).click();
  await page.locator("[data-row]").first().waitFor();
}

/** Opens the dialog of a new rule, and says which tool it is about: nothing is chosen before. */
async function ruling(page) {
  await page.getByRole("button", { name: "New rule…" }).click();
  const make = page.getByRole("button", { name: "Create rule" });
  assert.equal(await make.isDisabled(), true);
  await page.getByLabel("Tool", { exact: true }).click();
  await page.getByRole("option", { name: "Notes: any of its tools" }).click();
}

const focused = (page) => page.evaluate(() => document.activeElement?.textContent?.trim());

export const tests = {
  "the table of permissions is read and opened with the keyboard alone": {
    scene: "grants",
    async run(page) {
      await opened(page);
      const row = page.locator("tr", { has: page.getByRole("button", { name: "Notes" }) });
      assert.deepEqual(
        (await row.locator("td").allInnerTexts()).slice(0, 5).map((t) => t.replace(/\s+/g, " ")),
        ["Runs", "cannot", "cannot", "Runs", "Runs Council: refused"],
      );
      await page.locator("[data-row]").first().focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      assert.equal(await focused(page), "Notes");
      await page.keyboard.press("Enter");
      await page.getByText("Your model: asks, first time this tool runs.").first().waitFor();
      await page.keyboard.press("End");
      assert.equal(await focused(page), "Wild");
      await page.keyboard.press("Home");
      assert.equal(await focused(page), "Garden");
    },
  },

  "the table is filtered to what was not used, and by name": {
    scene: "grants",
    async run(page) {
      await opened(page);
      await page.getByText("Unused for 90 days", { exact: true }).click();
      const rows = page.locator("[data-row]");
      await counts(rows, 1);
      assert.equal(await rows.innerText(), "Notes");
      await page.getByText("All", { exact: true }).click();
      await rows.nth(1).waitFor();
      await page.getByLabel("Filter plugins and rules").fill("mai");
      await counts(rows, 1);
      assert.equal(await rows.innerText(), "Mail");
    },
  },

  "a mode is tried before it is used": {
    scene: "grants",
    async run(page) {
      await opened(page);
      const mode = () => page.evaluate(() => globalThis.fake.permissions.mode);
      await page.getByText("Careful", { exact: true }).click();
      await page.getByText("31 would have been asked about instead of 4.").waitFor();
      assert.equal(await mode(), "standard");
      await page.getByRole("button", { name: "Use this mode" }).click();
      await noticed(page, "The mode was changed.");
      assert.equal(await mode(), "careful");
    },
  },

  "a rule has several conditions, one of some values, a number of calls and an end": {
    scene: "grants",
    async run(page) {
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
      assert.deepEqual(
        [draft.match, draft.project, draft.uses, draft.until],
        [
          [
            { field: "amount", op: "equals", value: "20" },
            { field: "to", op: "enum", value: "ada\nbo" },
          ],
          "",
          3,
          "2999-12-24",
        ],
      );
    },
  },

  "a rule is tried before it is made": {
    scene: "grants",
    async run(page) {
      await opened(page);
      const rules = () => page.evaluate(() => globalThis.fake.permissions.grants.length);
      const before = await rules();
      await ruling(page);
      await page.getByRole("button", { name: "Test on last week’s calls" }).click();
      await page.getByText("31 would have been asked about instead of 4.").waitFor();
      assert.equal(await rules(), before);
      await page.getByRole("button", { name: "Create rule" }).click();
      await noticed(page, "The rule was made: ");
      assert.equal(await rules(), before + 1);
    },
  },
};
