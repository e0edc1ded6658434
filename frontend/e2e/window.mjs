// The real window, by keyboard alone, in light and dark, through a second start and a kill. What it did
// is read from the store, with the terminal program.
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "./desktop.mjs";
import { until } from "./processes.mjs";
import { button, heading, menu, menuItem } from "./reader.mjs";

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

const wordCount = `def word_count(text: str) -> int:
    """Count the words of a text.

    Args:
        text: The text to count.
    """
    return len(text.split())
`;

const chats = (place) => place.told("chats", "list", "--json");
const messages = (place, id) => place.told("chats", "show", id, "--json").messages;
const textOf = (message) => message.parts.map((part) => part.text ?? "").join("");

/** The last answer, in whatever chat changed last. */
function latest(place) {
  const [chat] = chats(place);
  const all = chat ? messages(place, chat.id) : [];
  const asked = all.findLast((message) => message.role === "user");
  const answer = all.at(-1);
  return {
    chat,
    question: asked && textOf(asked), // a chat is there before its question is
    answer: answer ? textOf(answer) : "",
    state: answer?.state,
  };
}

/** Waits until the answer to a question is in the store, in this state. */
function answered(place, question, state = "complete") {
  return until(`an answer to “${question}” that is ${state}`, () => {
    const now = latest(place);
    return now.question === question && now.state === state ? now : null;
  });
}

