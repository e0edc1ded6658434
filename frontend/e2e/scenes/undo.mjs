// What calls changed of a person's files, and the way back.
import { accessible } from "../page.mjs";
import { expect, test } from "../scene.mjs";

test("what a call changed is undone at its card and done again, by keys", async ({ open }) => {
  const page = await open("changes");
  const card = page.locator(".message .tool").last();
  await expect(
    card.getByText("Created 1 file, changed 1 file, deleted 2 files, 1 file seen first.").first(),
  ).toBeVisible();
  await accessible(page);
  const undo = card.getByRole("button", { name: /^Undo/ });
  await undo.focus();
  await page.keyboard.press("Enter");
  await expect(card.getByText("3 files are as before the call.")).toBeVisible();
  await expect(card.getByText(/^Undone, /)).toBeVisible();
  const redo = card.getByRole("button", { name: /^Redo/ });
  await redo.press("Enter");
  await expect(card.getByText("3 files are as after the call.")).toBeVisible();
});

test("an opened card lists the files, and which cannot be put back", async ({ open }) => {
  const page = await open("changes");
  const card = page.locator(".message .tool").last();
  await card.locator(".line").press("Enter");
  await expect(card.getByText("/home/ada/Documents/Notes/todo.md")).toBeVisible();
  await expect(card.getByText("cannot be restored: larger than 64 MiB")).toBeVisible();
  await accessible(page);
});

test("the record undoes it too, and says when nothing is kept any more", async ({ open }) => {
  const page = await open("changes");
  await page.getByRole("tab", { name: "Activity" }).click();
  const tab = page.getByRole("tabpanel", { name: "Activity" });
  const entry = tab.getByRole("button", { name: /Tidied notes (Main|·)/ });
  await entry.press("Enter");
  await tab.getByRole("button", { name: /^Undo/ }).press("Enter");
  await expect(tab.getByText("3 files are as before the call.")).toBeVisible();
  await tab.getByRole("button", { name: /Tidied notes before/ }).press("Enter");
  await expect(tab.getByText("have been removed")).toBeVisible();
  await accessible(page);
});

test("all old versions are removed in the settings, after a second question", async ({ open }) => {
  const page = await open("changes");
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Permissions", exact: true }).click();
  await expect(page.getByText("12 changes since")).toBeVisible();
  await accessible(page);
  await page.getByRole("button", { name: "Remove all" }).press("Enter");
  await page.getByRole("button", { name: "Remove permanently" }).press("Enter");
  await expect(page.getByText("No old versions are saved.")).toBeVisible();
});
