// The council in the real window: the sample that is scripted, and a council of four with a tool of
// each ecosystem, from the first member to its run after a restart; in light with the mouse, in dark
// by keys alone.
//
//   node e2e/council.mjs [folder for pictures] [light|dark]
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { approved, breakGlass, calledByEach, crew, install, letWeatherBeTold } from "./ecosystems.mjs";
import { Keyboard, Mouse } from "./hands.mjs";
import { Place, bin, built, perform, pictures, root, until } from "./processes.mjs";
import { Reader } from "./reader.mjs";

const shots = pictures();
const theme = process.argv[3] ?? "light";
const byKeys = theme === "dark";
const early = "The card just moved";
const place = new Place();
let screen, reader, hand, window, pointer;
let shot = 0;

/** Takes a picture: at once, or when all has come to rest. */
async function picture(name, { moving = false } = {}) {
  if (!moving) await hand.rest();
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

async function open() {
  window = place.start(join(bin, "conclave-window"), [...["--data", place.data, "--plugins", place.plugins]]);
  await until("the window's page", async () => (await words()).includes("Write a message"));
  if (byKeys) await reader.follow();
  await screen.still();
  await screen.focusOn("(^| )Conclave$");
}

/** A run of the newest chat, the first unless it is said, once it is over. */
const over = (run = 1) =>
  until("the run to be over", () => {
    const [chat] = place.told("chats", "list", "--json");
    if (!chat) return false; // it is not begun
    const runs = place.told("council", "runs", chat.id, "--json");
    return runs[run - 1]?.state === "over" && runs[run - 1];
  });

/** Sends a message, from wherever the keyboard is. */
async function ask(text) {
  screen.press("Escape");
  await reader.typed("Message");
  screen.type(text);
  screen.press("Return");
}

const steps = {
  "while nobody sits in it, the panel offers presets and a sample": async () => {
    await open();
    await hand.show("Council");
    await says("No members yet.", "Three chairs", "Run a sample council");
    await picture("empty");
  },

  "the sample deliberates with real tools, and says who agrees and who does not": async () => {
    await hand.press("Run a sample council");
    await over();
    await says("What the council found", "Agreement", "Disagreement", "Not checked", /Sceptic disagrees: /);
    await picture("sample");
    const now = await words();
    if (/\? weekdays|Person \?/.test(now)) throw new Error("a tool of the sample did not run");
  },

  "a point leads to the words it stands in, and a menu to what its member saw": async () => {
    await hand.panel();
    await hand.press(/^a1 in the text of Researcher/);
    await says("From 30 November to 18 December", "from the tool Days between");
    await picture("words");
    await hand.press("What did Researcher see?");
    await says("Exact request");
    await picture("seen");
    screen.press("Escape");
    await hand.holds("What did Researcher see?");
  },

  "four members are added, and each is given a tool of another ecosystem": async () => {
    screen.press("ctrl+n");
    await says("No members yet.");
    await hand.panel();
    for (const [i, { name }] of crew.entries()) {
      await hand.press("Add member");
      await says(`More for Member ${i + 1}`);
      await reader.typed("Name");
      screen.type(name); // over the name that it has, which is selected
      await says(`More for ${name}`);
      await hand.press(name, { back: true }); // folds its form
    }
    for (const { name, tool } of crew) {
      await hand.choose(`Give ${tool} to…`, `Give to ${name}`);
      await says(`Remove ${tool} from ${name}`);
    }
    await hand.panel();
    await hand.press("Council in this chat", { key: "space" });
    await says("Council: 4");
    await hand.choose("How the members work together", "Tools only, no answers", { menu: false });
    await says("Each member runs the tools you gave it and reports");
    await picture("members");
  },

  "they work at once, each with its own tool": async () => {
    await ask("Where do we land tomorrow?");
    await says("Using Weather", "Finish with what we have", "Ada Done", "Bo Done", "Di Done");
    await picture("works", { moving: true });
    letWeatherBeTold(place);
    const run = await over();
    if (run.members !== 4) throw new Error(`${run.members} took part`);
    calledByEach(place);
    await says("There is nothing to compare", /4 members · /);
    await picture("over");
  },

  "each lane holds what its tool said": async () => {
    const lane = (name) => new RegExp(`^${name}\\s.*Done`);
    await hand.panel();
    for (const { name, says: said } of crew) {
      await hand.press(lane(name));
      await says(said);
    }
    await picture("lanes");
    for (const { name } of crew.toReversed()) await hand.press(lane(name), { back: true });
  },

  "the run is replayed a step at a time, read as a table, and over the whole width": async () => {
    await hand.press("One step back");
    await hand.press("One step back");
    await picture("replay");
    await hand.press("As a table", { back: true });
    await says("Began", "Took");
    await picture("table");
    await hand.press("As a table");
    await hand.shortcut("ctrl+shift+j", "Use the full width");
    await says("Show next to the conversation");
    await hand.holds("As a table");
    await picture("wide");
    await hand.shortcut("ctrl+shift+j", "Show next to the conversation");
    await says("Use the full width");
    await hand.holds("As a table");
  },

  "asked again, one member's tool asks in its lane, and what another's fails of is said": async () => {
    place.told("permissions", "ask", "harbour:write_berth", "--council");
    breakGlass(place);
    await ask("And the day after?");
    await says("Waiting for you", "Allow once", "The glass has burst.");
    screen.press("ctrl+shift+p");
    await hand.holds(/ wants to /);
    await picture("asks");
    await until("the answer to be taken", async () => {
      await hand.press("Allow once"); // which is not believed before it has armed
      const now = await until("the card to say what it made of it", async () => {
        const all = await words();
        return (!all.includes("Allow once") || all.includes(early)) && all;
      });
      await until("it to be said", async () => !(await words()).includes(early));
      return !now.includes("Allow once");
    });
    await says("1 task failed.", "Continue without them", "Ada Done");
    await hand.panel();
    await hand.press(/^Cy\s.*Failed/);
    await picture("failed");
    await hand.press("Continue without them", { back: true });
    await over(2);
    await says("There is nothing to compare");
    await picture("without");
  },

  "after a restart the line under the answer opens the run, and so does the chat's menu": async () => {
    screen.press("ctrl+j"); // the panel is closed
    if (byKeys) await reader.typed("Message"); // where the keyboard was in it
    screen.press("ctrl+k");
    await reader.palette();
    screen.type("quit");
    screen.press("Return");
    await until("the window to close", () => window.ended);
    await place.free();
    await open();
    await hand.press(/^4 members · /, { back: true });
    await says("Run from", "There is nothing to compare");
    await picture("restarted");
    await hand.shortcut("ctrl+j", "Close the panel");
    await says("Show the panel");
    await hand.choose("More for this chat", "Council and its runs");
    await says("Run from");
    await hand.holds("More for this chat");
  },
};

if (byKeys)
  steps["the mouse was left alone"] = () => {
    const now = screen.pointer();
    if (now !== pointer) throw new Error(`the pointer was at ${pointer}, and is at ${now}`);
  };

await perform(place, steps, {
  begin: async () => {
    built("conclave", "conclave-worker", "conclave-window");
    screen = await place.screen();
    await place.bus({ keychain: false });
    reader = await Reader.open(place.env.DBUS_SESSION_BUS_ADDRESS);
    hand = new (byKeys ? Keyboard : Mouse)(screen, reader);
    if (byKeys) {
      screen.keysAlone();
      pointer = screen.pointer();
    }
    if (theme === "dark") place.gtk({ "gtk-application-prefer-dark-theme": 1 });
    for (const file of ["dice.js", "desk.py"]) copyFileSync(join(root, "plugins", file), join(place.plugins, file));
    await approved(place, "dice", "desk");
    await install(place);
  },
  onfail: (n) => screen?.picture(join(shots, `council-${theme}-failed-${n}.png`)),
  goOn: false,
  ends: () => [reader],
});
