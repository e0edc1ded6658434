// A newcomer's first minutes in the real window, on a computer without a keychain: what fails, what
// is chosen, the first answer and the first own tool; and then replies that would act if they could.
// In light by keys alone, in dark with the mouse.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as base, expect } from "./desktop.mjs";
import { Keyboard, Mouse } from "./hands.mjs";
import { hostile } from "./hostile.mjs";
import { until } from "./processes.mjs";
import { button, heading } from "./reader.mjs";
import { longName, rightKey } from "./server.mjs";

const test = base.extend({
  hand: [
    ({ display, reader, theme }, use) => use(new (theme === "dark" ? Mouse : Keyboard)(display, reader)),
    { scope: "worker" },
  ],
});

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

test.use({ keychain: false, models: ["talker", longName] });

test.afterEach(({ display, hand }) => {
  if (hand.byKeys) expect(display.pointer(), "the mouse was used").toBe(hand.pointer);
});

/** Says how long it took until now, and how many keys and clicks. */
const tour = { began: 0, keys: 0, clicks: 0 };
function reached(what, display) {
  const { keys, clicks } = display.pressed;
  const seconds = ((performance.now() - tour.began) / 1000).toFixed(1);
  console.log(`${what}: ${clicks - tour.clicks} clicks, ${keys - tour.keys} keys, ${seconds} s`);
  Object.assign(tour, { began: performance.now(), keys, clicks });
}

/** Presses a button that has to stand for a while before it is believed. */
async function armed({ display, reader, hand }, name) {
  if (!hand.byKeys) return hand.press(name);
  await hand.field(name);
  await reader.armed(name, [button]);
  display.press("Return");
}

/** The six lines of README.md. */
const wordCount = `def word_count(text: str) -> int:
    """Count the words of a text.

    :param text: The text to count.
    """
    return len(text.split())
`;

/** Asks in the composer and waits for the answer's end. */
async function ask({ place, window, display }, text) {
  await window.ask(text);
  await until(`the answer to ${text}`, () => {
    const [chat] = place.told("chats", "list", "--json");
    if (!chat) return false; // it is not begun
    const { messages } = place.told("chats", "show", chat.id, "--json");
    const last = messages.findLast((m) => m.role === "user");
    const said = last?.parts.map((p) => p.text ?? "").join("");
    const answer = messages.at(-1);
    return said === text && answer?.role === "assistant" && /^(complete|failed)$/.test(answer.state);
  });
  await display.still();
}

/** Asks in a new chat, where the server is asked for nothing else. */
async function askAnew(world, text) {
  world.display.press("ctrl+n");
  await world.display.still();
  await ask(world, text);
  expect(world.server.asked.at(-1).text).toBe(text);
}

/** Pixels of the colour that hostile replies paint with, outside the conversation's column. */
function strays(display) {
  const raw = display.pixels();
  const [left, right] = [290, display.width - 20];
  const [top, bottom] = [72, display.height - 150];
  let n = 0;
  for (let y = 0; y < display.height; y++)
    for (let x = 0; x < display.width; x++) {
      const inside = x > left && x < right && y > top && y < bottom;
      if (!inside && (raw.readUInt32LE(y * display.stride + 4 * x) & 0xffffff) === 0xff00ff) n++;
    }
  return n;
}

/** Fails where a hostile reply that is in view paints outside the conversation. */
async function paintsNothingElsewhere(display) {
  await display.still();
  expect(strays(display), "pixels that are painted elsewhere").toBe(0);
}

test("the welcome says what there is, and Demo guide answers", async ({ display, place, window, hand }) => {
  tour.began = performance.now();
  await window.open({ follow: hand.byKeys });
  await window.says("Talk to models. Keep control.");
  reached("the window is open", display);
  await ask({ place, window, display }, "Hello");
  await window.says("I am Demo guide");
  reached("Demo guide's first answer", display);
});

test("the key has the focus, and a passphrase is chosen beside it", async ({
  display,
  reader,
  window,
  hand,
  server,
}) => {
  display.press("ctrl+n");
  await window.says("Talk to models. Keep control.");
  await hand.press("Paste a key");
  await window.says("Key", "encrypted file protected by a passphrase");
  await reader.typed(/^Key/);
  await window.fill("sk-wrong");
  await window.says("Choose a passphrase for your keys", "no way to recover");
  await hand.field("Provider", { back: true });
  display.type("compatible");
  await window.says("OpenAI-compatible server");
  display.press("Return");
  await window.says("Server address");
  await hand.field("Server address");
  await window.fill(server.url.replace("http://", ""));
  await hand.field("Choose a passphrase for your keys");
  await window.fill("short");
  await hand.field("Repeat passphrase");
  await window.fill("different");
  await window.says("At least 8 characters", "The passphrases do not match.");
});

test("a wrong key is said in words, with what to do, and the key is next", async ({
  display,
  window,
  hand,
  server,
}) => {
  await hand.field("Choose a passphrase for your keys", { back: true });
  await window.fill("four plain words here");
  await hand.field("Repeat passphrase");
  await window.fill("four plain words here");
  display.press("Return");
  await window.says(/did not accept the key/i, "401", "Nothing was saved.");
  expect(server.asked.some((a) => a.refused)).toBe(true);
  reached("a wrong key, with passphrase and provider", display);
});

