// The record of what tools did, and why each was allowed.
import { accessible, noticed } from "../page.mjs";
import { expect, given, test } from "../scene.mjs";

test("the record is read by keys: filtered, opened to how a call was decided, and exported", async ({ open }) => {
  const page = await open("activity");
  const tab = page.getByRole("tabpanel", { name: "Activity" });
  await expect(tab.getByText("Waiting for you")).toBeVisible();
  expect(await tab.getByText("Crashed").count()).toBe(0);
  expect(await tab.getByText("Timed out").count(), "another chat's call is shown").toBe(0);
  const saved = tab.getByRole("button", { name: /Saved a note/ });
  await saved.focus();
  await page.keyboard.press("Enter");
  await expect(tab.getByText("It was allowed by you, after 4.2 s: you allowed it once.")).toBeVisible();
  expect(await tab.getByLabel("Arguments").innerText()).toMatch(/•••/);
  await tab.getByRole("button", { name: /Backup was let start “git push”/ }).press("Enter");
  await expect(tab.getByText("after 2.1 s: you allowed it always.")).toBeVisible();
  await accessible(page);

  await tab.getByRole("radio", { name: "This chat" }).focus();
  expect(await tab.getByText("in “").count(), "of this chat each entry names it").toBe(0);
  await page.keyboard.press("ArrowRight");
  const late = tab.getByRole("button", { name: /Timed out/ });
  await expect(late).toBeVisible();
  expect(await late.innerText()).toMatch(/in “Letter to the landlord”/);
  expect(await tab.locator(".pending").innerText()).toMatch(/in “Counting words”/);
  await expect(tab.getByText("A chat was deleted for good")).toBeVisible();
  await tab.getByRole("button", { name: "Export" }).press("Enter");
  await noticed(page, "Saved to /home/ada/activity.jsonl");
  expect(await given(page, "Activity.Export")).toEqual([["", ""]]);
});

test("where no chat is open the record is that of all, and does not call them this chat", async ({ open }) => {
  const page = await open("activity");
  const tab = page.getByRole("tabpanel", { name: "Activity" });
  await expect(tab.getByRole("radio", { name: "This chat" })).toBeAttached();
  expect(await tab.getByText("Timed out").count()).toBe(0);
  await page.keyboard.press("Control+n");
  await expect(tab.getByText("Timed out")).toBeVisible();
  expect(await tab.getByRole("radio").count()).toBe(0);
});

test("a record that was changed outside Conclave says so above all", async ({ open }) => {
  const page = await open("activity-broken");
  const alert = page.getByRole("alert").filter({ hasText: "changed outside Conclave" });
  await expect(alert).toBeVisible();
  expect(await alert.innerText()).toMatch(/Entry 2 .* and entry 3 .* do not fit together/);
  await accessible(page);
});

test("a request that waits is answered from the record", async ({ open }) => {
  const page = await open("activity");
  await page.getByRole("button", { name: /^Answer/ }).press("Enter");
  await page.waitForFunction(() => document.activeElement?.closest(".ask"));
});

test("why a call was allowed is in the menu of its card", async ({ open }) => {
  const page = await open("tool");
  await page.locator(".tool .line").first().click({ button: "right" });
  await page.getByRole("menuitem", { name: "Why was this allowed?" }).press("Enter");
  await expect(page.getByText("none of your rules refuses it")).toBeVisible();
});
