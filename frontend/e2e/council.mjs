// The council in the real window, with the mouse: the sample that is scripted, and a council of four
// with a tool of each ecosystem, from the first member to its run after a restart.
//
//   node e2e/council.mjs [folder for pictures] [light|dark]
//
// What is pressed is found over the accessibility bus, and pressed where it is on the screen.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { approved, calledByEach, crew, install, letWeatherBeTold } from "./ecosystems.mjs";
import { Place, bin, built, perform, pictures, root, until } from "./processes.mjs";
import { Reader } from "./reader.mjs";

const shots = pictures();
const theme = process.argv[3] ?? "light";
const place = new Place();
let screen, reader, window;
let shot = 0;

async function picture(name) {
  screen.move(4, 4); // off what it pressed, whose hint would come
  await screen.still();
  screen.picture(join(shots, `council-${theme}-${String(++shot).padStart(2, "0")}-${name}.png`));
}

const words = async () => {
  if (window.ended) throw new Error(`the window's program ended: ${window.output}`);
  return reader.words();
};

/** Waits until the window says words. */
async function says(...wanted) {
  let now = "";
  await until(`the window to say ${wanted.join(", ")}`, async () => {
    now = await words();
    return wanted.every((w) => (w instanceof RegExp ? w.test(now) : now.includes(w)));
  }).catch((error) => {
    throw new Error(`${error.message}; it says: ${now.slice(0, 3000)}`);
  });
  if (/\[object|undefined|NaN/.test(now)) throw new Error(`the window says: ${now}`);
}

/**
 * Presses what has a name with the mouse, once the pointer is over it and nothing moves. A hint of what
 * was pressed before, which is a window of its own, may lie between; it goes when the pointer comes.
 */
async function click(name) {
  let found, before, picture;
  let calm = 0; // looks one after the other at which nothing moved
  await until(`something named ${name}`, async () => {
    found ??= await reader.pressable(name);
    const now = found && (await reader.spot(found));
    const there = now && now.x > 0 && now.y > 0 && now.x < screen.width && now.y < screen.height;
    const stays = there && now.x === before?.x && now.y === before.y;
    calm = stays && screen.changed(picture) < 0.0005 ? calm + 1 : 0;
    if (!there) found = null;
    else if (!stays) screen.move(now.x, now.y);
    before = now;
    picture = screen.sample();
    return calm >= 3 && !screen.covered("^conclave-window$", now.x, now.y);
  });
  screen.button();
}

async function open() {
  window = place.start(join(bin, "conclave-window"), [
    ...["--data", place.data, "--plugins", place.plugins],
  ]);
  await until("the window's page", async () => (await words()).includes("Write a message"));
  await screen.still();
  await screen.focusOn("(^| )Conclave$");
}

/** The newest chat's newest run, once it is over. */
const over = () =>
  until("the run to be over", () => {
    const [chat] = place.told("chats", "list", "--json");
    if (!chat) return false; // it is not begun
    const runs = place.told("council", "runs", chat.id, "--json");
    return runs.at(-1)?.state === "over" && runs.at(-1);
  });

const steps = {
  "while nobody sits in it, the panel offers presets and a sample": async () => {
    await open();
    await click("Show the panel");
    await click("Council");
    await says("No members yet.", "Three chairs", "Run a sample council");
    await picture("empty");
  },

  "the sample deliberates with real tools, and says who agrees and who does not": async () => {
    await click("Run a sample council");
    await over();
    await says(
      "What came of it",
      "Agreement",
      "Disagreement",
      "Not checked",
      /Sceptic disagrees: /,
    );
    await picture("sample");
    const now = await words();
    if (/\? weekdays|Person \?/.test(now)) throw new Error("a tool of the sample did not run");
  },

  "a point leads to the words it stands in, and a menu to what its member saw": async () => {
    await click(/^a1 in the words of Researcher/);
    await says("From 30 November to 18 December", "from the tool Days between");
    await picture("words");
    await click("What did Researcher see?");
    await says("Exact request");
    await picture("seen");
    screen.press("Escape");
  },

  "four members are added, and each is given a tool of another ecosystem": async () => {
    screen.press("ctrl+n");
    await says("No members yet.");
    for (const [i, { name }] of crew.entries()) {
      await click("Add member");
      await says(`More for Member ${i + 1}`);
      await reader.typed("Name");
      screen.type(name); // over the name that it has, which is selected
      await says(`More for ${name}`);
      await click(name); // folds its form
    }
    for (const { name, tool } of crew) {
      await click(`Give ${tool} to…`);
      await click(`Give to ${name}`);
      await says(`Take ${tool} from ${name}`);
    }
    await click("How the members work together");
    await click("Each uses its tools");
    await says("Each member runs the tools you gave it and reports");
    await click("Use council");
    await says("Council: 4");
    await picture("members");
  },

  "they work at once, each with its own tool": async () => {
    screen.press("Escape");
    await reader.typed("Message");
    screen.type("Where do we land tomorrow?");
    screen.press("Return");
    await says("Using Weather", "Finish with what we have", "Ada Done", "Bo Done", "Di Done");
    screen.picture(join(shots, `council-${theme}-${String(++shot).padStart(2, "0")}-works.png`));
    letWeatherBeTold(place);
    const run = await over();
    if (run.members !== 4) throw new Error(`${run.members} took part`);
    calledByEach(place);
    await says("There is nothing to compare", /4 members · /);
    await picture("over");
  },

  "each lane holds what its tool said": async () => {
    for (const { name, says: said } of crew) {
      await click(new RegExp(`^${name}\\s.*Done`));
      await says(said);
    }
    await picture("lanes");
    for (const { name } of crew) await click(new RegExp(`^${name}\\s.*Done`));
  },

  "the run is replayed a step at a time, read as a table, and over the whole width": async () => {
    await click("One step back");
    await click("One step back");
    await picture("replay");
    await click("As a table");
    await says("Began", "Took");
    await picture("table");
    await click("As a table");
    await click("Use the whole width");
    await says("Beside the conversation");
    await picture("wide");
    await click("Beside the conversation");
  },

  "after a restart the line under the answer opens the run, and so does the chat's menu":
    async () => {
      screen.press("ctrl+j"); // the panel is closed
      screen.press("ctrl+k");
      await reader.palette();
      screen.type("quit");
      screen.press("Return");
      await until("the window to close", () => window.ended);
      await place.free();
      await open();
      await click(/^4 members · /);
      await says("Run from", "There is nothing to compare");
      await picture("restarted");
      await click("Close the panel");
      await click("More for this chat");
      await click("Council and its runs");
      await says("Run from");
    },
};

await perform(place, steps, {
  begin: async () => {
    built("conclave", "conclave-worker", "conclave-window");
    screen = await place.screen();
    await place.bus({ keychain: false });
    reader = await Reader.open(place.env.DBUS_SESSION_BUS_ADDRESS);
    if (theme === "dark") place.gtk({ "gtk-application-prefer-dark-theme": 1 });
    for (const file of ["dice.js", "desk.py"])
      copyFileSync(join(root, "plugins", file), join(place.plugins, file));
    await approved(place, "dice", "desk");
    await install(place);
  },
  onfail: (n) => screen?.picture(join(shots, `council-${theme}-failed-${n}.png`)),
  goOn: false,
  ends: () => [reader],
});
