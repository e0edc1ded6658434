// A newcomer's first minutes in the real window, on a computer without a keychain: what fails, what
// is chosen, the first answer; and then replies that would act if they could.
//
//   node e2e/newcomer.mjs [folder for pictures] [light|dark]
//
// What the window says is read over the accessibility bus, what it shows from its pixels.
import { join } from "node:path";
import { hostile } from "./hostile.mjs";
import { Place, bin, built, perform, pictures, until } from "./processes.mjs";
import { Reader, listItem } from "./reader.mjs";
import { longName, modelServer, rightKey, trap } from "./server.mjs";

const shots = pictures();
const theme = process.argv[3] ?? "light";
const place = new Place();
let screen, reader, window, server, snare, replies;
let shot = 0;
const picture = (name) =>
  screen.picture(join(shots, `newcomer-${theme}-${String(++shot).padStart(2, "0")}-${name}.png`));

/** Waits until the window says words. */
async function says(...wanted) {
  let now = "";
  let left = wanted; // a notice may be gone before something else is said
  await until(`the window to say ${wanted.join(", ")}`, async () => {
    if (window.ended) throw new Error(`the window's program ended: ${window.output}`);
    now = await reader.words();
    left = left.filter((w) => !(w instanceof RegExp ? w.test(now) : now.includes(w)));
    return left.length === 0;
  }).catch((error) => {
    throw new Error(`${error.message}; it does not say ${left.join(", ")}: ${now.slice(0, 3000)}`);
  });
  if (now.includes("[object")) throw new Error(`the window says [object …: ${now}`);
  return now;
}

async function open() {
  window = place.start(join(bin, "conclave-window"), [...["--data", place.data, "--plugins", place.plugins]]);
  await says("Write a message"); // what is drawn first is a frame
  await screen.still();
  await screen.focusOn("(^| )Conclave$");
}

/** Fills the field that has the focus. */
async function fill(text) {
  screen.press("ctrl+a");
  screen.type(text);
  await reader.holds(text);
}

/** Asks in the composer and waits for the answer's end. */
async function ask(text) {
  screen.press("Escape");
  await reader.typed("Message");
  screen.type(text);
  screen.press("Return");
  await until(`the answer to ${text}`, () => {
    const [chat] = place.told("chats", "list", "--json");
    if (!chat) return false; // it is not begun
    const { messages } = place.told("chats", "show", chat.id, "--json");
    const last = messages.findLast((m) => m.role === "user");
    const said = last?.parts.map((p) => p.text ?? "").join("");
    const answer = messages.at(-1);
    return said === text && answer?.role === "assistant" && /^(complete|failed)$/.test(answer.state);
  });
  await screen.still();
}

/** Asks in a chat of its own, where the server is asked for nothing else. */
async function askAnew(text) {
  screen.press("ctrl+n");
  await screen.still();
  await ask(text);
  const { text: asked } = server.asked.at(-1);
  if (asked !== text) throw new Error(`the server was asked “${asked}”, not “${text}”`);
}

/** Pixels of the colour that hostile replies paint with, outside the conversation's column. */
function strays() {
  const raw = screen.pixels();
  const [left, right] = [290, screen.width - 20];
  const [top, bottom] = [72, screen.height - 150];
  let n = 0;
  for (let y = 0; y < screen.height; y++)
    for (let x = 0; x < screen.width; x++) {
      const inside = x > left && x < right && y > top && y < bottom;
      if (!inside && (raw.readUInt32LE(y * screen.stride + 4 * x) & 0xffffff) === 0xff00ff) n++;
    }
  return n;
}

/** Fails where a hostile reply that is in view paints beside the conversation. */
async function paintsNothingElsewhere(name) {
  await screen.still();
  const stray = strays();
  picture(name.replaceAll(/\W+/g, "-"));
  if (stray > 0) throw new Error(`${name}: ${stray} pixels are painted elsewhere`);
}

