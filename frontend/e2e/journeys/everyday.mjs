// What a person does every day with chats that are there: go on, branch, select, look for, change the language.
import { begin, end, say } from "../server.mjs";
import { expect, test } from "../person.mjs";

test.describe.configure({ mode: "serial" });

/** What asks a model for the rest of an answer (app/chat/turn/continue.go). */
const goOn =
  "Your answer was cut off there. Go on exactly where it ends, in the middle of a word if need be. " +
  "Repeat nothing of it, and say nothing about this.";

test.beforeAll(({ server }) => {
  server.answers["Cut me off"] = (response) => {
    begin(response);
    say(response, "```python\ndef half_an_ans");
    end(response, "length");
  };
  server.answers[goOn] = "wer():\n    return 42\n```\n\nThat is the rest.";
  server.answers["What about Rome?"] = "Rome is warm.";
});

/** Chooses an action of a message. */
const act = async (page, article, name) => {
  await article.hover();
  await article.getByRole("button", { name: "More for this message" }).click();
  await page.getByRole("menuitem", { name }).click();
};

const articles = (page) => page.locator("article");

test("an answer that was cut off goes on in the same block of code", async ({ page, person }) => {
  await person.newChat();
  await person.ask("Cut me off");
  const go = page.getByRole("button", { name: "Continue", exact: true });
  await go.click();
  const last = articles(page).last();
  await expect(last).toContainText("That is the rest.");
  await expect(last.locator("pre code")).toContainText("def half_an_answer():");
  await expect(go).toHaveCount(0);
});

test("a message is where a new chat branches off, and the first chat stays", async ({ page, person }) => {
  await person.ask("What about Rome?");
  await expect(articles(page)).toHaveCount(4);
  await act(page, articles(page).nth(1), "Branch to a new chat");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("(branch)");
  await expect(articles(page)).toHaveCount(2);
  await page.locator("[data-chat-row]").filter({ hasText: "Cut me off" }).filter({ hasNotText: "branch" }).click();
  await expect(articles(page)).toHaveCount(4);
});

test("messages are selected together and removed, and undo brings them back", async ({ page }) => {
  await act(page, articles(page).nth(2), "Select several");
  await articles(page).nth(3).getByRole("checkbox").check();
  const bar = page.getByRole("toolbar", { name: "2 messages selected" });
  await bar.getByRole("button", { name: "Delete" }).click();
  await expect(articles(page)).toHaveCount(2);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(articles(page)).toHaveCount(4);
});

test("the branches are a tree that the keyboard walks", async ({ page }) => {
  await page.keyboard.press("Control+Shift+b");
  const tree = page.getByRole("tree", { name: "Branches" });
  await expect(tree.getByRole("treeitem").first()).toBeVisible();
  expect(await tree.getByRole("treeitem").count()).toBeGreaterThan(1);
  await tree.getByRole("treeitem").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(tree).toHaveCount(0);
});

test("a search takes filters", async ({ page }) => {
  const field = page.getByRole("searchbox", { name: "Search chats" });
  await field.fill("rome role:model");
  await expect(page.locator("[data-chat-row]")).toHaveCount(1);
  await field.fill("model:nobody");
  await expect(page.getByText("No chats match")).toBeVisible();
  await field.fill("");
});

test("the window speaks Chinese, and English again", async ({ page }) => {
  await page.keyboard.press("Control+,");
  await page.getByText("中文", { exact: true }).click();
  await expect(page.getByRole("heading", { name: "通用" })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", /^zh/);
  await page.getByText("English", { exact: true }).click();
  await expect(page.getByRole("heading", { name: "General" })).toBeVisible();
});
