// Nothing is ever allowed by accident.
import assert from "node:assert/strict";
import { armed as waitArmed } from "../harness.mjs";

const message = (page) => page.getByLabel("Message", { exact: true });
const answers = (page) =>
  page.evaluate(() => globalThis.fake.permissions.answers.map((a) => a.answer));

async function ask(page, text = "Show me a permission request") {
  await message(page).fill(text);
  await page.keyboard.press("Enter");
}

const armed = (page, name = "Allow once") => waitArmed(page, name);

export const tests = {
  "typing 200 characters through ten arriving prompts answers none of them": {
    tick: 1,
    async run(page) {
      await ask(page, "ten prompts");
      const typed = "The quick brown fox jumps over it. ".repeat(6).slice(0, 198) + "\n ";
      for (const character of typed) {
        if (character === "\n") await page.keyboard.press("Shift+Enter");
        else await page.keyboard.type(character, { delay: 8 });
      }
      await page.waitForFunction(
        async () => (await globalThis.fake.permissions.Pending()).requests.length === 10,
      );
      await page.keyboard.press("Space");
      assert.deepEqual(await answers(page), []);
      assert.equal(await message(page).inputValue(), typed + " ");
      assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
    },
  },

  "a click before 600 ms is not believed, one after is, once": {
    async run(page) {
      await ask(page);
      const allow = page.getByRole("button", { name: "Allow once" });
      await allow.waitFor();
      const box = await allow.boundingBox();
      await page.mouse.click(box.x + 10, box.y + 10);
      assert.deepEqual(await answers(page), []);
      await armed(page);
      await allow.click();
      await page.getByText("That is how it works").waitFor();
      const given = await answers(page);
      assert.deepEqual(
        given.map((a) => [a.effect, a.scope]),
        [["allow", "once"]],
      );
      await page.getByText(/Allowed once by you at/).waitFor();
    },
  },

  "a layout shift disarms the buttons again": {
    async run(page) {
      await ask(page);
      await armed(page);
      await page.evaluate(() => {
        document.querySelector(".ask").style.marginTop = "80px";
      });
      const allow = page.getByRole("button", { name: "Allow once" });
      const box = await allow.boundingBox();
      await page.mouse.click(box.x + 10, box.y + 10);
      assert.deepEqual(await answers(page), []);
      await armed(page);
    },
  },

  "by keyboard: the shortcut goes to the heading, Tab to a button, and only its own key answers": {
    async run(page) {
      await ask(page);
      await armed(page);
      await page.keyboard.press("Control+Shift+P");
      await page.waitForFunction(() => document.activeElement?.tagName === "H3");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Space");
      assert.deepEqual(await answers(page), []);
      await armed(page);
      await page.getByRole("button", { name: "Allow once" }).focus();
      await page.keyboard.press("Enter");
      await page.getByText("That is how it works").waitFor();
      assert.equal((await answers(page)).length, 1);
    },
  },

  "a wider permission is a rule that ends, and can be taken back in Settings": {
    async run(page) {
      await ask(page);
      await armed(page);
      await page.getByRole("button", { name: "Allow more…" }).click();
      await armed(page, "for this chat");
      await page.getByRole("button", { name: "for this chat", exact: true }).click();
      await page.getByText("That is how it works").waitFor();
      assert.equal((await answers(page))[0].scope, "this-chat");
      await page.keyboard.press("Control+,");
      await page.getByRole("button", { name: "Permissions", exact: true }).click();
      await page.getByText("in this chat.").waitFor();
      await page.getByRole("button", { name: "Revoke" }).click();
      await page.getByText("Nothing has been allowed yet").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("in this chat.").waitFor();
    },
  },

  "arguments can be edited, a refusal can say why, and Esc answers nothing": {
    async run(page) {
      await ask(page);
      await page.getByRole("button", { name: "Edit before allowing" }).click();
      await page.getByLabel("What exactly").fill("{ broken");
      await page.getByText("not a JSON object yet").waitFor();
      assert.ok(await page.getByRole("button", { name: "Allow once" }).isDisabled());
      await page.keyboard.press("Escape");
      assert.deepEqual(await answers(page), []);
      await page.getByRole("button", { name: "More ways to refuse" }).click();
      await page.getByRole("menuitem", { name: "Not allowed, and say why…" }).click();
      await page.getByLabel("What the model should know").fill("Not in that folder.");
      await page.getByRole("button", { name: "Refuse with this reason" }).click();
      await page.locator(".tool[data-state=refused]").waitFor();
      assert.deepEqual(
        (await answers(page)).map((a) => [a.effect, a.reason]),
        [["deny", "Not in that folder."]],
      );
    },
  },

  "six equal requests are one card, and one press answers all six": {
    async run(page) {
      await ask(page, "batch");
      await page.getByRole("button", { name: "6 permission requests waiting" }).click();
      await armed(page, "Allow all 6 once");
      await page.getByRole("button", { name: "Allow all 6 once" }).click();
      await page.getByText("Done.", { exact: true }).waitFor();
      assert.equal((await answers(page)).length, 6);
    },
  },

  "a request in another chat is marked in the list and does not move the reader": {
    async run(page) {
      await ask(page);
      await page.getByRole("button", { name: "Allow once" }).waitFor();
      await page.locator("[data-chat-row]").getByText("Trip to Lyon").click();
      await page.getByText("Fourvière").waitFor();
      await page
        .locator("[data-chat-row]", { hasText: "Counting words" })
        .getByText("waits for your permission")
        .waitFor({ state: "attached" });
      assert.equal(await page.getByRole("button", { name: "Allow once" }).count(), 0);
      assert.match(await page.title(), /^\(1\) /);
    },
  },
};
