// What people look for in a chat program (docs/ROWS.md), and no other journey shows.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { begin, end, held, say, think } from "../server.mjs";
import { until } from "../processes.mjs";
import { expect, test } from "../person.mjs";

const others = Array.from({ length: 15 }, (_, i) => `other-${i + 1}`);

test.use({
  models: [
    "talker",
    ...others,
    "gpt-4o",
    { id: "think-hard", context_length: 30_000 },
    { id: "small-reader", context_length: 2_000 },
  ],
});

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

const away = held("While you were away ", "an answer came.");
const usage = { prompt_tokens: 20, completion_tokens: 400, total_tokens: 420 };

test.beforeAll(({ server }) => {
  Object.assign(server.answers, {
    "Answer while I am away": away,
    "How many berths?": "The *harbour* has **fourteen** berths, and `berth` fourteen is the deepest.",
    "Think about it": async (response) => {
      begin(response);
      think(response, "One *thing* after the other. ");
      await new Promise((resolve) => setTimeout(resolve, 1300));
      say(response, "That was thought about.");
      end(response, "stop", usage);
    },
    "Write a note": { text: "", call: { name: "write_note", arguments: { path: "a.md", text: "b" } } },
    ...Object.fromEntries([1, 2, 3, 4].map((i) => [long(i), `Part ${i} is read.`])),
  });
});

/** A question of about 450 tokens. */
const long = (i) => `Read part ${i}.${" The tide comes in and goes out again.".repeat(48)}`;

const field = (page) => page.getByPlaceholder("Message Conclave");
const rows = (page) => page.locator("[data-chat-row]");
const chip = (page, name) => page.locator("form.composer").getByRole("button", { name, exact: true });
const dialog = (page, name) => page.getByRole("dialog", { name });

/** Chooses the model of the chat by typing its name. */
async function pick(page, model) {
  await page.getByRole("button", { name: /^Model: / }).click();
  await page.getByRole("combobox", { name: "Search models" }).fill(model);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: `Model: ${model}. Change` })).toBeVisible();
}

test("a chat begins with all that is chosen for it, and the request that was sent can be read", async ({
  page,
  person,
  place,
  server,
}) => {
  const folder = join(place.home, "harbour plans");
  mkdirSync(folder);
  await person.newChat();
  await pick(page, "think-hard");
  await page.getByRole("button", { name: /^Model settings/ }).click();
  await page.getByText("High", { exact: true }).click();
  await page.getByLabel("Longest answer, tokens").fill("321");
  await page.getByLabel("Temperature, 0 to 2").fill("0.4");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");

  await chip(page, "System").click();
  await dialog(page, /System prompt/)
    .getByRole("textbox")
    .fill("Answer like a harbour master.");
  await dialog(page, /System prompt/)
    .getByRole("button", { name: "Save" })
    .click();
  await expect(chip(page, "System: on")).toBeVisible();

  await chip(page, "Project").click();
  const project = dialog(page, /Project/);
  await project.getByLabel("Folder", { exact: true }).fill(`${folder} of old`);
  await project.getByRole("button", { name: "Save" }).click();
  await person.reads(project.getByRole("alert"), /There is no folder/, /write its whole path/);
  await project.getByLabel("Folder", { exact: true }).fill(folder);
  await project.getByRole("button", { name: "Save" }).click();
  await expect(chip(page, "harbour plans")).toBeVisible();

  await field(page).fill("Where do we land?");
  await page.getByRole("button", { name: /About .* tokens used/ }).click();
  const meter = page.locator(".popup.context");
  await person.reads(meter, /of 30,000 tokens/, /System prompt/, /This message/, /About 321 tokens are left free/);
  await page.keyboard.press("Escape");

  const answer = await person.ask("Where do we land?");
  const sent = JSON.parse(server.asked.findLast(({ text }) => text === "Where do we land?").body);
  expect(sent).toMatchObject({ model: "think-hard", temperature: 0.4 });
  expect([sent.reasoning_effort, sent.max_completion_tokens ?? sent.max_tokens]).toEqual(["high", 321]);
  expect(JSON.stringify(sent.messages[0])).toContain("harbour master");
  const [chat] = place.told("chats", "list", "--json");
  expect(place.told("chats", "project", chat.id, "--json").project).toBe(folder);

  await answer.hover();
  await answer.getByRole("button", { name: "More for this message" }).click();
  await page.getByRole("menuitem", { name: "Info" }).click();
  const body = page.getByLabel("Exact request");
  expect(JSON.parse(await body.innerText())).toEqual(sent);
  await page.keyboard.press("Escape");

  await person.newChat();
  await expect(chip(page, "System")).toBeVisible(); // the next chat begins without
  await expect(chip(page, "Project")).toBeVisible();
});

