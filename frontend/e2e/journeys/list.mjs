// The list of chats: what is pinned, what is put away, and what a search finds.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bin } from "../processes.mjs";
import { expect, test } from "../person.mjs";

test.use({ plugins: {} }); // and so a home of its own: the list is compared

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

const answers = {
  "Where do we land?":
    "# Berths\n\nAt the far end of the coast, where nobody looks, the *harbour* has **fourteen** [berths](https://berths.example/plan) for us.",
  "What is for dinner?": "Soup.\n\n```python\nfourteen = 14\n```",
};

test.beforeAll(({ server }) => Object.assign(server.answers, answers));

const rows = (page) => page.locator("[data-chat-row]");
const row = (page, title) => rows(page).filter({ has: page.getByText(title, { exact: true }) });
const search = (page) => page.getByRole("searchbox", { name: "Search chats" });
const heading = (page, name) => page.getByRole("navigation").getByRole("heading", { name, exact: true });

/** Opens the menu of a chat in the list with the mouse. */
async function open(page, title) {
  await row(page, title).hover();
  await page.getByRole("button", { name: `More for ${title}`, exact: true }).click();
}

/** Chooses what is to be done with a chat of the list. */
async function act(page, title, name) {
  await open(page, title);
  await page.getByRole("menuitem", { name, exact: true }).click();
}

/** Waits until these chats are the list, in this order. */
const lists = (page, ...titles) => expect(rows(page).locator(".grow")).toHaveText(titles);

test("a chat is pinned by its menu, stays on top, and has a key of its own", async ({ page, person }) => {
  for (const text of ["Where do we land?", "What is for dinner?", "Who rows?"]) {
    await person.newChat();
    await person.ask(text);
  }
  await lists(page, "Who rows?", "What is for dinner?", "Where do we land?");
  await act(page, "Where do we land?", "Pin");
  await expect(heading(page, "Pinned")).toBeVisible();
  await lists(page, "Where do we land?", "Who rows?", "What is for dinner?");
  await page.keyboard.press("Control+1");
  await expect(page.locator("article").last()).toContainText("fourteen berths");
});

test("the menu of a chat closes when another moves into its place, and does nothing to that one", async ({
  page,
  place,
}) => {
  const { id } = place.told("chats", "list", "--json").find(({ title }) => title === "What is for dinner?");
  await open(page, "Who rows?");
  await expect(page.getByRole("menuitem", { name: "Pin", exact: true })).toBeVisible();
  const sent = place.start(join(bin, "conclave"), [
    ...["--data", place.data, "--plugins", place.plugins],
    ...["prompt", "--conversation", id, "And for breakfast?"],
  ]);
  await lists(page, "Where do we land?", "What is for dinner?", "Who rows?");
  await expect(page.getByRole("menu")).toHaveCount(0);
  expect(await sent.gone, sent.output).toBe("exit 0");
  await act(page, "Who rows?", "Pin");
  await lists(page, "Who rows?", "Where do we land?", "What is for dinner?");
  await act(page, "Who rows?", "Unpin");
  await lists(page, "Where do we land?", "What is for dinner?", "Who rows?");
});

test("a chat is put into the archive, and comes back from there", async ({ page }) => {
  await act(page, "What is for dinner?", "Move to archive");
  await lists(page, "Where do we land?", "Who rows?");
  await page.getByRole("button", { name: "Undo" }).click();
  await lists(page, "Where do we land?", "What is for dinner?", "Who rows?");
  await act(page, "What is for dinner?", "Move to archive");
  await lists(page, "Where do we land?", "Who rows?");
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await lists(page, "What is for dinner?");
  await row(page, "What is for dinner?").click();
  await expect(page.locator("article").nth(1)).toContainText("Soup.");
  await act(page, "What is for dinner?", "Move back to chats");
  await expect(page.getByText("The archive is empty.")).toBeVisible();
  await page.getByRole("button", { name: "Back to chats" }).click();
  await lists(page, "Where do we land?", "What is for dinner?", "Who rows?");
});

test("a chat is copied as Markdown, and duplicated", async ({ page }) => {
  await act(page, "Where do we land?", "Copy as Markdown");
  const copied = () => page.evaluate(() => globalThis.runtime.ClipboardGetText());
  await expect.poll(copied).toContain("the *harbour* has **fourteen** [berths]");
  expect(await copied()).toContain("Where do we land?");
  await act(page, "Where do we land?", "Duplicate");
  await expect(row(page, "Where do we land? (copy)")).toBeVisible();
  await expect(page.locator("article").last()).toContainText("fourteen berths");
  await act(page, "Where do we land? (copy)", "Delete");
  await expect(row(page, "(copy)")).toHaveCount(0);
});

