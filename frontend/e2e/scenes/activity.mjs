// The record of what tools did, and why each was allowed.
import assert from "node:assert/strict";
import { accessible, noticed, waits } from "../harness.mjs";

export const tests = {
  "the record is read by keys: filtered, opened to how a call was decided, and exported": {
    scene: "activity",
    async run(page) {
      const tab = page.getByRole("tabpanel", { name: "Activity" });
      await tab.getByText("Waiting for you").waitFor();
      assert.equal(await tab.getByText("Crashed").count(), 0);
      assert.equal(await tab.getByText("Timed out").count(), 0, "another chat's call is shown");
      const saved = tab.getByRole("button", { name: /Saved a note/ });
      await saved.focus();
      await page.keyboard.press("Enter");
      await tab.getByText("It was allowed by you, after 4.2 s: you allowed it once.").waitFor();
      assert.match(await tab.getByLabel("Arguments").innerText(), /•••/);
      await tab.getByRole("button", { name: /Backup was let start “git push”/ }).press("Enter");
      await tab.getByText("after 2.1 s: you allowed it always.").waitFor();
      await accessible(page);

      await tab.getByRole("radio", { name: "This chat" }).focus();
      assert.equal(await tab.getByText("in “").count(), 0, "of this chat each entry names it");
      await page.keyboard.press("ArrowRight");
      const late = tab.getByRole("button", { name: /Timed out/ });
      await late.waitFor();
      assert.match(await late.innerText(), /in “Letter to the landlord”/);
      assert.match(await tab.locator(".pending").innerText(), /in “Counting words”/);
      await tab.getByText("A chat was deleted for good").waitFor();
      await tab.getByRole("button", { name: "Export" }).press("Enter");
      await noticed(page, "Saved to /home/ada/activity.jsonl");
      assert.deepEqual(await waits(page, "Activity.Export"), [["", ""]]);
    },
  },

  "where no chat is open the record is that of all, and does not call them this chat": {
    scene: "activity",
    async run(page) {
      const tab = page.getByRole("tabpanel", { name: "Activity" });
      await tab.getByRole("radio", { name: "This chat" }).waitFor({ state: "attached" });
      assert.equal(await tab.getByText("Timed out").count(), 0);
      await page.keyboard.press("Control+n");
      await tab.getByText("Timed out").waitFor();
      assert.equal(await tab.getByRole("radio").count(), 0);
    },
  },

  "a record that was changed outside Conclave says so above all": {
    scene: "activity-broken",
    async run(page) {
      const alert = page.getByRole("alert").filter({ hasText: "changed outside Conclave" });
      await alert.waitFor();
      assert.match(await alert.innerText(), /Entry 2 .* and entry 3 .* do not fit together/);
      await accessible(page);
    },
  },

  "a request that waits is answered from the record": {
    scene: "activity",
    async run(page) {
      await page.getByRole("button", { name: /^Answer/ }).press("Enter");
      await page.waitForFunction(() => document.activeElement?.closest(".ask"));
    },
  },

  "why a call was allowed is in the menu of its card": {
    scene: "tool",
    async run(page) {
      await page.locator(".tool .line").first().click({ button: "right" });
      await page.getByRole("menuitem", { name: "Why was this allowed?" }).press("Enter");
      await page.getByText("No rule refuses it.").waitFor();
    },
  },
};