test("an answer is given again by any model, found by typing; favourites and the last ones stand first", async ({
  page,
  person,
}) => {
  const answer = await person.ask("Who answers?");
  await answer.hover();
  await answer.getByRole("button", { name: "Regenerate" }).click();
  const search = page.getByRole("combobox", { name: "Search models" });
  await search.fill("other");
  await expect(page.getByRole("option", { name: /^other-1\b/ })).toHaveAttribute("aria-setsize", "15");
  await search.fill("other-15");
  await page.keyboard.press("Control+d");
  await page.keyboard.press("Enter");
  await expect(answer.getByRole("heading", { name: /other-15/ })).toBeAttached();
  await expect(page.getByText("2/2")).toBeVisible();
  await page.getByRole("button", { name: /^Model: / }).click();
  const list = page.locator(".popup.models-popup");
  await person.reads(list, /Favourites/, /Recent/, /30k/);
  await page.keyboard.press("Escape");
  await expect(list).toHaveCount(0);
});

test("an answer is edited, and a question is hidden from the model", async ({ page, person, server }) => {
  const [question, answer] = [page.locator("article").first(), page.locator("article").last()];
  await answer.hover();
  await answer.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Text of the message").fill("An answer of my own.");
  await page.getByRole("button", { name: /^Save(?! and)/ }).click();
  await expect(answer.getByText("An answer of my own.")).toBeVisible();
  await question.hover();
  await question.getByRole("button", { name: "More for this message" }).click();
  await page.getByRole("menuitem", { name: "Hide from model" }).click();
  await expect(question.getByText("Hidden from the model")).toBeVisible();
  await person.ask("What is left?");
  const { body } = server.asked.findLast(({ text }) => text.includes("What is left?"));
  expect(body).toContain("An answer of my own.");
  expect(body).not.toContain("Who answers?");
});

test("a temporary chat is in no list, and gone once it is left", async ({ page, person, place }) => {
  const ids = () => place.told("chats", "list", "--json").map(({ id }) => id);
  const before = ids();
  await page.keyboard.press("Control+Shift+n");
  await expect(page.getByText("Temporary. Deleted when you leave it.")).toBeVisible();
  await person.ask("Off the record");
  expect(ids()).toEqual(before);
  await expect(rows(page).filter({ hasText: "Off the record" })).toHaveCount(0);
  await person.newChat();
  await expect(page.getByText("Off the record")).toHaveCount(0);
  await page.keyboard.press("Control+Shift+n");
  await person.ask("On the record after all");
  await page.getByRole("button", { name: "Keep", exact: true }).click();
  await expect(rows(page).filter({ hasText: "On the record after all" })).toBeVisible();
});

test("chats stand side by side as tabs", async ({ page }) => {
  await rows(page)
    .filter({ hasText: "Who answers?" })
    .click({ modifiers: ["Control"] });
  const tabs = page.getByRole("tablist", { name: "Open chats" });
  await expect(tabs.getByRole("tab")).toHaveCount(2);
  await page.keyboard.press("Control+Tab");
  await expect(page.locator("article").filter({ hasText: "Who answers?" }).first()).toBeVisible();
  await page.keyboard.press("Control+w");
  await expect(tabs).toHaveCount(0);
  await rows(page)
    .filter({ hasText: "Where do we land?" })
    .click({ modifiers: ["Control"] });
  await expect(tabs.getByRole("tab")).toHaveCount(2);
});

test("what came while one looked elsewhere is below a line, and the system says so", async ({
  page,
  person,
  place,
}) => {
  const heard = place.start("dbus-monitor", ["--session", "interface='org.freedesktop.Notifications'"]);
  await until("the monitor", () => heard.output.includes("NameAcquired") || heard.output.includes("signal"));
  await person.newChat();
  await person.write("Answer while I am away");
  await expect(page.getByText("While you were away")).toBeVisible();
  await page.evaluate(() => {
    document.hasFocus = () => false;
    globalThis.dispatchEvent(new Event("blur"));
  });
  await person.newChat();
  await page.evaluate(() => globalThis.go.window.Chats.Seen("")); // the program has heard of it
  away.go();
  const row = rows(page).filter({ hasText: "Answer while I am away" });
  await expect(row.getByText("unread answer")).toBeAttached();
  await until("a notification", () => heard.output.includes("Answer finished"));
  await page.evaluate(() => {
    delete document.hasFocus;
    globalThis.dispatchEvent(new Event("focus"));
  });
  await row.click();
  await expect(page.getByRole("separator").filter({ hasText: "New" })).toBeVisible();
  await place.end(heard);
});