test("a search shows what stands around the word, without markup", async ({ page, person }) => {
  await search(page).fill("fourteen");
  await expect(heading(page, "Found")).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  const found = row(page, "Where do we land?");
  await expect(found.locator("mark")).toHaveText("fourteen");
  const words = await person.reads(found, /…harbour has fourteen berths for us\./);
  expect(words).not.toMatch(/[*#`[\]]|https/);
  const [whole, word] = [await found.boundingBox(), await found.locator("mark").boundingBox()];
  expect(word.x + word.width, "the word is in view").toBeLessThan(whole.x + whole.width);
  await expect(row(page, "What is for dinner?").locator("mark")).toHaveText("fourteen");
  await found.click();
  await expect(page.getByRole("searchbox", { name: "Find in this chat" })).toHaveValue("fourteen");
  await expect(page.getByText("1 of 1", { exact: true })).toBeVisible();
  const marked = () => page.evaluate(() => [...CSS.highlights.get("find-here")].map((range) => range.toString()));
  await expect.poll(marked, "the word is marked in its message").toEqual(["fourteen"]);
  await expect(page.locator(".composer textarea"), "one goes on writing").toBeFocused();
  await search(page).fill("nobody ever said this");
  await expect(page.getByText("No chats match “nobody ever said this”.")).toBeVisible();
  await search(page).press("Escape");
  await lists(page, "Where do we land?", "What is for dinner?", "Who rows?");
});

test("filters are typed or pressed: pinned:, project:, role:", async ({ page, place }) => {
  const folder = join(place.home, "harbour plans");
  mkdirSync(folder);
  const { id } = place.told("chats", "list", "--json").find(({ title }) => title === "Who rows?");
  place.told("chats", "project", id, folder);
  await search(page).click();
  await page.getByRole("group", { name: "Filters of the search" }).getByRole("button", { name: "pinned:" }).click();
  await expect(search(page)).toBeFocused();
  await lists(page, "Where do we land?");
  await search(page).fill('project:"harbour plans"');
  await lists(page, "Who rows?");
  await search(page).fill("project:nowhere");
  await expect(page.getByText("No chats match “project:nowhere”.")).toBeVisible();
  await search(page).fill("fourteen pinned:no");
  await lists(page, "What is for dinner?");
  await search(page).fill("land role:me");
  await lists(page, "Where do we land?");
  await search(page).fill("fourteen role:me");
  await expect(page.getByText("No chats match “fourteen role:me”.")).toBeVisible();
  await search(page).press("Escape");
  await lists(page, "Where do we land?", "What is for dinner?", "Who rows?");
});

test("chats are grouped by project, and a project is closed by mouse and by keyboard", async ({ page }) => {
  const project = (name) => page.getByRole("navigation").getByRole("button", { name: `${name} 1`, exact: true });
  await page.getByRole("button", { name: "Group by project" }).click();
  await expect(heading(page, "Pinned")).toBeVisible();
  await lists(page, "Where do we land?", "Who rows?", "What is for dinner?");
  const [plans, none] = [project("harbour plans"), project("No project")];
  await expect(plans).toHaveAttribute("aria-expanded", "true");
  await plans.click();
  await lists(page, "Where do we land?", "What is for dinner?");
  await expect(plans).toHaveAttribute("aria-expanded", "false");
  await row(page, "Where do we land?").focus();
  for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  await lists(page, "Where do we land?", "Who rows?", "What is for dinner?");
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await expect(none).toBeFocused();
  await lists(page, "Where do we land?", "Who rows?");
  await page.reload();
  await lists(page, "Where do we land?", "Who rows?");
  await none.press("Space");
  await page.getByRole("button", { name: "Group by project" }).click();
  await expect(heading(page, "Today")).toBeVisible();
  await lists(page, "Where do we land?", "What is for dinner?", "Who rows?");
});

test("what is pinned and put away stays so after a restart", async ({ page, person }) => {
  await act(page, "What is for dinner?", "Move to archive");
  await lists(page, "Where do we land?", "Who rows?");
  await person.restart();
  await lists(person.page, "Where do we land?", "Who rows?");
  await expect(heading(person.page, "Pinned")).toBeVisible();
  await person.page.getByRole("button", { name: "Archive", exact: true }).click();
  await lists(person.page, "What is for dinner?");
});
