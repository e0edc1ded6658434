// What calls changed of a person's files, and the way back.
import { accessible } from "../harness.mjs";

export const tests = {
  "what a call changed is undone at its card and done again, by keys": {
    scene: "changes",
    async run(page) {
      const card = page.locator(".message .tool").last();
      await card
        .getByText("Created 1 file, changed 1 file, deleted 2 files, 1 file seen first.")
        .first()
        .waitFor();
      await accessible(page);
      const undo = card.getByRole("button", { name: /^Undo/ });
      await undo.focus();
      await page.keyboard.press("Enter");
      await card.getByText("3 files are as before the call.").waitFor();
      await card.getByText(/^Undone, /).waitFor();
      const redo = card.getByRole("button", { name: /^Redo/ });
      await redo.press("Enter");
      await card.getByText("3 files are as after the call.").waitFor();
    },
  },

  "an opened card lists the files, and which cannot be put back": {
    scene: "changes",
    async run(page) {
      const card = page.locator(".message .tool").last();
      await card.locator(".line").press("Enter");
      await card.getByText("/home/ada/Documents/Notes/todo.md").waitFor();
      await card.getByText("cannot be restored: larger than 64 MiB").waitFor();
      await accessible(page);
    },
  },

  "the record undoes it too, and says when nothing is kept any more": {
    scene: "changes",
    async run(page) {
      await page.getByRole("tab", { name: "Activity" }).click();
      const tab = page.getByRole("tabpanel", { name: "Activity" });
      const entry = tab.getByRole("button", { name: /Tidied notes (Main|·)/ });
      await entry.press("Enter");
      await tab.getByRole("button", { name: /^Undo/ }).press("Enter");
      await tab.getByText("3 files are as before the call.").waitFor();
      await tab.getByRole("button", { name: /Tidied notes before/ }).press("Enter");
      await tab.getByText("have been removed").waitFor();
      await accessible(page);
    },
  },

  "all old versions are removed in the settings, after a second question": {
    scene: "changes",
    async run(page) {
      await page.keyboard.press("Control+,");
      await page.getByRole("button", { name: "Permissions", exact: true }).click();
      await page.getByText("12 changes since").waitFor();
      await accessible(page);
      await page.getByRole("button", { name: "Remove all" }).press("Enter");
      await page.getByRole("button", { name: "Remove permanently" }).press("Enter");
      await page.getByText("No old versions are saved.").waitFor();
    },
  },
};
