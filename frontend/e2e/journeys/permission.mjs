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
      // A menu of sentences, each of which says when it ends.
      const group = page.getByRole("group", { name: "Allow more…" });
      assert.deepEqual(await group.getByRole("button").allTextContents(), [
        "For this answerends when the answer is complete",
        "For this chatevery call of this tool here, until you take it back",
        "Until I quitin all chats, ends when Conclave quits",
        "Alwaysin all chats, until you take it back",
      ]);
      const chat = group.getByRole("button", { name: /^For this chat/ });
      const box = await chat.boundingBox();
      await page.mouse.click(box.x + 10, box.y + 10);
      assert.deepEqual(await answers(page), [], "a press on what has just appeared");
      await group.locator("button[aria-disabled=false]", { hasText: "For this chat" }).waitFor();
      await chat.click();
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
      await page.getByText("You did not allow it: Not in that folder.").waitFor(); // F110
      assert.deepEqual(
        (await answers(page)).map((a) => [a.effect, a.reason]),
        [["deny", "Not in that folder."]],
      );
    },
  },

  "F110 after an answer one writes on, and the reason's field has the keyboard": {
    async run(page) {
      await ask(page);
      await armed(page);
      await page.getByRole("button", { name: "Allow once" }).click();
      await page.keyboard.type("and then this");
      assert.equal(await message(page).inputValue(), "and then this");
      await page.getByText("Answer finished").waitFor({ state: "attached" });
      await message(page).fill("");

      await ask(page);
      await page.getByRole("button", { name: "Not now" }).focus();
      await page.keyboard.press("Enter");
      await page.keyboard.type("by keyboard");
      assert.equal(await message(page).inputValue(), "by keyboard");
      await page.locator(".tool[data-state=refused]").waitFor();
      await page.waitForFunction(() => !document.querySelector(".btn.stop"));
      await message(page).fill("");

      await ask(page);
      await page.getByRole("button", { name: "More ways to refuse" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "Not allowed, and say why…" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByLabel("What the model should know").waitFor();
      await page.waitForFunction(() => document.activeElement?.matches(".why input"));
      await page.keyboard.type("Not on a Tuesday.");
      await page.keyboard.press("Enter");
      await page.getByText("You did not allow it: Not on a Tuesday.").waitFor();
      await page.keyboard.type("next");
      assert.equal(await message(page).inputValue(), "next");
    },
  },

  "F111 a press that is not believed says so, and moves nothing": {
    async run(page) {
      await ask(page);
      await armed(page);
      const allow = page.getByRole("button", { name: "Allow once" });
      const laid = () =>
        allow.evaluate((button) => {
          const card = button.closest(".ask").getBoundingClientRect();
          return [card.height, button.getBoundingClientRect().top - card.top];
        });
      const before = await laid();
      await allow.evaluate((button) => {
        button.closest(".ask").style.marginTop = "8px";
        const { x, y } = button.getBoundingClientRect();
        const press = { clientX: x, clientY: y, bubbles: true };
        button.dispatchEvent(new PointerEvent("pointerdown", press));
        button.dispatchEvent(new MouseEvent("click", press));
      });
      await page.getByText("Not taken: the card had just moved.").first().waitFor();
      assert.deepEqual(await answers(page), []);
      assert.deepEqual(await laid(), before);
      await armed(page);
      await allow.click();
      await page.getByText("That is how it works").waitFor();
    },
  },

  "F111 the pill to the end never covers the buttons of a card": {
    height: 560,
    async run(page) {
      await ask(page, "batch");
      const buttons = page.locator(".batch .buttons");
      await buttons.waitFor({ state: "attached" });
      for (let y = 0; y < 700; y += 20) {
        await page.mouse.move(600, 200);
        await page.mouse.wheel(0, y < 20 ? -3000 : 20);
        await page.evaluate(
          () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
        );
        const overlap = await page.evaluate(() => {
          const pill = document.querySelector(".pill")?.getBoundingClientRect();
          const row = document.querySelector(".batch .buttons")?.getBoundingClientRect();
          if (!pill || !row) return 0;
          return Math.min(pill.bottom, row.bottom) - Math.max(pill.top, row.top);
        });
        assert.ok(overlap <= 0, `the pill covers ${overlap} px of the buttons`);
      }
    },
  },

  "one call is one card: asked in people's words, then one line": {
    async run(page) {
      await ask(page);
      await armed(page);
      assert.equal(await page.locator(".message .tool").count(), 0);
      const card = page.locator(".ask");
      assert.equal(await card.locator("h3").innerText(), "Demo guide wants to write a note");
      assert.deepEqual(await card.locator("dt").allTextContents(), ["Path", "Text"]);
      assert.equal(await card.getByText("notes:write_note").count(), 0);
      await card.getByRole("button", { name: "Show details" }).click();
      await card.getByText("notes:write_note").waitFor();
      await card.getByText('"path": "Reports/tuesday.md"').waitFor();
      await armed(page);
      await page.getByRole("button", { name: "Allow once" }).click();
      await page.locator(".tool[data-state=done]").waitFor();
      assert.equal(await page.locator(".ask").count(), 0);
      assert.match(await page.locator(".message .tool .line").innerText(), /^Wrote a note/);
    },
  },

  "what a model writes into a request stays inside its box": {
    async run(page) {
      await ask(page, "false card");
      await armed(page);
      const box = await page.locator(".ask .given").boundingBox();
      const card = await page.locator(".ask").boundingBox();
      assert.ok(box.height <= 260 && card.height < 700, `${box.height} of ${card.height}`);
      const out = await page.evaluate(() => {
        const given = document.querySelector(".ask .given");
        const frame = given.getBoundingClientRect();
        return [...given.querySelectorAll("*")].filter((e) => {
          const r = e.getBoundingClientRect();
          return r.left < frame.left - 1 || r.right > frame.right + 1;
        }).length;
      });
      assert.equal(out, 0);
      assert.equal(await page.locator(".ask .given :is(button, a, input, img, svg)").count(), 0);
      assert.equal(await page.locator(".ask h3").count(), 1);
      assert.equal(await page.getByRole("button", { name: "Allow once" }).count(), 1);
    },
  },

  "six equal requests are one card, and one press answers all six": {
    async run(page) {
      await ask(page, "batch");
      await page.getByRole("heading", { name: /wants to write a note, 6 times$/ }).waitFor();
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