test("the right key brings its models, and the default is said", async ({ display, reader, window, hand }) => {
  await hand.holds(/^Key/);
  await reader.typed(/^Key/);
  await window.fill(rightKey);
  display.press("Return");
  await window.says("New chats now use"); // for a while only
  await window.says("Answered in");
  await hand.holds("Add a connection");
  reached("a model is connected", display);
});

test("another model is picked, and the first answer comes from it", async ({
  place,
  display,
  reader,
  window,
  hand,
  server,
}) => {
  display.press("ctrl+n");
  await display.still();
  await hand.press(/^Model: talker/);
  await reader.typed("Search models");
  display.type("very-long");
  await window.says(longName);
  display.press("Return");
  await window.says(`Model: ${longName}`);
  await hand.holds(/^Model: /);
  await ask({ place, window, display }, "Hello there");
  await window.says("A first answer from the scripted server.", longName);
  expect(server.asked.at(-1).model).toBe(longName);
  reached("its first answer", display);
});

test("an own tool is saved, read, approved, and called once it is allowed", async ({
  place,
  display,
  reader,
  window,
  hand,
  server,
}) => {
  writeFileSync(join(place.plugins, "word_count.py"), wordCount);
  await window.says("“word_count” is new. Review what it can do before it runs."); // the panel opens by itself
  if (hand.byKeys) display.press("ctrl+shift+p"); // to the sentence above its facts
  await display.still();
  await armed({ display, reader, hand }, "Approve and turn on");
  await until("the tool to serve", () => place.told("tools", "list", "--json").some((t) => t.name === "word_count"));
  reached("the own tool serves", display);
  server.answers["Count: a b c"] = { text: "", call: { name: "word_count", arguments: { text: "a b c" } } };
  await window.ask("Count: a b c");
  await window.says("Allow once");
  if (hand.byKeys) {
    display.press("ctrl+shift+p");
    await reader.typed(/ wants to /, [heading]);
  }
  await display.still();
  await armed({ display, reader, hand }, "Allow once");
  await window.says("That was the tool.");
  const [call] = place.told("logs", "--json", "--tool", "word_count", "-n", "1");
  expect([call.status, call.result_text]).toEqual(["ok", "3"]);
  reached("its first call", display);
});

test("an answer that fails says why, and what to do", async ({ place, display, window, server }) => {
  server.answers["Fail 500"] = (_, json) => json(500, { error: { message: "the server went wrong" } });
  await ask({ place, window, display }, "Fail 500");
  await window.says("Try again", /went wrong|failed|error/i);
});

test("replies that would act cannot", async ({ place, display, reader, window, server, snare }) => {
  const all = Object.values(hostile(snare.port));
  for (let i = 0; i < all.length; i += 6) {
    const group = `Act ${i / 6 + 1}`;
    const last = "```mermaid\nflowchart LR\n  last --> drawn\n```";
    server.answers[group] = [...all.slice(i, i + 6), last].join("\n\n");
    await askAnew({ place, window, display, server }, group);
    await paintsNothingElsewhere(display);
    // Diagrams are drawn one after the other, and each reply ends with one. What is far below is
    // on the page once it is gone to; what leads there says how much of it came.
    await until(`the last diagram of ${group}`, async () => {
      await reader.pressIfThere(/(Jump to the end|new paragraphs?)$/);
      return reader.hasPicture(/last --> drawn/);
    });
    await paintsNothingElsewhere(display);
    await window.says("Write a message", "Settings");
  }
  expect(snare.met, "something was loaded").toEqual([]);
  await askAnew({ place, window, display, server }, "Still here?");
  await window.says("A first answer from the scripted server.");
});

test("a picture of this computer is not fetched even when pressed, and it says so", async ({
  place,
  display,
  reader,
  window,
  server,
  snare,
}) => {
  server.answers["A picture, please"] = `![one](http://127.0.0.1:${snare.port}/x.png)`;
  await askAnew({ place, window, display, server }, "A picture, please");
  await reader.press(/^Load image from 127/);
  await window.says("this computer or its own network");
  expect(snare.met, "something was loaded").toEqual([]);
});

test("after a restart a wrong passphrase is said, and the right one opens", async ({
  place,
  display,
  reader,
  window,
}) => {
  await window.quit();
  await window.open();
  await window.command("add a connection");
  await display.still();
  display.press("Escape");
  await ask({ place, window, display }, "Locked?");
  await window.says(/locked/i, "passphrase");
  await reader.press("Unlock keys");
  await reader.focus("Passphrase");
  await window.fill("not the passphrase");
  display.press("Return");
  await window.says("That is not the passphrase of the file with your keys. Try again.");
  await reader.focus("Passphrase");
  await window.fill("four plain words here");
  display.press("Return");
  await expect.poll(() => window.words()).not.toContain("Unlock keys");
  display.press("Escape");
  await ask({ place, window, display }, "Open?");
  await window.says("A first answer from the scripted server.");
});