test("a chat that is longer than its model reads says so before, and is summed up on request", async ({
  page,
  person,
}) => {
  await person.newChat();
  await pick(page, "small-reader");
  for (const i of [1, 2, 3, 4]) await person.ask(long(i));
  await expect(page.getByText(/older messages? will not be sent/)).toBeVisible();
  await page.getByRole("button", { name: "Show where" }).click();
  await expect(page.getByText("The model reads the chat from here on")).toBeVisible();
  await page.locator("form.composer").getByRole("button", { name: "Summarize them" }).click();
  const summary = page.getByRole("button", { name: /^Summary of \d+ messages/ });
  await expect(summary).toBeVisible();
  await summary.click();
  await expect(page.getByText("A first answer from the scripted server.").first()).toBeVisible();
  await page.getByRole("button", { name: "Remove summary" }).click();
  await expect(summary).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(summary).toBeVisible();
});

/** A picture of 32 by 32 pixels. */
const picture =
  "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAALUlEQVR4nO3NsQ0AAAjAIP9/Wv9wNBCYm9ZVAAAAAAAAAAAAAAAAAAAA4MMBMoUAAWtKqLkAAAAASUVORK5CYII=";

test("a refused file holds no other back, a damaged PDF says so, and a picture is enlarged", async ({
  page,
  person,
  place,
}) => {
  await person.newChat();
  await pick(page, "gpt-4o");
  const files = {
    "map.png": Buffer.from(picture, "base64"),
    "empty.txt": "",
    "broken.pdf": "%PDF-1.4\n1 0 obj\n<< this is none",
  };
  const paths = Object.entries(files).map(([name, data]) => {
    const path = join(place.home, name);
    writeFileSync(path, data);
    return path;
  });
  await page.locator("form.composer input[type=file]").setInputFiles(paths);
  const list = page.getByRole("list", { name: "Attachments" });
  await expect(list.locator("img")).toBeVisible();
  await person.reads(list, /empty\.txt is empty/, /broken\.pdf.*(damaged|cannot be read)/);
  await field(page).fill("Look at this");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const question = page.locator("article.user").filter({ hasText: "Look at this" });
  await question.getByRole("button", { name: "Enlarge map.png" }).click();
  const viewer = dialog(page, "map.png");
  await expect(viewer.getByText("Fits")).toBeVisible();
  await page.keyboard.press("+");
  await expect(viewer.getByText(/^\d+ %$/)).toBeVisible();
  await expect(viewer.getByRole("button", { name: "Save map.png" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(viewer).toHaveCount(0);
});

test("a message stands at once, thinking is folded with its time, and the rate of an answer is shown", async ({
  page,
  person,
}) => {
  await person.newChat();
  const slow = await page.evaluate(() => {
    const { Chats } = globalThis.go.window;
    const { Send } = Chats;
    Chats.Send = async (...given) => {
      await new Promise((resolve) => (globalThis.letGo = resolve));
      return Send(...given);
    };
    return typeof Send;
  });
  expect(slow).toBe("function");
  await field(page).fill("Think about it");
  await field(page).press("Enter");
  await expect(page.locator("main").getByText("Think about it").first()).toBeVisible();
  await page.evaluate(() => globalThis.letGo());
  const answer = page.locator("article").last();
  await person.reads(answer, /Thought for [12] s/, /That was thought about\./, /420 tokens/, /\d tokens\/s/);
  expect(await answer.innerText()).not.toContain("One thing after the other");
});

test("what was thought is opened by a press, and took as long after a restart", async ({ page, person }) => {
  const summary = (of) => of.getByText(/^Thought for/);
  const time = await summary(page).innerText();
  await summary(page).click();
  await expect(page.locator("article").last()).toContainText("One thing after the other.");
  await summary(page).click();
  await expect(page.getByText("One thing after the other.")).toHaveCount(0);
  await person.restart();
  await expect(summary(person.page)).toHaveText(time);
  await summary(person.page).click();
  await expect(person.page.locator("article").last()).toContainText("One thing after the other.");
});
