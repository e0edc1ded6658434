// What people look for in a chat program (docs/ROWS.md), and no other journey shows.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { armed, palette } from "../page.mjs";
import { begin, end, held, say, think } from "../server.mjs";
import { bin, until } from "../processes.mjs";
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
      think(response, "One thing after the other. ");
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

test("a search shows the words where they stand, and its filters narrow it", async ({ page, person }) => {
  await person.newChat();
  await person.ask("How many berths?");
  const search = page.getByRole("searchbox", { name: "Search chats" });
  await search.fill("fourteen");
  const found = rows(page).filter({ hasText: "fourteen" });
  await expect(found.locator("mark")).toHaveText("fourteen");
  expect
    .soft(await found.locator(".excerpt").innerText())
    .toBe("The harbour has fourteen berths, and berth fourteen is the deepest.");
  for (const [typed, count] of [
    ["project:harbour", 1],
    ["model:think", 1],
    ["fourteen role:me", 0],
    ["fourteen role:model after:2020", 1],
    ["before:2020", 0],
    ["pinned:", 0],
  ]) {
    await search.fill(typed);
    await expect(rows(page), typed).toHaveCount(count);
  }
  const berths = rows(page).filter({ hasText: "How many berths?" });
  await search.fill("");
  await berths.click({ button: "right" });
  await page.getByRole("menuitem", { name: "Pin", exact: true }).click();
  await search.fill("pinned:");
  await expect(rows(page)).toHaveCount(1);
  await search.fill("");
  await berths.click({ button: "right" });
  await page.getByRole("menuitem", { name: "Move to archive" }).click();
  await expect(berths).toHaveCount(0);
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await expect(berths).toBeVisible();
  await page.getByRole("button", { name: "Back to chats" }).click();
  await search.focus();
  await page.getByRole("group", { name: "Filters of the search" }).getByRole("button", { name: "project:" }).click();
  await page.keyboard.type("harbour");
  await expect(rows(page)).toHaveCount(1);
  await search.press("Escape");
});

/** A picture of 32 by 32 pixels. */
const picture =
  "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAALUlEQVR4nO3NsQ0AAAjAIP9/Wv9wNBCYm9ZVAAAAAAAAAAAAAAAAAAAA4MMBMoUAAWtKqLkAAAAASUVORK5CYII=";

