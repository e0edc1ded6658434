// The council in the real window: the sample that is scripted, and a council of four with a tool of
// each ecosystem, from the first member to its run after a restart; in light with the mouse, in dark
// by keys alone.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test as base, expect } from "./desktop.mjs";
import { approved, breakGlass, calledByEach, crew, install, letWeatherBeTold } from "./ecosystems.mjs";
import { Keyboard, Mouse } from "./hands.mjs";
import { root, until } from "./processes.mjs";

const early = "The card just moved";

const test = base.extend({
  hand: [
    ({ display, reader, theme }, use) => use(new (theme === "dark" ? Keyboard : Mouse)(display, reader)),
    { scope: "worker" },
  ],
});

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

test.use({ keychain: false });

test.afterEach(({ display, hand }) => {
  if (hand.byKeys) expect(display.pointer(), "the mouse was used").toBe(hand.pointer);
});

test.beforeAll(async ({ place, window: _ }) => {
  for (const file of ["dice.js", "desk.py"]) copyFileSync(join(root, "plugins", file), join(place.plugins, file));
  await approved(place, "dice", "desk");
  await install(place);
});

/** A run of the newest chat, the first unless it is said, once it is over. */
const over = (place, run = 1) =>
  until("the run to be over", () => {
    const [chat] = place.told("chats", "list", "--json");
    if (!chat) return false; // it is not begun
    const runs = place.told("council", "runs", chat.id, "--json");
    return runs[run - 1]?.state === "over" && runs[run - 1];
  });

test("while nobody sits in it, the panel offers presets and a sample", async ({ window, hand }) => {
  await window.open({ follow: hand.byKeys });
  await hand.show("Council");
  await window.says("No members yet.", "Three chairs", "Run a sample council");
  await hand.rest();
});

test("the sample deliberates with real tools, and says who agrees and who does not", async ({
  place,
  window,
  hand,
}) => {
  await hand.press("Run a sample council");
  await over(place);
  await window.says("What the council found", "Agreement", "Disagreement", "Not checked", /Sceptic disagrees: /);
  await hand.rest();
  // Each tool of the sample did run.
  expect(await window.words()).not.toMatch(/\? weekdays|Person \?/);
});

test("a point leads to the words it stands in, and a menu to what its member saw", async ({
  display,
  window,
  hand,
}) => {
  await hand.panel();
  await hand.press(/^a1 in the text of Researcher/);
  await window.says("From 30 November to 18 December", "from the tool Days between");
  await hand.rest();
  await hand.press("What did Researcher see?");
  await window.says("Exact request");
  await hand.rest();
  display.press("Escape");
  await hand.holds("What did Researcher see?");
});

test("four members are added, and each is given a tool of another ecosystem", async ({
  display,
  reader,
  window,
  hand,
}) => {
  display.press("ctrl+n");
  await window.says("No members yet.");
  await hand.panel();
  for (const [i, { name }] of crew.entries()) {
    await hand.press("Add member");
    await window.says(`More for Member ${i + 1}`);
    await reader.typed("Name");
    display.type(name); // over the name that it has, which is selected
    await window.says(`More for ${name}`);
    await hand.press(name, { back: true }); // folds its form
  }
  for (const { name, tool } of crew) {
    await hand.choose(`Give ${tool} to…`, `Give to ${name}`);
    await window.says(`Remove ${tool} from ${name}`);
  }
  await hand.panel();
  await hand.press("Council in this chat", { key: "space" });
  await window.says("Council: 4");
  await hand.choose("How the members work together", "Tools only, no answers", { menu: false });
  await window.says("Each member runs the tools you gave it and reports");
  await hand.rest();
});

test("they work at once, each with its own tool", async ({ place, window, hand }) => {
  await window.ask("Where do we land tomorrow?");
  await window.says("Using Weather", "Finish with what we have", "Ada Done", "Bo Done", "Di Done");
  letWeatherBeTold(place);
  const run = await over(place);
  expect(run.members).toBe(4);
  calledByEach(place);
  await window.says("There is nothing to compare", /4 members · /);
  await hand.rest();
});

test("each lane holds what its tool said", async ({ window, hand }) => {
  const lane = (name) => new RegExp(`^${name}\\s.*Done`);
  await hand.panel();
  for (const { name, says: said } of crew) {
    await hand.press(lane(name));
    await window.says(said);
  }
  await hand.rest();
  for (const { name } of crew.toReversed()) await hand.press(lane(name), { back: true });
});

test("the run is replayed a step at a time, read as a table, and over the whole width", async ({ window, hand }) => {
  await hand.press("One step back");
  await hand.press("One step back");
  await hand.rest();
  await hand.press("As a table", { back: true });
  await window.says("Began", "Took");
  await hand.rest();
  await hand.press("As a table");
  await hand.shortcut("ctrl+shift+j", "Use the full width");
  await window.says("Show next to the conversation");
  await hand.holds("As a table");
  await hand.rest();
  await hand.shortcut("ctrl+shift+j", "Show next to the conversation");
  await window.says("Use the full width");
  await hand.holds("As a table");
});

test("asked again, one member's tool asks in its lane, and what another's fails of is said", async ({
  place,
  display,
  window,
  hand,
}) => {
  place.told("permissions", "ask", "harbour:write_berth", "--council");
  breakGlass(place);
  await window.ask("And the day after?");
  await window.says("Waiting for you", "Allow once", "The glass has burst.");
  display.press("ctrl+shift+p");
  await hand.holds(/ wants to /);
  await hand.rest();
  await until("the answer to be taken", async () => {
    await hand.press("Allow once"); // which is not believed before it has armed
    const now = await until("the card to say what it made of it", async () => {
      const all = await window.words();
      return (!all.includes("Allow once") || all.includes(early)) && all;
    });
    await until("it to be said", async () => !(await window.words()).includes(early));
    return !now.includes("Allow once");
  });
  await window.says("1 task failed.", "Continue without them", "Ada Done");
  await hand.panel();
  await hand.press(/^Cy\s.*Failed/);
  await hand.rest();
  await hand.press("Continue without them", { back: true });
  await over(place, 2);
  await window.says("There is nothing to compare");
  await hand.rest();
});

test("after a restart the line under the answer opens the run, and so does the chat's menu", async ({
  display,
  reader,
  window,
  hand,
}) => {
  display.press("ctrl+j"); // the panel is closed
  if (hand.byKeys) await reader.typed("Message"); // where the keyboard was in it
  await window.quit();
  await window.open({ follow: hand.byKeys });
  await hand.press(/^4 members · /, { back: true });
  await window.says("Run from", "There is nothing to compare");
  await hand.rest();
  await hand.shortcut("ctrl+j", "Close the panel");
  await window.says("Show the panel");
  await hand.choose("More for this chat", "Council and its runs");
  await window.says("Run from");
  await hand.holds("More for this chat");
});
