// Comes after members.mjs, by its name: it leaves a council behind that holds in all new chats.
// What can go wrong with a council, caused on the real program: each says a sentence, and has a
// button that leads on.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { begin, end, say } from "../server.mjs";
import { palette } from "../page.mjs";
import { expect, test } from "../person.mjs";

const question = "What goes wrong here?";

/** How some models of the server answer. */
const ways = {
  down: (response, json) => json(400, { error: { message: "This model is not for you." } }),
  flood: (response) => {
    begin(response);
    for (let i = 0; i < 80; i++) say(response, "ä".repeat(32 << 10)); // 5 MB
    end(response);
  },
};

const answers = {
  [question]: (response, json, { model }) => {
    const way = ways[model];
    if (way) return way(response, json);
    begin(response);
    say(response, "So it is.");
    end(response);
  },
};

test.beforeAll(({ server }) => Object.assign(server.answers, answers));

/** A tool that does what is said before it answers. */
const sleeper = (does, words) => `import os, time


def waits() -> str:
    """Returns ${words}."""
    ${does}
    return "${words}"
`;
const asleep = `open(os.path.expanduser("~/asleep"), "w").close()
    time.sleep(60)`;
const untilTold = `while not os.path.exists(os.path.expanduser("~/go")):
        time.sleep(0.02)`;

const panel = (page) => page.locator(".council");
const lane = (page, name) => page.locator("[data-lane]", { hasText: name });
const button = (page, name) => page.getByRole("button", { name, exact: true });
let connection = "";
const of = (model) => `${connection}/${model}`;

/** Sets the council that holds in chats that begin, and begins one. */
async function set(person, council) {
  const { place } = person;
  connection ||= place
    .told("models", "list", "--json")
    .find(({ name }) => name.endsWith("/talker"))
    .name.split("/")[0];
  const file = join(place.home, "council.json");
  writeFileSync(file, JSON.stringify({ enabled: true, ...council(of) }));
  place.told("council", "set", file);
  await person.newChat();
  await palette(person.page, "show the council");
}

/** The newest chat's newest run. */
const run = (place) => {
  const [chat] = place.told("chats", "list", "--json");
  return place.told("council", "runs", chat.id, "--json").at(-1);
};
/** Waits until the council that is kept has so many members: what a person changes is, a moment later. */
const kept = (place, members, ...of) =>
  expect.poll(() => place.told("council", "show", "--json", ...of).members).toHaveLength(members);
const ended = (page) => expect(page.locator("button.stop")).toHaveCount(0);
const two = (model, more = {}) => ({
  members: [
    { name: "Ada", model },
    { name: "Bo", model },
  ],
  ...more,
});

const state = (place) => place.told("plugins", "list", "--json").find(({ id }) => id === "waits")?.state;
/** Has the plugin be as it is said, waits until that version of it serves, and lets members use it. */
async function sleeps(place, does, words) {
  writeFileSync(join(place.plugins, "waits.py"), sleeper(does, words));
  await expect(() => {
    if (state(place) !== "ready") place.conclave("plugins", "trust", "waits", "--yes");
    const [tool] = place.told("tools", "list", "--json").filter(({ id }) => id === "waits:waits");
    expect(tool?.description).toBe(`Returns ${words}.`);
  }).toPass();
  place.told("permissions", "allow", "waits:waits", "--council");
}
const waiting = () => ({
  mode: "tools",
  members: [{ name: "Ada", tools: ["waits:waits"] }],
});

test("no members: the answer is made, and presets are offered", async ({ page, person, place }) => {
  await set(person, () => ({ members: [] }));
  await person.ask(question);
  await expect(panel(page).getByText("No members yet.")).toBeVisible();
  await expect(button(page, "Council (all chats): no members")).toBeVisible();
  await button(page, /^Three chairs/).click();
  const [{ id }] = place.told("chats", "list", "--json");
  await kept(place, 3, "--chat", id);
});

