// The real window in use, told from its screen: how often the picture changes while
// one long block streams, how soon the panel of tools and a find are there, and
// whether a held PageUp shows messages or nothing. Each figure is beside one of the
// same run that costs a screenful, since what a picture costs depends on the machine.
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bin, until } from "../e2e/processes.mjs";
import { essay, ledger, program, reply } from "./reply.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** A model on this machine that streams a reply, 24 characters every 20 ms: 300 tokens a second. */
async function streamer(replies) {
  const server = createServer(async (request, response) => {
    server.emit("arrived", request.url);
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.url.endsWith("/models")) {
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ object: "list", data: [{ id: "bench" }] }));
    }
    const said = JSON.parse(body).messages.findLast((m) => m.role === "user").content;
    const asked = (typeof said === "string" ? said : said.map((part) => part.text).join(""))
      .split("</system-reminder>") // names of tools stand in front
      .at(-1)
      .trim();
    const text = replies[asked] ?? "No.";
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = (delta, finish_reason = null) =>
      response.write(
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "bench", choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
      );
    server.emit("asked", asked);
    const began = performance.now();
    for (let at = 0; at < text.length; at += 24) {
      event({ content: text.slice(at, at + 24) });
      const wait = began + (at / 24 + 1) * 20 - performance.now();
      if (wait > 0) await sleep(wait);
    }
    event({}, "stop");
    response.end("data: [DONE]\n\n");
    server.emit("said", asked);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** Imports a chat of n messages, by turns a person's and a model's. */
export function importChat(place, title, n, text) {
  const messages = Array.from({ length: n }, (_, i) => ({
    seq: i + 1,
    parent: i,
    turn: `turn-${i >> 1}`,
    role: i % 2 ? "assistant" : "user",
    state: "complete",
    created: "2026-01-01T00:00:00Z",
    parts: [{ kind: "text", text: text(i) }],
  }));
  const file = join(place.home, "chat.json");
  const conversation = { title };
  writeFileSync(file, JSON.stringify({ format: "conclave-chat/1", conversation, messages }));
  place.told("chats", "import", file);
}

const says = "It says what a person would say to it, in words of usual length. ".repeat(6);
const goesOn = "Then it goes on, and on, in another paragraph. ".repeat(8);

/** Imports a chat of n messages of three paragraphs each. */
function history(place, n) {
  importChat(
    place,
    `A chat of ${n} messages`,
    n,
    (i) => `Message ${i + 1} of them. ${says}\n\n${goesOn}\n\nIt ends as number ${i + 1}.`,
  );
}

/** Fills a place with what a person has after a year: a chat of 10,000 messages, and 200 more. */
export function fullData(place) {
  for (let i = 0; i < 200; i++) history(place, 4);
  history(place, 20);
  history(place, 10_000);
}

// Where things are on a screen of 1320 by 880.
export const transcript = { x: 440, y: 100, width: 700, height: 620 };
const tools = { x: 920, y: 260, width: 360, height: 540 };
const sidebar = { x: 30, y: 140, width: 230, height: 600 };
export const firstChat = [150, 158];
export const secondChat = [150, 194];
const inTranscript = [350, 300]; // left of the text, where no link is
const inMessage = [1000, 500];
const toTheEnd = [792, 739]; // the button over the composer, once there is more below

/** When the picture changed from what it was before, until done says so, in ms since the beginning. */
export async function changes(screen, part, done, before = screen.print(part)) {
  const began = performance.now();
  const at = [];
  while (!done(at, performance.now() - began)) {
    await sleep(4);
    const now = screen.print(part);
    if (now !== before) at.push(performance.now() - began);
    before = now;
  }
  return at;
}

/** How long after an action, which is some keys, the last change of the picture came. */
async function settled(screen, part, action) {
  const before = screen.print(part); // the window may be done with it before the key is
  action();
  const at = await changes(screen, part, (all, now) => now - (all.at(-1) ?? 0) > 700, before);
  return at.at(-1) ?? 0;
}

/** At how many looks a part of the transcript as high as seven lines has no text, while it scrolls. */
async function blanks(screen, looks) {
  let blank = 0;
  let moved = 0;
  let before = screen.print(transcript);
  for (let i = 0; i < looks; i++) {
    await sleep(50);
    if (screen.emptiest(transcript) > 160) blank++;
    const now = screen.print(transcript);
    if (now !== before) moved++;
    before = now;
  }
  if (moved < looks / 4) throw new Error(`of ${looks} looks only ${moved} saw the chat scroll`);
  return blank;
}

/** Presses a key again and again, as a keyboard does while it is held. */
function pressing(place, times, delay, key) {
  return place.start("xdotool", ["key", "--repeat", String(times), "--delay", String(delay), key]);
}

