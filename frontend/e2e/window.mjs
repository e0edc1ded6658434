// The real window: build/bin/conclave-window in WebKitGTK under Xvfb, by keyboard
// alone, in light and dark, through a second start and a kill.
//
//   node e2e/window.mjs [folder for pictures]
//
// What the window shows is told from its pixels, what it did from the store,
// which the terminal program reads through it.
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Place, bin, built, perform, pictures, until } from "./processes.mjs";
import { Reader, button, heading, menu, menuItem } from "./reader.mjs";

const shots = pictures();
const place = new Place();
const picture = (name) => screen.picture(join(shots, `window-${name}.png`));
let screen, window, reader;

const wordCount = `def word_count(text: str) -> int:
    """Count the words of a text.

    Args:
        text: The text to count.
    """
    return len(text.split())
`;

/** Starts the window's program and waits until one can write in it: what is drawn first is a frame. */
async function open() {
  window = place.start(join(bin, "conclave-window"), [...["--data", place.data, "--plugins", place.plugins]]);
  await seen("the window's page", (now) => now.colours > 60 && now.commonest < 0.9);
  await until("the composer", async () => (await reader.words()).includes("Write a message"));
  await screen.still();
  await screen.focusOn("(^| )Conclave$");
}

/** Waits until the picture is as it should be. */
async function seen(what, like) {
  let now;
  try {
    await until(what, () => {
      if (window.ended) throw new Error(`the window's program ended: ${window.output}`);
      now = screen.look();
      return like(now);
    });
  } catch (error) {
    throw new Error(`${error.message}; the picture: ${JSON.stringify(now)}; ${window.output}`, {
      cause: error,
    });
  }
}

/** Waits until the window says words. */
const says = (words) => until(words, async () => (await reader.words()).includes(words));

const chats = () => place.told("chats", "list", "--json");
const messages = (id) => place.told("chats", "show", id, "--json").messages;
const textOf = (message) => message.parts.map((part) => part.text ?? "").join("");

/** The last answer, in whatever chat changed last. */
function latest() {
  const [chat] = chats();
  const all = chat ? messages(chat.id) : [];
  const asked = all.findLast((message) => message.role === "user");
  const answer = all.at(-1);
  return {
    chat,
    question: asked && textOf(asked), // a chat is there before its question is
    answer: answer ? textOf(answer) : "",
    state: answer?.state,
  };
}

/** Types a message into the composer, which Esc leads to. */
async function say(text) {
  screen.press("Escape");
  await reader.typed("Message");
  screen.type(text);
  screen.press("Return");
}

/** Waits until the answer to a question is in the store, in this state. */
function answered(question, state = "complete") {
  return until(`an answer to “${question}” that is ${state}`, () => {
    const now = latest();
    return now.question === question && now.state === state ? now : null;
  });
}

/** Chooses a command in the palette. */
async function command(words) {
  screen.press("ctrl+k");
  await reader.palette();
  screen.type(words);
  screen.press("Return");
}

const title = () => screen.title(screen.windows("(^| )Conclave$")[0]);

/** Programs of ours and of the web view's that were started from this place. */
function running() {
  const found = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const program = basename(readlinkSync(`/proc/${pid}/exe`));
      const env = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      if (/^(conclave|WebKit|python)/.test(program) && env.includes(`HOME=${place.home}`))
        found.push(`${program} (${pid})`);
    } catch {
      // it ended meanwhile, or is not ours to look at
    }
  }
  return found;
}

/** Waits until none of them is there: an end takes its time. */
const allEnded = () =>
  until("its processes to end", () => running().length === 0).catch((error) => {
    throw new Error(`${error.message}: ${running().join(", ")}`);
  });

const isLight = (now) => now.brightness > 0.75;
const isDark = (now) => now.brightness < 0.3;