const steps = {
  "the welcome says what there is, and leads to a model": async () => {
    await open();
    await says("Talk to models. Keep control.");
    picture("welcome");
    await reader.press("Connect a model");
    await says("Key", "encrypted file protected by a passphrase");
    await screen.still();
    picture("connect");
  },

  "the key has the focus, and a passphrase is chosen beside it": async () => {
    await reader.typed(/^Key/);
    await fill("sk-wrong");
    await says("Choose a passphrase for your keys", "no way to recover");
    await reader.focus("Provider");
    screen.press("Down");
    let at = await reader.goesOn("", [listItem]);
    while (at !== "OpenAI-compatible server") {
      screen.press("Down");
      at = await reader.goesOn(at, [listItem]);
    }
    screen.press("Return");
    await says("Server address");
    await screen.still();
    picture("compatible-server");
    await reader.focus("Server address");
    await fill(server.url);
    await reader.focus("Choose a passphrase for your keys");
    await fill("short");
    await reader.focus("Repeat passphrase");
    await fill("different");
    await says("At least 8 characters", "The passphrases do not match.");
    await screen.still();
    picture("short-passphrase");
  },

  "a wrong key is said in words, with what to do": async () => {
    for (const field of ["Choose a passphrase for your keys", "Repeat passphrase"]) {
      await reader.focus(field);
      await fill("four plain words here");
    }
    screen.press("Return");
    await says(/key[^\n]*refused|refused[^\n]*key/i, "401");
    await screen.still();
    picture("wrong-key");
    if (!server.asked.some((a) => a.refused)) throw new Error("the server was not asked");
  },

  "the right key brings a model with a name of 90 characters, and the default is said": async () => {
    await reader.press("Edit");
    await says("A key is saved");
    await reader.focus("Key (if required)");
    await fill(rightKey);
    screen.press("Return");
    await says("Answered in", "New chats now use");
    await screen.still();
    picture("right-key");
  },

  "the first answer comes from the model that is shown": async () => {
    screen.press("ctrl+n");
    await screen.still();
    picture("ready");
    await ask("Hello there");
    await says("A first answer from the scripted server.", longName);
    picture("first-answer");
    const { model } = server.asked.at(-1);
    if (model !== longName) throw new Error(`the server was asked for ${model}`);
  },

  "an answer that fails says why, and what to do": async () => {
    await ask("Fail 500");
    await says("Try again", /went wrong|failed|error/i);
    picture("failed-answer");
  },

  "replies that would act cannot": async () => {
    for (const group of Object.keys(replies)) {
      await askAnew(group);
      await paintsNothingElsewhere(group);
      // Diagrams are drawn one after the other, and each reply ends with one. What is far below is
      // on the page once it is gone to; what leads there says how much of it came.
      await until(`the last diagram of ${group}`, async () => {
        await reader.pressIfThere(/(Jump to the end|new paragraphs?)$/);
        return reader.hasPicture(/last --> drawn/);
      });
      await paintsNothingElsewhere(`${group}, its end`);
      await says("Write a message", "Settings");
    }
    if (snare.met.length > 0) throw new Error(`something was loaded: ${snare.met.join("; ")}`);
    await askAnew("Still here?");
    await says("A first answer from the scripted server.");
  },

  "a picture of this computer is not fetched even when pressed, and it says so": async () => {
    await askAnew("A picture, please");
    await reader.press(/^Load image from 127/);
    await says("this computer or its own network");
    picture("refused-picture");
    if (snare.met.length > 0) throw new Error(`something was loaded: ${snare.met.join("; ")}`);
  },

  "after a restart a wrong passphrase is said, and the right one opens": async () => {
    screen.press("ctrl+k");
    await reader.palette();
    screen.type("quit");
    screen.press("Return");
    await until("the window to close", () => window.ended);
    await place.free();
    await open();
    screen.press("ctrl+k");
    await reader.palette();
    screen.type("add a connection");
    await screen.still();
    screen.press("Escape");
    await ask("Locked?");
    await says(/locked/i, "passphrase");
    picture("locked");
    await reader.press("Unlock keys");
    await reader.focus("Passphrase");
    await fill("not the passphrase");
    screen.press("Return");
    await says("That is not the passphrase of the file with your keys. Try again.");
    await screen.still();
    picture("wrong-passphrase");
    await reader.focus("Passphrase");
    await fill("four plain words here");
    screen.press("Return");
    await until("the keys to be open", async () => !(await reader.words()).includes("Unlock keys"));
    screen.press("Escape");
    await ask("Open?");
    await says("A first answer from the scripted server.");
  },
};

await perform(place, steps, {
  begin: async () => {
    built("conclave", "conclave-worker", "conclave-window");
    snare = await trap();
    const all = Object.entries(hostile(snare.port));
    replies = {};
    for (let i = 0; i < all.length; i += 6)
      replies[`Act ${i / 6 + 1}`] = all
        .slice(i, i + 6)
        .map(([, md]) => md)
        .concat("```mermaid\nflowchart LR\n  last --> drawn\n```")
        .join("\n\n");
    server = await modelServer([longName]);
    Object.assign(server.answers, {
      ...replies,
      "Fail 500": (_, json) => json(500, { error: { message: "the server went wrong" } }),
      "A picture, please": `![one](http://127.0.0.1:${snare.port}/x.png)`,
    });
    screen = await place.screen();
    await place.bus({ keychain: false });
    reader = await Reader.open(place.env.DBUS_SESSION_BUS_ADDRESS);
    if (theme === "dark") place.gtk({ "gtk-application-prefer-dark-theme": 1 });
  },
  onfail: (n) => picture(`failed-${n}`),
  goOn: false,
  ends: () => [reader, server, snare],
});