test("a refused file holds no other back, a damaged PDF says so, and a picture is enlarged", async ({
  page,
  person,
  place,
  server,
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
  const { body } = server.asked.findLast(({ body: sent }) => sent.includes("Look at this"));
  expect(body).toContain("data:image/png;base64,");
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

test("a link fills in a message and never sends it, another a plugin and never adds it", async ({
  page,
  person,
  place,
  server,
}) => {
  await person.newChat();
  const asked = server.asked.length;
  const link = (address) =>
    place.start(join(bin, "conclave-window"), ["--data", place.data, "--plugins", place.plugins, address]).gone;
  expect(await link("conclave://ask?text=Sail%E2%80%8B%20tomorrow%3F")).toBe("exit 0");
  await expect(field(page)).toHaveValue("Sail tomorrow?");
  await person.says(/This text came from a link in another program/, /1 hidden character was removed/);
  expect(server.asked.length).toBe(asked);
  await field(page).fill("");
  expect(await link("conclave://plugin?url=https://example.org/tides.git")).toBe("exit 0");
  const add = dialog(page, "Add plugin");
  await expect(add.getByRole("textbox")).toHaveValue("https://example.org/tides.git");
  await person.reads(add, /Nothing was fetched/);
  await page.keyboard.press("Escape");
  await expect(add).toHaveCount(0);
});

test("all that waits is in one list, from any chat", async ({ page, person }) => {
  await person.newChat();
  await person.write("Write a note");
  await armed(page, "Allow once");
  const more = page.getByRole("button", { name: "Allow more…" });
  await more.click();
  const menu = page.getByRole("group", { name: "Allow more…" });
  await expect(menu).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(menu).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Allow once" })).toBeVisible(); // Esc answers nothing
  await person.newChat();
  await page.getByRole("button", { name: "1 thing waits for you" }).click();
  const dock = page.getByRole("tabpanel");
  await person.reads(dock, /Waiting for you/, /Write a note/);
  await dock.getByRole("button", { name: /^Answer: / }).click();
  await page.getByRole("button", { name: "Not now" }).click();
  await expect(page.getByText("That was the tool.").last()).toBeVisible();
  await expect(page.getByRole("button", { name: /waits? for you/ })).toHaveCount(0);
});

test("keys after Ctrl+K go to the palette, and a hint never lies over an open menu", async ({ page, person }) => {
  await person.newChat();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("theme: dark", { delay: 0 });
  await expect(page.locator(".palette input")).toHaveValue("theme: dark");
  await page.keyboard.press("Escape");
  await expect(field(page)).toHaveValue("");
  await person.ask("Is there a hint?");
  const button = page.getByRole("button", { name: "More for this chat" });
  await button.hover();
  await expect(page.locator(".tip")).toBeVisible();
  await button.click();
  await expect(page.getByRole("menu")).toBeVisible();
  await page.waitForTimeout(700); // longer than a hint takes to come
  await expect(page.locator(".tip")).toHaveCount(0);
  await page.keyboard.press("Escape");
});

test("a chat is copied, and exported with all that it has", async ({ page, person, place }) => {
  await person.newChat();
  await person.ask("Copy this chat");
  const choose = async (name) => {
    await page.getByRole("button", { name: "More for this chat" }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await choose("Copy as Markdown");
  await page.waitForFunction(async () => (await globalThis.runtime.ClipboardGetText()).includes("Copy this chat"));
  await choose("Duplicate");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("(copy)");
  const [{ id }] = place.told("chats", "list", "--json");
  const [json, html] = ["chat.json", "chat.html"].map((name) => join(place.home, name));
  writeFileSync(json, place.told("chats", "export", id, "--format", "json"));
  writeFileSync(html, place.told("chats", "export", id, "--format", "html"));
  place.told("chats", "import", json);
  await expect(rows(page).filter({ hasText: "(copy)" })).toHaveCount(2);
  const shared = await page.context().newPage();
  await shared.goto(`file://${html}`); // one file is the whole chat
  await expect(shared.getByText("A first answer from the scripted server.")).toBeVisible();
  await shared.close();
});

test("an address is put right, a wrong key stays in its form, and the right one leads to an answer", async ({
  page,
  person,
  server,
}) => {
  await person.models();
  await page.getByRole("button", { name: "Add a connection" }).click();
  const provider = page.getByRole("combobox", { name: "Provider" });
  await provider.fill("deepseek");
  await expect(page.getByRole("option", { name: /DeepSeek/ }).first()).toBeVisible();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.keyboard.press("Escape");
  await person.beginConnection(`${server.host}/v1/chat/completions`, "sk-wrong");
  await page.getByRole("button", { name: "Save and test" }).click();
  const form = page.locator("form.card");
  await person.reads(form.getByRole("alert"), /did not accept the key/, /Incorrect API key/, /Nothing was saved/);
  await form.getByLabel(/^Key/).fill("sk-right-0123456789abcdef");
  await page.getByRole("button", { name: "Save and test" }).click();
  await expect(form).toHaveCount(0);
  await page.keyboard.press("Escape");
  await person.newChat();
  await pick(page, "other-7");
  await person.ask("Are you there?");
  expect(server.asked.at(-1)).toMatchObject({ model: "other-7", text: "Are you there?" });
});

test("after a restart models, tabs and times are as they were", async ({ person }) => {
  await person.restart();
  const { page } = person;
  await expect(page.getByRole("tablist", { name: "Open chats" })).toBeVisible();
  await person.newChat();
  await rows(page).filter({ hasText: "Think about it" }).click();
  await expect(page.getByText(/Thought for [12] s/)).toBeVisible();
  await pick(page, "other-9"); // the list is kept, though nobody asked the server since
  await person.ask("And on?");
  await expect(
    page
      .locator("article")
      .last()
      .getByRole("heading", { name: /other-9/ }),
  ).toBeAttached();
  await palette(page, "theme: light");
  expect(person.errors).toEqual([]);
});