const steps = {
  "the window opens, in light": async () => {
    await open();
    await seen("a light window", isLight);
    picture("light");
  },

  "a message typed into it is answered, and the answer is in the store": async () => {
    await say("Hello from the keyboard");
    const { answer } = await answered("Hello from the keyboard");
    if (answer.length < 20) throw new Error(`the answer is “${answer}”`);
    await screen.still();
    picture("answered");
  },

  "what was cut is pasted by a right click": async () => {
    screen.press("Escape");
    await reader.typed("Message");
    screen.type("Pasted by hand");
    await says("Pasted by hand");
    screen.press("ctrl+a", "ctrl+x");
    await until("it to be cut", async () => !(await reader.words()).includes("Pasted by hand"));
    screen.click(700, 768, 3); // into the composer, which is at the foot of a chat
    await reader.typed(/^/, [menu]); // which has no name
    await screen.still();
    picture("right-click");
    screen.press("Down"); // Cut and Copy have nothing to take
    await reader.typed("Paste", [menuItem]);
    screen.press("Return");
    await says("Pasted by hand");
    screen.press("Return");
    await answered("Pasted by hand");
  },

  "Ctrl and + make everything larger, Ctrl and 0 as before": async () => {
    await screen.still();
    const before = screen.sample();
    screen.press("ctrl+plus", "ctrl+plus");
    await until("a larger window", () => screen.changed(before) > 0.02);
    await screen.still();
    picture("zoomed");
    const large = screen.sample();
    screen.press("ctrl+0");
    await until("a smaller window", () => screen.changed(large) > 0.02);
  },

  "a tool asks, and keys alone let it run once": async () => {
    await say('/tool word_count {"text":"a b c d"}');
    await until("the call to wait for the person", () =>
      messages(chats()[0].id).some((m) => JSON.stringify(m).includes("a b c d")),
    );
    await screen.still();
    screen.press("ctrl+shift+p");
    await reader.typed(/ wants to /, [heading]);
    await screen.still();
    picture("permission");
    await until("the title bar to count it", () => /^\(1\) .+ – Conclave$/.test(title()));
    // From the heading: the arguments, edit, details, not now, its menu, allow more, allow once.
    screen.press(...Array(7).fill("Tab"));
    await reader.armed("Allow once", [button]);
    screen.press("Return");
    await until("the call to be on record as done", () => {
      const [call] = place.told("logs", "--json", "--tool", "word_count", "-n", "1");
      return call.status === "ok" && JSON.stringify(call).includes("a b c d"); // it is there while it asks
    });
    await answered('/tool word_count {"text":"a b c d"}');
    await screen.still();
    picture("tool");
  },

  "an answer streams in, and Ctrl+. stops it and keeps what was said": async () => {
    await say("/slow 60");
    const first = await until("the answer to begin", () => {
      const now = latest();
      return now.question === "/slow 60" && now.state === "streaming" && now.answer ? now : null;
    });
    await until("the answer to grow", () => latest().answer.length > first.answer.length);
    picture("streaming");
    screen.press("ctrl+period");
    const { answer } = await answered("/slow 60", "stopped");
    if (!answer.startsWith(first.answer)) throw new Error("what was said is gone");
  },

  "a new chat is begun by keyboard": async () => {
    const before = chats().length;
    screen.press("ctrl+n");
    await screen.still();
    picture("new-chat");
    await say("Show me Markdown");
    await until("another chat", () => chats().length === before + 1);
    await answered("Show me Markdown");
  },

  "the palette turns it dark": async () => {
    await command("theme: dark");
    await seen("a dark window", isDark);
    await screen.still();
    picture("dark");
  },

  "settings, the panel and the shortcuts open by keyboard, and Esc leads back": async () => {
    for (const [name, keys] of [
      ["settings", "ctrl+comma"],
      ["keys", "ctrl+slash"],
    ]) {
      const before = screen.sample();
      screen.press(keys);
      await until(`${name} to be shown`, () => screen.changed(before) > 0.01);
      await screen.still();
      picture(name);
      screen.press("Escape");
      await screen.still();
    }
    const before = screen.sample();
    screen.press("ctrl+j");
    await until("the panel to open or close", () => screen.changed(before) > 0.01);
    await screen.still();
    picture("panel");
    screen.press("ctrl+j");
    await screen.still();
    await say("Still here");
    await answered("Still here");
  },

  "a second start brings the first window to the front, and ends well": async () => {
    const other = place.start("xmessage", ["-geometry", "300x100+10+10", "Another program"]);
    const [id] = await until("another program's window", () => {
      if (other.ended) return ["none"];
      const found = screen.windows("^xmessage$");
      return found.length > 0 && found;
    });
    if (id !== "none") screen.focus(id);
    const second = place.start(join(bin, "conclave-window"), [...["--data", place.data, "--plugins", place.plugins]]);
    const how = await second.gone;
    if (how !== "exit 0" || !second.output.includes("brought to the front"))
      throw new Error(`the second start ended with ${how}: ${second.output}`);
    if (window.ended) throw new Error(`the first window ended: ${window.output}`);
    await place.end(other);
    await screen.focusOn("(^| )Conclave$"); // no window manager does it here
    await say("And here again");
    await answered("And here again");
  },

  "a kill in the middle of an answer loses nothing, and leaves nothing running": async () => {
    await command("theme: system");
    await seen("a light window", isLight);
    await say("/slow 60");
    await until("the answer to begin", () => {
      const now = latest();
      return now.question === "/slow 60" && now.answer.length > 400;
    });
    const before = chats();
    process.kill(window.pid, "SIGKILL");
    await window.gone;
    await allEnded();
    place.gtk({ "gtk-application-prefer-dark-theme": 1 });
    await open();
    await seen("a window as dark as the desktop", isDark);
    picture("again-dark");
    const after = chats();
    for (const { id, title } of before)
      if (!after.some((chat) => chat.id === id)) throw new Error(`the chat “${title}” is gone`);
    const { question, answer, state } = latest();
    if (question !== "/slow 60" || answer.length < 40 || state === "streaming")
      throw new Error(`after the kill: ${JSON.stringify({ question, answer, state })}`);
    const store = place.told("doctor", "--json").find((finding) => finding.name === "store");
    if (!store?.ok) throw new Error(`the store: ${JSON.stringify(store)}`);
    await say("Back again");
    await answered("Back again");
  },

  "it closes cleanly": async () => {
    await command("quit");
    await until("the window to close", () => window.ended);
    if (window.ended !== "exit 0") throw new Error(`it ended with ${window.ended}`);
    await place.free();
    await allEnded();
  },

  "what keeps it from starting is said in a small window of its own": async () => {
    const file = join(place.data, "a-file");
    writeFileSync(file, "in the way");
    window = place.start(join(bin, "conclave-window"), ["--data", join(file, "data")]);
    await seen("the small window", (now) => now.colours > 20);
    await screen.still();
    picture("could-not-start");
    await screen.focusOn("(^| )Conclave$");
    screen.press("Return");
    await until("the small window to close", () => window.ended);
    if (window.ended !== "exit 1" || !window.output.includes("cannot be made"))
      throw new Error(`it ended with ${window.ended}: ${window.output}`);
  },
};

await perform(place, steps, {
  begin: async () => {
    built("conclave", "conclave-worker", "conclave-window");
    screen = await place.screen();
    await place.bus();
    reader = await Reader.open(place.env.DBUS_SESSION_BUS_ADDRESS);
    writeFileSync(join(place.plugins, "word_count.py"), wordCount);
    place.told("plugins", "trust", "word_count");
    const ask = (...words) => place.told("prompt", "-m", "demo/guide", ...words);
    ask("What can you do?");
    ask("--approve", "always", '/tool word_count {"text":"a b c"}');
    ask("-c", "Show me Markdown");
  },
  onfail: (n) => picture(`failed-${n}`),
  ends: () => [reader],
});