test("one member: it is said that there is nothing to compare, and another can be added", async ({
  page,
  person,
  place,
}) => {
  await set(person, (of) => ({ members: [{ name: "Ada", model: of("talker") }] }));
  await expect(panel(page).getByText("One member works; there is nothing to compare.")).toBeVisible();
  await person.ask(question);
  await expect(lane(page, "Ada").getByText("Done")).toBeVisible();
  await button(page, "Add another member").click();
  await kept(place, 2);
});

test("all fail: the person is asked, has it answered without, and asks the council again", async ({ page, person }) => {
  await set(person, (of) => two(of("down")));
  await person.write(question);
  await expect(panel(page).getByText("No member could answer.")).toBeVisible();
  await lane(page, "Ada").locator(".who").click();
  await expect(lane(page, "Ada").getByText("Details: This model is not for you.")).toBeVisible();
  await button(page, "Answer without the council").click();
  await ended(page);
  await expect(panel(page).getByText("The answer was made without the council.")).toBeVisible();
  await button(page, "Ask the council again").click();
  await expect(button(page, "Retry failed tasks")).toBeVisible();
  await button(page, "Answer without the council").click();
  await ended(page);
});

test("a member without a model: it sits out and says so, and the helper's model is chosen", async ({
  page,
  person,
}) => {
  await set(person, (of) => ({ members: [{ name: "Ada" }, { name: "Bo", model: of("talker") }] }));
  const says = "Ada has no model. Choose one for it, or a helper model for the council.";
  await expect(panel(page).getByText(says).first()).toBeVisible();
  await person.ask(question);
  await expect(lane(page, "Ada").getByText(says)).toBeVisible();
  await button(page, "Choose a helper model").click();
  await page.locator("[id$=-helper]:focus").press("Enter");
  await page.getByRole("option", { name: "talker" }).first().click();
  await expect(button(page, "Choose a helper model")).toHaveCount(0);
  await person.ask(question);
  await expect(lane(page, "Ada").getByText("Done")).toBeVisible();
});

test("a ballot that is no JSON: the vote goes on without it, and is done again", async ({ page, person }) => {
  await set(person, (of) => two(of("talker"), { mode: "vote", choices: ["yes", "no"] }));
  await person.write(question);
  await expect(lane(page, "Ada").getByText("Failed")).toBeVisible();
  await expect(lane(page, "Ada").getByText("The ballot of Ada cannot be read")).toBeVisible();
  await ended(page);
  await button(page, "More for the lane of Ada").click();
  await page.getByRole("menuitem", { name: "Run this member again…" }).click();
  await button(page, "Run again").click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await ended(page);
  await expect(panel(page).getByText("Repeated with one change: Ada did its work again.")).toBeVisible();
});

