// Providers and servers: found in the gallery, tried with a key, several at once, and there after a restart.
import { modelServer, rightKey } from "../server.mjs";
import { expect, test } from "../person.mjs";

test.use({ connected: false, models: ["talker", "thinker"], plugins: {} });

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

let orchestra; // another server

test.beforeAll(async ({ server }) => {
  orchestra = await modelServer(["cellist"]);
  server.answers["Who are you?"] = "I am the talker.";
  orchestra.answers["And who are you?"] = "I am the cellist.";
  orchestra.answers["Play on"] = "The cello plays.";
});

test.afterAll(() => orchestra.close());

const gallery = (page) => page.getByRole("combobox", { name: "Provider", exact: true });
const tile = (page, name) => page.getByRole("option", { name });
const key = (page) => page.getByLabel(/^Key/);
const form = (page) => page.locator("form.card");
const cards = (page) => page.locator("[data-connection]");

/** Opens the list of models, and chooses one by its name. */
async function pick(page, model) {
  await page.getByRole("button", { name: /^Model: / }).click();
  await page.getByRole("option", { name: new RegExp(`^${model}\\b`) }).click();
  await expect(page.getByRole("button", { name: `Model: ${model}. Change` })).toBeVisible();
}

test("the provider is told from the key, or found by typing, and says where a key is to be had", async ({
  page,
  person,
}) => {
  await person.models();
  await page.getByRole("button", { name: "Add a connection" }).click();
  expect(await page.getByRole("listbox", { name: "Provider" }).getByRole("option").count()).toBeGreaterThan(20);
  await key(page).fill("gsk_0123456789abcdef");
  await expect(page.getByText("This looks like a key of Groq.")).toBeVisible();
  await expect(gallery(page)).toHaveValue("Groq");
  await expect(page.getByRole("button", { name: "Where to get a key" })).toBeVisible();
  await key(page).fill("");
  await gallery(page).fill("nobody sells this");
  await expect(page.getByText("No provider matches “nobody sells this”.")).toBeVisible();
  await gallery(page).fill("lm stu");
  await expect(tile(page, /LM Studio/)).toContainText("On this computer");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Server address")).toHaveAttribute("placeholder", /1234/);
  await gallery(page).click();
  await tile(page, /OpenAI-compatible server/).click();
  await expect(gallery(page)).toHaveValue("OpenAI-compatible server");
});

test("with a wrong key the form stays open and says why, and the right key brings an answer", async ({
  page,
  person,
  server,
}) => {
  const address = page.getByLabel("Server address");
  await address.fill(`${server.host}/v1/chat/completions`); // as a vendor's example has it
  await key(page).fill("sk-wrong");
  const choose = page.getByLabel("Choose a passphrase for your keys");
  if (await choose.count()) {
    await choose.fill("four plain words here");
    await page.getByLabel("Repeat passphrase").fill("four plain words here");
  }
  await page.getByRole("button", { name: "Save and test" }).click();
  await person.reads(form(page).getByRole("alert"), /did not accept the key/i, /401/, /Nothing was saved\./);
  await expect(address).toHaveValue(`${server.host}/v1/chat/completions`);
  await expect(key(page)).toHaveValue("sk-wrong");
  await expect(cards(page)).toHaveCount(1); // Demo guide alone
  await key(page).fill(rightKey);
  await page.getByRole("button", { name: "Save and test" }).click();
  await person.reads(cards(page).last(), /Answered in \d+ ms, 2 models/);
  await expect(form(page)).toHaveCount(0);
  await page.keyboard.press("Escape");
  await person.newChat();
  await pick(page, "talker");
  await expect(await person.ask("Who are you?")).toContainText("I am the talker.");
});

test("another server stands beside the first, and the model is another from one message to the next", async ({
  page,
  person,
  server,
}) => {
  await person.connect(orchestra.url, rightKey);
  await person.reads(cards(page).last(), /Answered in \d+ ms, 1 model\b/);
  await expect(cards(page)).toHaveCount(3);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Model: / }).click();
  const list = page.getByRole("listbox", { name: "Model" });
  await person.reads(list, /talker/, /thinker/, /cellist/);
  await page.keyboard.press("Escape");
  await pick(page, "cellist");
  const answer = await person.ask("And who are you?");
  await expect(answer).toContainText("I am the cellist.");
  await expect(answer.getByRole("heading", { name: /cellist/ })).toBeAttached();
  const { messages } = orchestra.asked.findLast(({ text }) => text === "And who are you?");
  expect(JSON.stringify(messages)).toContain("I am the talker."); // it reads what came before
  await pick(page, "thinker");
  await person.ask("Who was that?");
  expect(server.asked.findLast(({ text }) => text === "Who was that?").model).toBe("thinker");
  await expect(page.getByRole("heading", { name: /talker/ })).toBeAttached();
});

test("the models are listed after a restart, though a server is gone", async ({ page, person }) => {
  await person.newChat();
  await pick(page, "cellist");
  await person.ask("Play on");
  orchestra.close();
  await person.restart();
  const now = person.page;
  await expect(now.getByRole("button", { name: "Model: cellist. Change" })).toBeVisible();
  await now.getByRole("button", { name: /^Model: / }).click();
  await person.reads(now.getByRole("listbox", { name: "Model" }), /talker/, /thinker/, /cellist/);
  await now.keyboard.press("Escape");
  await person.models();
  await person.reads(cards(now).last(), /Listed 1 model .*\. Not asked since\./);
});
