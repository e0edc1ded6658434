// Replies that would act if they could (hostile.mjs), drawn by the program in Chromium on its real
// bindings, each with a permission card below it: nothing of a reply runs, connects, or lies over
// what is not its own. A page from elsewhere reaches nothing of the program.
//
//   node e2e/attacks.mjs [folder for pictures]
//
// It needs what program.mjs needs.
import { writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { join } from "node:path";
import { launch } from "./harness.mjs";
import { hostile } from "./hostile.mjs";
import { Person } from "./person.mjs";
import { Place, devProgram, perform, pictures, until } from "./processes.mjs";
import { modelServer, rightKey, trap } from "./server.mjs";

const shots = pictures();
const place = new Place();
const snare = await trap();
const replies = hostile(snare.port);
let app, browser, person, server;

const roll = `def roll() -> int:
    """Roll a die."""
    return 4
`;

/** What of the last message acts, or lies where it should not, in words. */
function trespasses() {
  const wrong = [];
  const article = [...document.querySelectorAll("article")].at(-1);
  if (!article.querySelector(".block")) return ["the reply is not there"];
  if (globalThis.acted) wrong.push("a script ran");
  const acts = "script, iframe, object, embed, link, style, form, base, meta, video, audio";
  for (const block of article.querySelectorAll(".block")) {
    if (block.querySelector(`${acts}, svg:not(.katex svg)`)) wrong.push("an element that acts");
    for (const image of block.querySelectorAll("img"))
      if (!image.src.startsWith("data:image/svg+xml")) wrong.push(`a picture of ${image.src}`);
    for (const e of block.querySelectorAll("*")) {
      const { position } = getComputedStyle(e);
      if (/fixed|sticky/.test(position) && !e.closest("thead, .tools"))
        wrong.push(`${e.tagName}.${e.className} is ${position}`);
    }
  }
  // Also what no pointer meets is seen: for this look everything meets it.
  const meets = new CSSStyleSheet();
  meets.replaceSync("* { pointer-events: auto !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, meets];
  const of = (hit) => hit?.closest(".block") && article.contains(hit);
  const scroller = article.closest("[role=region], main") ?? document.body;
  const own = [...article.querySelectorAll(".block")].map((b) => b.getBoundingClientRect());
  const slack = 8; // a formula in a line may be a little higher than the line
  const left = Math.min(...own.map((r) => r.left)) - slack;
  const right = Math.max(...own.map((r) => r.right)) + slack;
  const top = Math.max(own[0].top - slack, scroller.getBoundingClientRect().top);
  const bottom = own.at(-1).bottom + slack;
  for (let x = 4; x < innerWidth; x += 24)
    for (let y = 4; y < innerHeight; y += 12) {
      const inside = x >= left && x <= right && y >= top && y <= bottom;
      if (!inside && of(document.elementFromPoint(x, y))) wrong.push(`the reply lies at ${x},${y}`);
    }
  const card = document.querySelector("section.ask");
  for (const button of card.querySelectorAll("button")) {
    const { x, y, width, height } = button.getBoundingClientRect();
    for (const [dx, dy] of [
      [0.5, 0.5],
      [0.1, 0.2],
      [0.9, 0.8],
    ]) {
      const hit = document.elementFromPoint(x + dx * width, y + dy * height);
      if (!button.contains(hit))
        wrong.push(`${hit?.tagName}.${hit?.className} lies over “${button.innerText}”`);
    }
  }
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== meets);
  if (article.querySelectorAll("*").length > 30_000) wrong.push("too many elements");
  return wrong.slice(0, 5);
}

const steps = {};

/** What a page of another address gets of the program that serves this one, in words. */
async function reached(address) {
  const got = [];
  const socket = new WebSocket(address.replace("http", "ws") + "wails/ipc");
  await new Promise((resolve) => {
    socket.onopen = () => resolve(got.push("a WebSocket"));
    socket.onerror = resolve;
  });
  await fetch(address).then(() => got.push("a page"), String);
  const script = document.createElement("script");
  script.src = address + "wails/runtime.js";
  await new Promise((resolve) => {
    script.onload = () => resolve(got.push("a script"));
    script.onerror = resolve;
    document.head.append(script);
  });
  return got;
}

steps["a page from elsewhere reaches nothing of the program, under no name of it"] = async () => {
  const elsewhere = createServer((_, response) => response.end("<title>elsewhere</title>"));
  await new Promise((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const page = await browser.newPage();
  try {
    const { port } = elsewhere.address();
    for (const host of ["127.0.0.1", "localhost", "evil.localhost"]) {
      await page.goto(`http://${host}:${port}/`);
      for (const address of [app.url, app.url.replace("localhost", "127.0.0.1")]) {
        const got = await page.evaluate(reached, address);
        if (got.length > 0)
          throw new Error(`a page at ${host} got ${got.join(", ")} of ${address}`);
      }
    }
  } finally {
    await page.close();
    elsewhere.close();
  }
  // A name that leads here, as of an address that changes its mind.
  const { hostname, port } = new URL(app.url);
  const status = await new Promise((resolve, reject) =>
    get({ hostname, port, headers: { host: `evil.example:${port}` } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject),
  );
  if (status !== 403) throw new Error(`by another name of it, the program answers ${status}`);
  // The program's own page calls it.
  const { plugins } = await person.page.evaluate(() => globalThis.go.window.Plugins.List());
  if (!plugins.some((p) => p.id === "dice")) throw new Error("its own page gets no plugins");
};

for (const [name, markdown] of Object.entries(replies))
  steps[`F04 ${name} cannot act`] = async () => {
    const { page } = person;
    await person.newChat();
    await person.write(name);
    const allow = page.locator("section.ask").getByRole("button", { name: "Allow once" });
    const waits = page.locator(".waiting"); // in the list: the card may be far below
    await waits.waitFor();
    if (!server.asked.some((a) => a.text === name)) throw new Error("the server was not asked");
    await person.still(); // drawn, or left as it was written
    await page.keyboard.press("Control+Shift+P"); // shows the card, however long the reply is
    await page.waitForFunction(() => {
      const card = document.querySelector("section.ask:focus-within");
      const { top = 0, bottom } = card?.getBoundingClientRect() ?? {};
      return top > 0 && bottom < innerHeight;
    });
    await person.still();
    const found = await page.evaluate(trespasses);
    await person.picture(name);
    if (found.length > 0) throw new Error(`${found.join("; ")}\n${markdown}`);
    // A press where the button is seen reaches it.
    await page.locator("section.ask").getByRole("button", { name: "Not now" }).click();
    await allow.waitFor({ state: "detached" });
    await waits.waitFor({ state: "detached" });
    if (snare.met.length > 0) throw new Error(`something was loaded: ${snare.met.join("; ")}`);
  };

steps["F04 a picture of this computer is not fetched even when pressed"] = async () => {
  await person.newChat();
  await person.ask("A picture, please");
  await person.page.getByText("Load image from 127.0.0.1").click();
  await person.says(/this computer or its own network/, /Open the address in a browser/);
  await person.picture("private picture");
};

steps["F04 nothing was loaded, and the page met no error of its own"] = async () => {
  if (snare.met.length > 0) throw new Error(`something was loaded: ${snare.met.join("; ")}`);
  if (person.page.errors.length > 0) throw new Error(person.page.errors.join("\n"));
};

await perform(place, steps, {
  begin: async () => {
    const call = { name: "roll", arguments: {} };
    const answers = Object.entries(replies).map(([name, text]) => [name, { text, call }]);
    server = await modelServer(
      {
        ...Object.fromEntries(answers),
        "A picture, please": `![one](http://127.0.0.1:${snare.port}/x.png)`,
      },
      ["talker"],
    );
    await place.screen();
    await place.bus();
    browser = await launch();
    writeFileSync(join(place.plugins, "dice.py"), roll);
    app = await devProgram(place);
    person = new Person(browser, { folder: shots, begin: "attacks" });
    await person.open(app);
    await until("the dice", () => place.conclave("plugins", "trust", "dice", "--yes").status === 0);
    await person.connect(server.url, rightKey);
    await person.page.keyboard.press("Escape");
  },
  onfail: async (n) => {
    await person.picture(`failed ${n}`).catch(() => {});
    // What waits no longer, so that what follows fails for reasons of its own.
    await person.page.evaluate(async () => {
      const { requests } = await globalThis.go.window.Permissions.Requests();
      const no = { effect: "deny", scope: "once", arguments: "", reason: "" };
      for (const { id, nonce } of requests)
        await globalThis.go.window.Permissions.Answer(id, nonce, no);
    });
  },
  ends: () => [browser, server, snare],
});
