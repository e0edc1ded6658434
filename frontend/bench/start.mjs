// The real window from its start until one can write in it and its chats are drawn, how soon a key at
// the end of a long message is shown, and a search as one types it. All is read from the screen.
import { join } from "node:path";
import { bin, until } from "../e2e/processes.mjs";
import { changes } from "./real.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** The accent of the light theme, in which the field is framed while it has the focus. */
const accent = 0x2f5d50;

// Where things are on a screen of 1320 by 880.
const rows = { x: 30, y: 150, width: 220, height: 250 };
const search = [120, 83];
const searchField = { x: 30, y: 72, width: 190, height: 22 };
const found = { x: 30, y: 105, width: 220, height: 300 };
const centre = { x: 320, y: 60, width: 980, height: 760 };

export const program = (place) => [join(bin, "conclave-window"), ["--data", place.data, "--plugins", place.plugins]];

/** Starts a window; how long it takes to its first text, and ours to a field with the focus and to its list of chats. */
export async function started(place, screen, [command, args], ours = true) {
  await until("an empty screen", () => screen.painted() < 3);
  const began = performance.now();
  const child = place.start(command, args);
  const took = {};
  const wanted = {
    // Text has many shades; a window without its page has one or two.
    paint: () => screen.painted() >= 8,
    ...(ours && { typing: () => screen.count(accent) >= 150, drawn: () => screen.emptiest(rows) < 240 }),
  };
  for (const [what, seen] of Object.entries(wanted)) {
    while (!seen()) {
      if (child.ended) throw new Error(`the window ended: ${child.output}`);
      if (performance.now() - began > 120_000) throw new Error(`the window was not ready: ${what}`);
      await sleep(4);
    }
    took[what] = performance.now() - began;
  }
  return { child, took };
}

/** Opens a window that stands still, with the keyboard. */
async function opened(place, screen, command, title) {
  const { child } = await started(place, screen, command, title === "Conclave");
  await screen.focusOn(`(^| )${title}$`);
  await screen.still();
  return child;
}

/** How long after xdotool is started a key at the end of what is written is on the screen, the middle of 40. */
export async function key(place, screen, command, title) {
  const child = await opened(place, screen, command, title);
  screen.press("ctrl+End");
  await screen.still();
  const took = [];
  for (let i = 0; i < 41; i++) {
    const before = screen.print(centre);
    const press = place.start("xdotool", ["key", "x"]);
    const [shown] = await changes(screen, centre, (at) => at.length > 0, before);
    if (i > 0) took.push(shown);
    await press.gone;
    await sleep(500); // the draft is saved 300 ms after it
  }
  await place.end(child);
  return median(took);
}

/** How long after the last letter of a word, which is shown, the chats that have it are; the middle of nine. */
export async function searched(place, screen) {
  const child = await opened(place, screen, program(place), "Conclave");
  screen.click(...search);
  screen.type("harbour");
  await changes(screen, found, (at, now) => now - (at.at(-1) ?? 0) > 2000); // the index is whole
  const took = [];
  for (const word of ["tide", "berth", "crane", "pilot", "lantern", "fish", "customs", "keel", "buoy"]) {
    screen.press("ctrl+a", "Delete");
    await screen.still();
    const list = screen.print(rows);
    let field = screen.print(searchField);
    let letter = 0;
    const typing = place.start("xdotool", ["type", "--delay", "20", word]);
    while (screen.print(rows) === list) {
      const now = screen.print(searchField);
      if (now !== field) letter = performance.now();
      field = now;
      await sleep(1);
    }
    took.push(performance.now() - letter);
    await typing.gone;
  }
  await place.end(child);
  return median(took);
}