test("a member that answers 5 MB is cut, which is said", async ({ page, person }) => {
  await set(person, (of) => ({
    members: [
      { name: "Ada", model: of("flood") },
      { name: "Bo", model: of("talker") },
    ],
  }));
  await person.ask(question);
  await expect(panel(page).getByText(/Ada said more than an answer may hold, and was cut/)).toBeVisible();
  await button(page, "More for this run").click();
  await page.getByRole("menuitem", { name: "Run again with one change…" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("a cap of one cent: the council stops, the answer is made, and the cap is changed", async ({
  page,
  person,
  place,
}) => {
  place.told("models", "price", of("talker"), "1000", "1000");
  await set(person, (of) => two(of("talker"), { limits: { money: 0.01 } }));
  await expect(panel(page).getByText(/The answer alone may cost .* more than the cap of \$0\.01/)).toBeVisible();
  const answer = await person.ask(question);
  await expect(answer.getByText("So it is.")).toBeVisible();
  await expect(lane(page, "Ada").getByText("Over the cap")).toBeVisible();
  await button(page, "Change the cap").last().click();
  await page.locator("input:focus").fill("5");
  await page.keyboard.press("Enter");
  await expect(panel(page).getByText(/cap \$5\.00/)).toBeVisible();
  place.told("models", "price", of("talker"), "--forget");
});

test("offline: the lanes say what could not be reached, and the question is asked again", async ({
  page,
  person,
  place,
}) => {
  if (!place.told("models", "list", "--json").some(({ name }) => name === "nowhere/any"))
    place.told(...["models", "add", "openai", "nowhere", "--url", "http://127.0.0.1:9/v1"], ...["--model", "any"]);
  await set(person, () => two("nowhere/any"));
  await person.write(question);
  await expect(panel(page).getByText("No member could answer.")).toBeVisible();
  await expect(lane(page, "Ada").getByText("Ada could not reach its model.")).toBeVisible();
  await button(page, "Answer without the council").click();
  await ended(page);
  await expect(button(page, "Ask the council again")).toBeVisible();
});

test("a chat that was edited after the run is said to be, and the question is answered as it is now", async ({
  page,
  person,
}) => {
  await set(person, (of) => two(of("talker")));
  await person.ask(question);
  const asked = page.locator("article.user").last();
  await asked.hover();
  await asked.getByRole("button", { name: "Edit", exact: true }).click();
  await page.locator("article.user textarea").fill("What goes right here?");
  await button(page, "Save").click();
  await expect(panel(page).getByText("The chat was changed after this run")).toBeVisible();
  await button(page, "Answer the changed question").click();
  await ended(page);
  await expect(panel(page).getByText("The chat was changed after this run")).toHaveCount(0);
});

test("a plugin that is updated in mid-run finishes its call as it was; a new run has the new one", async ({
  page,
  person,
  place,
}) => {
  await sleeps(place, untilTold, "the old words");
  await set(person, waiting);
  await person.write(question);
  await expect(lane(page, "Ada").getByText("Using")).toBeVisible();
  writeFileSync(join(place.plugins, "waits.py"), sleeper("pass", "the new words"));
  await expect.poll(() => state(place)).not.toBe("ready");
  writeFileSync(join(place.data, "storage", "waits", "go"), "");
  await ended(page);
  await expect(lane(page, "Ada").getByText("Done")).toBeVisible();
  await lane(page, "Ada").locator(".who").click();
  await expect(lane(page, "Ada").getByText("the old words")).toBeVisible();
  await sleeps(place, "pass", "the new words");
  await person.ask(question);
  await expect(lane(page, "Ada").locator(".detail")).toHaveCount(0); // that of the run before
  await expect(lane(page, "Ada").locator(".who .state").getByText("Done")).toBeVisible();
  await lane(page, "Ada").locator(".who").click();
  await expect(lane(page, "Ada").getByText("the new words")).toBeVisible();
});

test("a tool that is removed in mid-run says so, and the person goes on without", async ({ page, person, place }) => {
  await sleeps(place, asleep, "never");
  await set(person, waiting);
  await person.write(question);
  await expect(lane(page, "Ada").getByText("Using")).toBeVisible();
  place.told("plugins", "remove", "waits");
  await expect(lane(page, "Ada").getByText("Failed")).toBeVisible();
  await button(page, "Answer without the council").click();
  await ended(page);
  await expect(panel(page).getByText("The tool waits:waits is not available").first()).toBeVisible();
});

test("stop ends a tool that sleeps within half a second", async ({ page, person, place }) => {
  await sleeps(place, asleep, "never");
  await set(person, waiting);
  const sign = join(place.data, "storage", "waits", "asleep");
  rmSync(sign, { force: true });
  await person.write(question);
  await expect(lane(page, "Ada").getByText("Using")).toBeVisible();
  await expect.poll(() => existsSync(sign)).toBe(true);
  const stopping = await panel(page).getByRole("button", { name: "Stop", exact: true }).elementHandle();
  const took = await page.evaluate(async (stop) => {
    const began = performance.now();
    stop.click();
    while (document.querySelector("button.stop")) await new Promise((resolve) => setTimeout(resolve, 5));
    return performance.now() - began;
  }, stopping);
  console.log(`     the page saw the end after ${Math.round(took)} ms`);
  expect(took).toBeLessThan(500);
  expect(run(place).state).toBe("over");
  const [call] = place.told("logs", "--json", "-n", "1");
  expect(call.status).toBe("cancelled");
});
