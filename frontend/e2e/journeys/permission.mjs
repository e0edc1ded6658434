// A request for permission, from the model to the rule that is left.
import { armed } from "../page.mjs";
import { expect, test } from "../person.mjs";

const note = { path: "Reports/tuesday.md", text: "Three things to do on Tuesday." };
const write = { text: "", call: { name: "write_note", arguments: note } };

const answers = {
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

test.beforeAll(({ server }) => Object.assign(server.answers, answers));

const field = (page) => page.getByLabel("Message", { exact: true });
const allow = (page) => page.getByRole("button", { name: "Allow once" });
const asked = async (person, text = "Write a note") => {
  await person.newChat();
  await person.write(text);
  await armed(person.page, text === "Write six notes" ? "Allow all 6 once" : "Allow once");
};
const over = (page) => expect(page.getByText("That was the tool.").last()).toBeVisible();
const waiting = (page) =>
  page.evaluate(async () => (await globalThis.go.window.Permissions.Requests()).requests.length);

test("one call is one card: asked in people's words, then one line", async ({ page, person }) => {
  await asked(person);
  expect(await page.locator(".message .tool").count()).toBe(0);
  const card = page.locator(".ask");
  expect(await card.locator("h3").innerText()).toMatch(/wants to write a note$/);
  expect(await card.locator("dt").allTextContents()).toEqual(["Path", "Text"]);
  expect(await card.getByText("notes:write_note").count()).toBe(0);
  await card.getByRole("button", { name: "Show details" }).click();
  await expect(card.getByText("notes:write_note")).toBeVisible();
  await expect(card.getByText('"path": "Reports/tuesday.md"')).toBeVisible();
  await armed(page, "Allow once");
  await allow(page).click();
  await expect(page.locator(".tool[data-state=done]")).toBeVisible();
  await expect(page.locator(".ask")).toHaveCount(0);
  expect(await page.locator(".message .tool .line").innerText()).toMatch(/^Wrote a note/);
  await expect(page.getByText(/You allowed it once/)).toBeVisible();
  await over(page);
});

test("by keyboard: the shortcut goes to the heading, Tab to a button, and only its own key answers", async ({
  page,
  person,
}) => {
  await asked(person);
  await page.keyboard.press("Control+Shift+P");
  await page.waitForFunction(() => document.activeElement?.tagName === "H3");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Space");
  expect(await waiting(page)).toBe(1);
  await armed(page, "Allow once");
  await allow(page).focus();
  await page.keyboard.press("Enter");
  await over(page);
});

test("arguments can be edited, a refusal can say why, and Esc answers nothing", async ({ page, person, server }) => {
  await asked(person);
  await page.getByRole("button", { name: "Edit before allowing" }).click();
  await page.getByLabel("Exact action").fill("{ broken");
  await expect(page.getByText("not a valid JSON object")).toBeVisible();
  await expect(allow(page)).toBeDisabled();
  // What is written in the card outlives it.
  await page.keyboard.press("Control+,");
  await expect(page.getByRole("heading", { name: "General" })).toBeVisible();
  await expect(page.getByLabel("Exact action")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(page.getByLabel("Exact action")).toBeVisible();
  expect(await page.getByLabel("Exact action").inputValue()).toBe("{ broken");
  await page.keyboard.press("Escape");
  expect(await waiting(page)).toBe(1);
  await page.getByRole("button", { name: "More ways to deny" }).click();
  await page.getByRole("menuitem", { name: "Deny with a reason…" }).click();
  await page.getByLabel("Reason for the model").fill("Not in that folder.");
  await page.getByRole("button", { name: "Deny with this reason" }).click();
  await expect(page.locator(".tool[data-state=refused]")).toBeVisible();
  await expect(page.getByText(/Not in that folder\./).first()).toBeVisible();
  await over(page);
  const told = server.asked.at(-1).messages.at(-1);
  expect(JSON.stringify(told)).toMatch(/Not in that folder/);
});

test("after an answer one writes on, and the reason's field has the keyboard", async ({ page, person }) => {
  await asked(person);
  await allow(page).click();
  await page.keyboard.type("and then this");
  expect(await field(page).inputValue()).toBe("and then this");
  await over(page);
  await field(page).fill("");

  await asked(person);
  await page.getByRole("button", { name: "Not now" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("by keyboard");
  expect(await field(page).inputValue()).toBe("by keyboard");
  await expect(page.locator(".tool[data-state=refused]")).toBeVisible();
  await over(page);
  await field(page).fill("");

  await asked(person);
  await page.getByRole("button", { name: "More ways to deny" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Deny with a reason…" })).toBeVisible();
  await page.waitForFunction(() => document.activeElement?.closest("[role=menuitem]"));
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.matches(".why input"));
  await page.keyboard.type("Not on a Tuesday.");
  await page.keyboard.press("Enter");
  await expect(page.getByText(/Not on a Tuesday\./).first()).toBeVisible();
  await page.keyboard.type("next");
  expect(await field(page).inputValue()).toBe("next");
  await over(page);
  await field(page).fill("");
});

test("six equal requests are one card, and one press answers all six", async ({ page, person }) => {
  await asked(person, "Write six notes");
  await expect(page.getByRole("heading", { name: /wants to write a note, 6 times$/ })).toBeVisible();
  await page.getByRole("button", { name: "Allow all 6 once" }).click();
  await over(page);
  expect(await waiting(page)).toBe(0);
  await expect(page.locator(".tool[data-state=done]")).toHaveCount(6);
});

test("a request in another chat is marked in the list and does not move the reader", async ({ page, person }) => {
  await asked(person, "Write a note elsewhere");
  await page.locator("[data-chat-row]").getByText("Write six notes").click();
  await expect(page.getByText("Several things need your word.")).toBeVisible();
  const row = page.locator("[data-chat-row]", { hasText: "Write a note elsewhere" });
  await expect(row.getByText("waiting for your permission")).toBeAttached();
  expect(await allow(page).count()).toBe(0);
  await page.waitForFunction(() => document.title.startsWith("(1) "));
  await row.click();
  await page.getByRole("button", { name: "Not now" }).click();
  await over(page);
});

test("Esc folds the choices; a wider permission is a rule that ends, and can be taken back in Settings", async ({
  page,
  person,
}) => {
  await asked(person, "Write a note for this chat");
  // Presses a button of the menu at once, however long a machine takes from one act to the next.
  await page.evaluate(() => {
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
  await page.getByRole("button", { name: "Allow more…" }).click();
  // A menu of sentences, each of which says when it ends.
  const group = page.getByRole("group", { name: "Allow more…" });
  await page.waitForFunction(() => globalThis.pressed);
  await expect(group.getByRole("button")).toHaveCount(5);
  expect(await group.getByRole("button").allTextContents()).toEqual([
    "For this answeruntil the answer is complete",
    "For this chatevery call of this tool here, until you revoke it",
    "Until I quitin all chats, until Conclave quits",
    "Alwaysin all chats, until you revoke it",
    `Always, while path is “${note.path}”other calls of this tool still ask`,
  ]);
  // Esc folds them and answers nothing, wherever the keyboard is.
  await page.keyboard.press("Escape");
  await expect(group).toHaveCount(0);
  const more = page.getByRole("button", { name: "Allow more…" });
  await more.click();
  await group.getByRole("button").last().focus();
  await page.keyboard.press("Escape");
  await expect(group).toHaveCount(0);
  await expect(more).toBeFocused();
  expect(await waiting(page)).toBe(1);
  await more.click();
  const chat = group.getByRole("button", { name: /^For this chat/ });
  expect(await waiting(page), "a press on what has just appeared").toBe(1);
  await armed(group, /^For this chat/);
  await chat.click();
  await over(page);
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Permissions", exact: true }).click();
  await expect(page.getByText(/in one chat\.$/).first()).toBeVisible();
  await page.getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("Nothing has been allowed yet")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText(/in one chat\.$/).first()).toBeVisible();
  await page.keyboard.press("Escape");
});

test("for a while tools run without asking: within bounds, said all the time, ended by a press", async ({
  page,
  person,
}) => {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("without asking");
  await page.keyboard.press("Enter");
  const sheet = page.getByRole("dialog");
  await expect(sheet.getByRole("heading", { name: "Let tools run without asking for 15 minutes?" })).toBeVisible();
  await sheet.getByLabel("Maximum calls").fill("5000");
  await sheet.getByRole("button", { name: "Let tools run" }).click();
  await expect(sheet.getByText("Tools run unattended for 1 to 1000 calls.")).toBeVisible();
  await sheet.getByLabel("Maximum calls").fill("2");
  await sheet.getByRole("button", { name: "Let tools run" }).click();
  await expect(sheet).toHaveCount(0);
  await expect(page.locator(".frame.warned")).toBeVisible();
  await person.newChat();
  await person.write("Write a note unattended");
  await over(page);
  expect(await page.locator(".ask").count()).toBe(0);
  await expect(page.getByText(/^Unattended 1[0-5]:\d\d$/)).toBeVisible();
  await expect(page.getByText("1 call left")).toBeVisible();
  await page.getByRole("button", { name: "End now" }).click();
  await expect(page.locator(".frame:not(.warned)")).toBeVisible();
  await asked(person, "Write a note elsewhere");
  await page.getByRole("button", { name: "Not now" }).click();
  await over(page);
});
