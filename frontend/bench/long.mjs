// A chat with 40 answers of 100,000 characters each, prose, lists, tables and code, and
// one of short answers: how long after a press each is shown, in Chromium on the real
// program and in the real window, and how many elements the page then has.
import { join } from "node:path";
import { launch } from "../e2e/browser.mjs";
import { bin, devProgram, until } from "../e2e/processes.mjs";
import { changes, firstChat, importChat, secondChat, transcript } from "./real.mjs";
import { reply } from "./reply.mjs";

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** Imports a chat of questions, each answered in `size` characters. */
function chatOf(place, title, answers, size) {
  importChat(place, title, 2 * answers, (i) =>
    i % 2 ? `${reply(size)}\n\nAnswer ${i >> 1} ends.` : `Question ${i >> 1}?`,
  );
}

/** The two chats. The one imported last is the first of the list. */
export function chats(place) {
  chatOf(place, "Short answers", 40, 300);
  chatOf(place, "Long answers", 40, 100_000);
}

/** Presses the row of a chat; how long after it the page last changed, and how many elements it has. */
async function opened(page, title) {
  return page.evaluate(async (title) => {
    const rows = [...document.querySelectorAll("[data-chat-row]")];
    const row = rows.find((row) => row.textContent.includes(title));
    const frame = () => new Promise(requestAnimationFrame);
    const began = performance.now();
    let last = began;
    const changes = new MutationObserver(() => (last = performance.now()));
    changes.observe(document.querySelector("main"), {
      subtree: true,
      childList: true,
      attributes: true,
    });
    (row.querySelector("a, button") ?? row).click();
    let painted = began;
    while (performance.now() - last < 300 || !document.querySelector(".scroller")) {
      const before = last;
      await frame();
      if (last !== before || painted <= last) painted = performance.now();
    }
    changes.disconnect();
    return {
      ms: Math.max(last, painted) - began,
      elements: document.querySelectorAll("*").length,
      end: document.querySelector(".scroller").innerText.includes("Answer 39 ends."),
    };
  }, title);
}

/** In Chromium, on the real program's bindings. */
export async function inBrowser(place) {
  const app = await devProgram(place);
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 832 } });
    await page.goto(app.url);
    await page.locator("[data-chat-row]", { hasText: "Long answers" }).waitFor();
    const runs = { short: [], long: [] };
    for (let turn = 0; turn < 6; turn++)
      for (const [name, title] of [
        ["short", "Short answers"],
        ["long", "Long answers"],
      ]) {
        const run = await opened(page, title);
        if (!run.end) throw new Error(`${title} was not opened at its end`);
        if (turn > 0) runs[name].push(run); // the first reads it from the disk
      }
    return {
      short: median(runs.short.map((run) => run.ms)),
      long: median(runs.long.map((run) => run.ms)),
      elements: Math.max(...runs.long.map((run) => run.elements)),
    };
  } finally {
    await browser.close();
    await place.end(app.child);
    await place.free();
  }
}

/** In the real window, told from its screen. */
export async function inWindow(place, screen) {
  const child = place.start(join(bin, "conclave-window"), [...["--data", place.data, "--plugins", place.plugins]]);
  await until("the window", () => {
    if (child.ended) throw new Error(`the window ended: ${child.output}`);
    return screen.painted() > 7;
  });
  await screen.still();
  screen.focus(screen.windows("(^| )Conclave$")[0]);
  const took = { short: [], long: [] };
  for (let turn = 0; turn < 6; turn++)
    for (const [name, [x, y]] of [
      ["short", secondChat],
      ["long", firstChat],
    ]) {
      // The hint of the row above may lie over this one, and goes when the pointer moves.
      screen.move(x, y);
      await screen.still();
      // Beside this, since it may be shown before the press has ended.
      const press = place.start("xdotool", ["click", "1"]);
      const at = await changes(screen, transcript, (all, now) => now - (all.at(-1) ?? 2000) > 700);
      await place.end(press);
      if (turn === 0) continue; // it may be open already, or is read from the disk
      if (at.length === 0) throw new Error(`a press on the ${name} chat changed nothing`);
      took[name].push(at.at(-1));
    }
  await place.end(child);
  return { short: median(took.short), long: median(took.long) };
}