/** Programs of ours and of the web view's that were started from this place. */
function running(place) {
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
const allEnded = (place) => expect.poll(() => running(place)).toEqual([]);

test.beforeAll(({ place, window: _ }) => {
  writeFileSync(join(place.plugins, "word_count.py"), wordCount);
  place.told("plugins", "trust", "word_count");
  const ask = (...words) => place.told("prompt", "-m", "demo/guide", ...words);
  ask("What can you do?");
  ask("--approve", "always", '/tool word_count {"text":"a b c"}');
  ask("-c", "Show me Markdown");
});

test("the window opens, in light, and goes on with what is typed meanwhile", async ({ display, reader, window }) => {
  const typed = "Good morning, harbour";
  await window.open({ typed });
  await expect.poll(() => display.look().brightness).toBeGreaterThan(0.75);
  await reader.holds(typed);
  display.press("ctrl+a", "Delete");
});

test("a message typed into it is answered, and the answer is in the store", async ({ place, window }) => {
  await window.ask("Hello from the keyboard");
  const { answer } = await answered(place, "Hello from the keyboard");
  expect(answer.length).toBeGreaterThanOrEqual(20);
});

test("what was cut is pasted by a right click", async ({ place, display, reader, window }) => {
  display.press("Escape");
  await reader.typed("Message");
  display.type("Pasted by hand");
  await window.says("Pasted by hand");
  display.press("ctrl+a", "ctrl+x");
  await expect.poll(() => window.words()).not.toContain("Pasted by hand");
  display.click(700, 768, 3); // into the composer, which is at the foot of a chat
  await reader.typed(/^/, [menu]); // which has no name
  await display.still();
  display.press("Down"); // Cut and Copy have nothing to take
  await reader.typed("Paste", [menuItem]);
  display.press("Return");
  await window.says("Pasted by hand");
  display.press("Return");
  await answered(place, "Pasted by hand");
});

test("Ctrl and + make everything larger, Ctrl and 0 as before", async ({ display }) => {
  await display.still();
  const before = display.sample();
  display.press("ctrl+plus", "ctrl+plus");
  await expect.poll(() => display.changed(before)).toBeGreaterThan(0.02);
  await display.still();
  const large = display.sample();
  display.press("ctrl+0");
  await expect.poll(() => display.changed(large)).toBeGreaterThan(0.02);
});

test("a tool asks, and keys alone let it run once", async ({ place, display, reader, window }) => {
  await window.ask('/tool word_count {"text":"a b c d"}');
  await expect.poll(() => JSON.stringify(messages(place, chats(place)[0].id))).toContain("a b c d");
  await display.still();
  display.press("ctrl+shift+p");
  await reader.typed(/ wants to /, [heading]);
  await display.still();
  const [bar] = display.windows("(^| )Conclave$");
  await expect.poll(() => display.title(bar)).toMatch(/^\(1\) .+ – Conclave$/);
  // From the heading: the arguments, edit, details, not now, its menu, allow more, allow once.
  display.press(...Array(7).fill("Tab"));
  await reader.armed("Allow once", [button]);
  display.press("Return");
  const call = () => place.told("logs", "--json", "--tool", "word_count", "-n", "1")[0];
  await expect.poll(() => call().status).toBe("ok"); // it is there while it asks
  expect(JSON.stringify(call())).toContain("a b c d");
  await answered(place, '/tool word_count {"text":"a b c d"}');
});

test("an answer streams in, and Ctrl+. stops it and keeps what was said", async ({ place, display, window }) => {
  await window.ask("/slow 60");
  const first = await until("the answer to begin", () => {
    const now = latest(place);
    return now.question === "/slow 60" && now.state === "streaming" && now.answer ? now : null;
  });
  await expect.poll(() => latest(place).answer.length).toBeGreaterThan(first.answer.length);
  display.press("ctrl+period");
  const { answer } = await answered(place, "/slow 60", "stopped");
  expect(answer.slice(0, first.answer.length)).toBe(first.answer);
});

test("a new chat is begun by keyboard", async ({ place, display, window }) => {
  const before = chats(place).length;
  display.press("ctrl+n");
  await display.still();
  await window.ask("Show me Markdown");
  await expect.poll(() => chats(place).length).toBe(before + 1);
  await answered(place, "Show me Markdown");
});

test("the palette turns it dark", async ({ display, window }) => {
  await window.command("theme: dark", "Return");
  await expect.poll(() => display.look().brightness).toBeLessThan(0.3);
});

test("settings, the panel and the shortcuts open by keyboard, and Esc leads back", async ({
  place,
  display,
  window,
}) => {
  for (const keys of ["ctrl+comma", "ctrl+slash"]) {
    const before = display.sample();
    display.press(keys);
    await expect.poll(() => display.changed(before)).toBeGreaterThan(0.01);
    await display.still();
    display.press("Escape");
    await display.still();
  }
  const before = display.sample();
  display.press("ctrl+j");
  await expect.poll(() => display.changed(before)).toBeGreaterThan(0.01);
  await display.still();
  display.press("ctrl+j");
  await display.still();
  await window.ask("Still here");
  await answered(place, "Still here");
});

test("a second start brings the first window to the front, and ends well", async ({ place, display, window }) => {
  const other = place.start("xmessage", ["-geometry", "300x100+10+10", "Another program"]);
  const [id] = await until("another program's window", () => {
    if (other.ended) return ["none"];
    const found = display.windows("^xmessage$");
    return found.length > 0 && found;
  });
  if (id !== "none") display.focus(id);
  const second = window.start();
  expect(await second.gone, second.output).toBe("exit 0");
  expect(second.output).toContain("brought to the front");
  expect(window.program.ended, window.program.output).toBeUndefined();
  await place.end(other);
  await display.focusOn("(^| )Conclave$"); // no window manager does it here
  await window.ask("And here again");
  await answered(place, "And here again");
});

test("a link begins a message, which the person sends", async ({ place, display, window }) => {
  const before = chats(place);
  const text = "Where do we land?\u200b\u200b";
  await window.follow(`conclave://ask?text=${encodeURIComponent(text)}&model=nobody`);
  await window.says("Where do we land?", "came from a link in another program", "2 hidden characters were removed");
  await window.says("asks for the model “nobody”, which you have not connected");
  await window.follow("conclave://ask?text=And%20when%3F&send=yes");
  await window.says("The link asks for more than Conclave does.");
  await display.still();
  expect(chats(place)).toEqual(before);
  display.press("Return");
  await answered(place, "Where do we land?");
  expect(chats(place).length).toBe(before.length + 1);
});

test("a link to a plugin fills in its address, and fetches and installs nothing", async ({
  place,
  display,
  reader,
  window,
  snare,
}) => {
  const plugins = () => place.told("plugins", "list", "--json").map(({ id }) => id);
  const before = plugins();
  const address = `https://127.0.0.1:${snare.port}/harbour.git`;
  await window.follow(`conclave://plugin?url=${encodeURIComponent(address)}`);
  await reader.typed("Address or path");
  await reader.holds(address);
  await window.says("Nothing was fetched. Add it only if you trust who made it.");
  await window.follow("conclave://plugin?url=https%3A%2F%2Fother.example%2Fplugin.git");
  await window.says("A link offers another plugin.");
  await reader.holds(address);
  display.press("Escape");
  await expect.poll(() => window.words()).not.toContain("Nothing was fetched.");
  expect([snare.met, plugins()]).toEqual([[], before]);
});

test("a chat is saved as Markdown and as a web page, and everything as a backup", async ({
  place,
  display,
  window,
}) => {
  await window.ask("Show me Markdown");
  await answered(place, "Show me Markdown");
  const save = async (command, name) => {
    const path = join(place.home, name);
    await window.command(command, "Return");
    await display.focusOn("^Save as$");
    await display.still();
    display.press("ctrl+a");
    display.type(path);
    display.press("Return");
    await window.says(`Saved as ${path}.`);
    await display.focusOn("(^| )Conclave$"); // no window manager does it here
    return readFileSync(path, "utf8");
  };
  expect(await save("as markdown", "chat.md")).toContain("Show me Markdown");
  expect(await save("share this chat", "chat.html")).toMatch(/^<!doctype html>[^]*Show me Markdown[^]*<table>/);
  expect((await save("back up everything", "all.backup")).length).toBeGreaterThan(10_000);
});

test("a kill in the middle of an answer loses nothing, and leaves nothing running", async ({
  place,
  display,
  window,
}) => {
  await window.command("theme: system", "Return");
  await expect.poll(() => display.look().brightness).toBeGreaterThan(0.75);
  await window.ask("/slow 60");
  await until("the answer to begin", () => {
    const now = latest(place);
    return now.question === "/slow 60" && now.answer.length > 400;
  });
  const before = chats(place);
  process.kill(window.program.pid, "SIGKILL");
  await window.program.gone;
  await allEnded(place);
  place.gtk({ "gtk-application-prefer-dark-theme": 1 });
  await window.open();
  await expect.poll(() => display.look().brightness).toBeLessThan(0.3);
  const ids = (all) => all.map((chat) => chat.id);
  expect(ids(chats(place))).toEqual(expect.arrayContaining(ids(before)));
  const { question, answer, state } = latest(place);
  expect(question).toBe("/slow 60");
  expect(answer.length).toBeGreaterThanOrEqual(40);
  expect(state).not.toBe("streaming");
  const store = place.told("doctor", "--json").find((finding) => finding.name === "store");
  expect(store).toMatchObject({ ok: true });
  await window.ask("Back again");
  await answered(place, "Back again");
});

test("it closes cleanly", async ({ place, window }) => {
  await window.quit();
  await allEnded(place);
});

test("what keeps it from starting is said in a small window of its own", async ({ place, display, window }) => {
  const file = join(place.data, "a-file");
  writeFileSync(file, "in the way");
  const program = window.start(join(file, "data"));
  await expect.poll(() => display.look().colours).toBeGreaterThan(20);
  await display.still();
  await display.focusOn("(^| )Conclave$");
  display.press("Return");
  expect(await program.gone).toBe("exit 1");
  expect(program.output).toContain("cannot be made");
});
