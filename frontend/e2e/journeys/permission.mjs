// A request for permission, from the model to the rule that is left.
import assert from "node:assert/strict";
import { armed, counts } from "../harness.mjs";

const note = { path: "Reports/tuesday.md", text: "Three things to do on Tuesday." };
const write = { text: "", call: { name: "write_note", arguments: note } };

export const answers = {
  "Write a note": write,
  "Write a note for this chat": write,
  "Write a note elsewhere": write,
  "Write a note unattended": write,
  "Write six notes": {
    text: "Several things need your word.",
    calls: Array.from({ length: 6 }, (_, i) => ({
      name: "write_note",
      arguments: { ...note, path: `part-${i}.md` },
    })),
  },
};

export const steps = (world) => {
  const page = () => world.person.page;
  const field = () => page().getByLabel("Message", { exact: true });
  const allow = () => page().getByRole("button", { name: "Allow once" });
  const asked = async (text = "Write a note") => {
    await world.person.newChat();
    await world.person.write(text);
    await armed(page(), text === "Write six notes" ? "Allow all 6 once" : "Allow once");
  };
  const over = () => page().getByText("That was the tool.").last().waitFor();
  const waiting = () =>
    page().evaluate(
      async () => (await globalThis.go.window.Permissions.Requests()).requests.length,
    );

  return {
    "one call is one card: asked in people's words, then one line": async () => {
      await asked();
      assert.equal(await page().locator(".message .tool").count(), 0);
      const card = page().locator(".ask");
      assert.match(await card.locator("h3").innerText(), /wants to write a note$/);
      assert.deepEqual(await card.locator("dt").allTextContents(), ["Path", "Text"]);
      assert.equal(await card.getByText("notes:write_note").count(), 0);
      await card.getByRole("button", { name: "Show details" }).click();
      await card.getByText("notes:write_note").waitFor();
      await card.getByText('"path": "Reports/tuesday.md"').waitFor();
      await armed(page(), "Allow once");
      await allow().click();
      await page().locator(".tool[data-state=done]").waitFor();
      await page().locator(".ask").waitFor({ state: "detached" });
      assert.match(await page().locator(".message .tool .line").innerText(), /^Wrote a note/);
      await page()
        .getByText(/You allowed it once/)
        .waitFor();
      await over();
    },

    "by keyboard: the shortcut goes to the heading, Tab to a button, and only its own key answers":
      async () => {
        await asked();
        await page().keyboard.press("Control+Shift+P");
        await page().waitForFunction(() => document.activeElement?.tagName === "H3");
        await page().keyboard.press("Enter");
        await page().keyboard.press("Space");
        assert.equal(await waiting(), 1);
        await armed(page(), "Allow once");
        await allow().focus();
        await page().keyboard.press("Enter");
        await over();
      },

    "arguments can be edited, a refusal can say why, and Esc answers nothing": async () => {
      await asked();
      await page().getByRole("button", { name: "Edit before allowing" }).click();
      await page().getByLabel("Exact action").fill("{ broken");
      await page().getByText("not a valid JSON object").waitFor();
      assert.ok(await allow().isDisabled());
      // What is written in the card outlives it.
      await page().keyboard.press("Control+,");
      await page().getByRole("heading", { name: "General" }).waitFor();
      await page().getByLabel("Exact action").waitFor({ state: "detached" });
      await page().keyboard.press("Escape");
      await page().getByLabel("Exact action").waitFor();
      assert.equal(await page().getByLabel("Exact action").inputValue(), "{ broken");
      await page().keyboard.press("Escape");
      assert.equal(await waiting(), 1);
      await page().getByRole("button", { name: "More ways to deny" }).click();
      await page().getByRole("menuitem", { name: "Deny with a reason…" }).click();
      await page().getByLabel("Reason for the model").fill("Not in that folder.");
      await page().getByRole("button", { name: "Deny with this reason" }).click();
      await page().locator(".tool[data-state=refused]").waitFor();
      await page()
        .getByText(/Not in that folder\./)
        .first()
        .waitFor(); // F110
      await over();
      const told = world.server.asked.at(-1).messages.at(-1);
      assert.match(JSON.stringify(told), /Not in that folder/);
    },

    "F110 after an answer one writes on, and the reason's field has the keyboard": async () => {
      await asked();
      await allow().click();
      await page().keyboard.type("and then this");
      assert.equal(await field().inputValue(), "and then this");
      await over();
      await field().fill("");

      await asked();
      await page().getByRole("button", { name: "Not now" }).focus();
      await page().keyboard.press("Enter");
      await page().keyboard.type("by keyboard");
      assert.equal(await field().inputValue(), "by keyboard");
      await page().locator(".tool[data-state=refused]").waitFor();
      await over();
      await field().fill("");

      await asked();
      await page().getByRole("button", { name: "More ways to deny" }).focus();
      await page().keyboard.press("Enter");
      await page().getByRole("menuitem", { name: "Deny with a reason…" }).waitFor();
      await page().waitForFunction(() => document.activeElement?.closest("[role=menuitem]"));
      await page().keyboard.press("Enter");
      await page().waitForFunction(() => document.activeElement?.matches(".why input"));
      await page().keyboard.type("Not on a Tuesday.");
      await page().keyboard.press("Enter");
      await page()
        .getByText(/Not on a Tuesday\./)
        .first()
        .waitFor();
      await page().keyboard.type("next");
      assert.equal(await field().inputValue(), "next");
      await over();
      await field().fill("");
    },

    "six equal requests are one card, and one press answers all six": async () => {
      await asked("Write six notes");
      await page()
        .getByRole("heading", { name: /wants to write a note, 6 times$/ })
        .waitFor();
      await page().getByRole("button", { name: "Allow all 6 once" }).click();
      await over();
      assert.equal(await waiting(), 0);
      await counts(page().locator(".tool[data-state=done]"), 6);
    },

    "a request in another chat is marked in the list and does not move the reader": async () => {
      await asked("Write a note elsewhere");
      await page().locator("[data-chat-row]").getByText("Write six notes").click();
      await page().getByText("Several things need your word.").waitFor();
      const row = page().locator("[data-chat-row]", { hasText: "Write a note elsewhere" });
      await row.getByText("waiting for your permission").waitFor({ state: "attached" });
      assert.equal(await allow().count(), 0);
      await page().waitForFunction(() => document.title.startsWith("(1) "));
      await row.click();
      await page().getByRole("button", { name: "Not now" }).click();
      await over();
    },

    "a wider permission is a rule that ends, and can be taken back in Settings": async () => {
      await asked("Write a note for this chat");
      // Presses a button of the menu at once, however long a machine takes from one act to the next.
      await page().evaluate(() => {
        new MutationObserver((_, observer) => {
          const chat = [...document.querySelectorAll(".ask button.scope")].find((b) =>
            b.textContent.includes("For this chat"),
          );
          if (!chat) return;
          observer.disconnect();
          chat.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
          chat.click();
          globalThis.pressed = true;
        }).observe(document, { subtree: true, childList: true });
      });
      await page().getByRole("button", { name: "Allow more…" }).click();
      // A menu of sentences, each of which says when it ends.
      const group = page().getByRole("group", { name: "Allow more…" });
      await counts(group.getByRole("button"), 5);
      assert.deepEqual(await group.getByRole("button").allTextContents(), [
        "For this answeruntil the answer is complete",
        "For this chatevery call of this tool here, until you revoke it",
        "Until I quitin all chats, until Conclave quits",
        "Alwaysin all chats, until you revoke it",
        `Always, while path is “${note.path}”other calls of this tool still ask`,
      ]);
      const chat = group.getByRole("button", { name: /^For this chat/ });
      await page().waitForFunction(() => globalThis.pressed);
      assert.equal(await waiting(), 1, "a press on what has just appeared");
      await armed(group, /^For this chat/);
      await chat.click();
      await over();
      await page().keyboard.press("Control+,");
      await page().getByRole("button", { name: "Permissions", exact: true }).click();
      await page()
        .getByText(/in one chat\.$/)
        .first()
        .waitFor();
      await page().getByRole("button", { name: "Revoke" }).click();
      await page().getByText("Nothing has been allowed yet").waitFor();
      await page().getByRole("button", { name: "Undo" }).click();
      await page()
        .getByText(/in one chat\.$/)
        .first()
        .waitFor();
      await page().keyboard.press("Escape");
    },

    "for a while tools run without asking: within bounds, said all the time, ended by a press":
      async () => {
        await page().keyboard.press("Control+k");
        await page().getByRole("combobox").fill("without asking");
        await page().keyboard.press("Enter");
        const sheet = page().getByRole("dialog");
        await sheet
          .getByRole("heading", { name: "Let tools run without asking for 15 minutes?" })
          .waitFor();
        await sheet.getByLabel("Maximum calls").fill("5000");
        await sheet.getByRole("button", { name: "Let tools run" }).click();
        await sheet.getByText("Tools run unattended for 1 to 1000 calls.").waitFor();
        await sheet.getByLabel("Maximum calls").fill("2");
        await world.person.picture("unattended asked");
        await sheet.getByRole("button", { name: "Let tools run" }).click();
        await sheet.waitFor({ state: "detached" });
        await page().locator(".frame.warned").waitFor();
        await world.person.newChat();
        await world.person.write("Write a note unattended");
        await over();
        assert.equal(await page().locator(".ask").count(), 0);
        await page()
          .getByText(/^Unattended 1[0-5]:\d\d$/)
          .waitFor();
        await page().getByText("1 call left").waitFor();
        await world.person.picture("unattended");
        await page().getByRole("button", { name: "End now" }).click();
        await page().locator(".frame:not(.warned)").waitFor();
        await asked("Write a note elsewhere");
        await page().getByRole("button", { name: "Not now" }).click();
        await over();
      },
  };
};