/** How long after its last letter a find is shown in the open chat. */
async function found(screen) {
  screen.press("ctrl+f");
  await sleep(500);
  const took = await settled(screen, transcript, () => screen.type("as number 1"));

  screen.press("Escape");
  await sleep(500);
  return took;
}

/** How long a part of the window takes to be shown after its key, the middle of five. */
async function toggled(screen, part, key) {
  const took = [];
  for (let i = 0; i < 5; i++) {
    took.push(await settled(screen, part, () => screen.press(key)));
    screen.press(key);
    await sleep(700);
  }
  return median(took);
}

/** The colour of text in the light theme. */
const ink = 0x1e1d1a;

/** How long after Enter the first text of an answer is on the screen, without what the model takes; the middle of three. */
async function firstText(place, screen, server) {
  const took = [];
  for (let i = 0; i < 3; i++) {
    const at = {};
    for (const what of ["arrived", "asked"]) server.once(what, () => (at[what] = performance.now()));
    const ended = new Promise((resolve) => server.once("said", resolve));
    screen.type("blocks");
    await screen.still();
    const began = performance.now();
    const press = place.start("xdotool", ["key", "Return"]);
    // What was there before scrolls away; the first piece of the answer has 24 blocks, some 800 dots.
    for (let least = Infinity, now = 0; now < least + 600; now = screen.count(ink)) {
      if (now > 0) least = Math.min(least, now);
      if (performance.now() - began > 60_000) throw new Error("no text of the answer was shown");
      await sleep(4);
    }
    took.push(performance.now() - began - (at.asked - at.arrived));
    await Promise.all([press.gone, ended]);
    await screen.still();
  }
  return median(took);
}

/** Has a reply of one long block streamed, and follows its end. */
async function streamed(place, screen, server, what) {
  let asked = false;
  let ended = false;
  server.once("asked", () => (asked = true));
  server.once("said", () => (ended = true));
  screen.press("ctrl+n");
  await screen.still();
  screen.type(what);
  screen.press("Return");
  await until(`the question ${what}`, () => asked);
  await sleep(3000); // 3,600 characters: more than a screen
  // A long table scrolls by itself, and is taken to its end again and again.
  screen.click(...(what === "table" ? inMessage : toTheEnd));
  const following = what === "table" ? pressing(place, 600, 33, "End") : null;
  const at = await changes(screen, transcript, () => ended);

  if (following) await place.end(following);
  if (at.length < 10) throw new Error(`${what} changed the screen ${at.length} times`);
  const late = at.filter((t) => t > at.at(-1) / 2); // while it is long
  await screen.still();
  return {
    updates: (1000 * (late.length - 1)) / (late.at(-1) - late[0]),
    gap: Math.max(...late.slice(1).map((t, i) => t - late[i])),
  };
}

export async function use(place, screen) {
  const replies = {
    prose: reply(20_000),
    program: program(27_000),
    table: ledger(27_000),
    paragraph: essay(27_000),
    blocks: "█".repeat(100),
  };
  const server = await streamer(replies);
  place.told("models", "add", "openai", "bench", "--url", `http://127.0.0.1:${server.address().port}/v1`);
  place.told("models", "default", "bench/bench");
  const child = place.start(join(bin, "conclave-window"), ["--data", place.data, "--plugins", place.plugins]);
  await until("the window", () => {
    if (child.ended) throw new Error(`the window ended: ${child.output}`);
    return screen.painted() > 7;
  });
  await screen.still();

  screen.focus(screen.windows("(^| )Conclave$")[0]);
  const out = {};

  // An answer in the chat of 10,000 messages, a held PageUp, and a find.
  screen.click(...firstChat);
  await screen.still();
  out.first = await firstText(place, screen, server);
  screen.click(...inTranscript);
  screen.down("Prior");
  await sleep(1000); // until it repeats
  out.blank = await blanks(screen, 80);

  screen.up("Prior");
  await screen.still();
  out.find = await found(screen);
  screen.click(...secondChat);
  await screen.still();
  out.short = await found(screen);

  // The panel of 316 tools, and the list of chats, which is as high.
  out.panel = await toggled(screen, tools, "ctrl+j");
  screen.press("ctrl+b");
  await sleep(700);
  out.list = await toggled(screen, sidebar, "ctrl+b");
  screen.press("ctrl+b");
  await sleep(700);

  out.streams = {};
  for (const what of ["prose", "program", "table", "paragraph"])
    out.streams[what] = await streamed(place, screen, server, what);
  await place.end(child);
  server.close();
  return out;
}
