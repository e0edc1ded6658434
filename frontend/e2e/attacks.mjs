// Replies that would act if they could (hostile.mjs), drawn by the program in Chromium on its real
// bindings, each with a permission card below it: nothing of a reply runs, connects, or lies over
// what is not its own. A page from elsewhere reaches nothing of the program.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { join } from "node:path";
import { approved } from "./ecosystems.mjs";
import { hostile, hostileServer } from "./hostile.mjs";
import { armed } from "./page.mjs";
import { expect, test } from "./person.mjs";

test.use({
  plugins: {
    "dice.py": `def roll() -> int:
    """Roll a die."""
    return 4
`,
  },
});

test.beforeAll(({ person }) => person.page.setViewportSize({ width: 1280, height: 832 }));

test.afterEach(({ snare }) => expect(snare.met, "something was loaded").toEqual([]));

/** What of the last message acts, or lies where it should not, in words. */
function trespasses() {
  const wrong = [];
  const article = [...document.querySelectorAll("article")].at(-1);
  if (!article.querySelector(".block")) return ["the reply is not there"];
  if (globalThis.acted) wrong.push("a script ran");
  const acts = "script, iframe, object, embed, link, style, form, base, meta, video, audio";
  for (const block of article.querySelectorAll(".block")) {
    if (block.querySelector(`${acts}, svg:not(.katex svg, .tools svg)`)) wrong.push("an element that acts");
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
      if (!button.contains(hit)) wrong.push(`${hit?.tagName}.${hit?.className} lies over “${button.innerText}”`);
    }
  }
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== meets);
  if (article.querySelectorAll("*").length > 30_000) wrong.push("too many elements");
  return wrong.slice(0, 5);
}

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

test("a page from elsewhere reaches nothing of the program, under no name of it", async ({ browser, person }) => {
  const elsewhere = createServer((_, response) => response.end("<title>elsewhere</title>"));
  await new Promise((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const page = await browser.newPage();
  try {
    const { port } = elsewhere.address();
    for (const host of ["127.0.0.1", "localhost", "evil.localhost"]) {
      await page.goto(`http://${host}:${port}/`);
      for (const address of [person.url, person.url.replace("localhost", "127.0.0.1")])
        expect(await page.evaluate(reached, address), `${host} of ${address}`).toEqual([]);
    }
  } finally {
    await page.close();
    elsewhere.close();
  }
  // A name that leads here, as of an address that changes its mind.
  const { hostname, port } = new URL(person.url);
  const status = await new Promise((resolve, reject) =>
    get({ hostname, port, headers: { host: `evil.example:${port}` } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject),
  );
  expect(status).toBe(403);
  // The program's own page calls it.
  const { plugins } = await person.page.evaluate(() => globalThis.go.window.Plugins.List());
  expect(plugins.map((p) => p.id)).toContain("dice");
});

for (const name of Object.keys(hostile(0)))
  test(`${name} cannot act`, async ({ page, person, server, snare }) => {
    const call = { name: "roll", arguments: {} };
    server.answers[name] = { text: hostile(snare.port)[name], call };
    await person.newChat();
    await person.write(name);
    const allow = page.locator("section.ask").getByRole("button", { name: "Allow once" });
    const waits = page.locator(".waiting"); // in the list: the card may be far below
    await expect(waits).toBeVisible();
    expect(server.asked.map((a) => a.text)).toContain(name);
    await person.still(); // drawn, or left as it was written
    await page.keyboard.press("Control+Shift+P"); // shows the card, however long the reply is
    await page.waitForFunction(() => {
      const card = document.querySelector("section.ask:focus-within");
      const { top = 0, bottom } = card?.getBoundingClientRect() ?? {};
      return top > 0 && bottom < innerHeight;
    });
    await person.still();
    expect(await page.evaluate(trespasses), server.answers[name].text).toEqual([]);
    // A press where the button is seen reaches it.
    await page.locator("section.ask").getByRole("button", { name: "Not now" }).click();
    await expect(allow).toHaveCount(0);
    await expect(waits).toHaveCount(0);
  });

/** What is wrong with the page as it is: something acted, is hidden, or pushes the page apart. */
function disorder() {
  const wrong = [];
  if (globalThis.acted) wrong.push("a script ran");
  const hidden = /[\u200b\u202a-\u202e\u2066-\u2069\u{E0000}-\u{E007F}]/u;
  const text = document.body.innerText;
  if (hidden.test(text) || text.includes("\u001b")) wrong.push("hidden characters are shown");
  const { scrollWidth, scrollHeight } = document.documentElement;
  if (scrollWidth > innerWidth || scrollHeight > innerHeight) wrong.push("the page is pushed apart");
  for (const link of document.querySelectorAll("a[href]"))
    if (!/^(https?|mailto):/.test(link.href)) wrong.push(`a link to ${link.href.slice(0, 60)}`);
  for (const line of document.querySelectorAll("article .tool > *"))
    if (line.getBoundingClientRect().height > 200) wrong.push("a card of a call fills the chat");
  return wrong;
}

test("what a server says is nowhere more than its words", async ({ page, person, place, server }) => {
  const folder = join(place.plugins, "hostile");
  mkdirSync(folder);
  writeFileSync(join(folder, "server.py"), hostileServer);
  const entry = { command: "/usr/bin/python3", args: ["server.py"] };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { hostile: entry } }));
  await approved(place, "hostile");
  await page.getByRole("tab", { name: /^Plugins/ }).click();
  const orderly = async (where) => {
    await person.still();
    expect(await page.evaluate(disorder), where).toEqual([]);
  };
  await expect(page.locator("[data-plugin=hostile]")).toContainText("Ready");
  await orderly("its card");
  await page.getByRole("tab", { name: /^Tools/ }).click();
  await expect(page.getByText("says<img").first()).toBeVisible();
  await orderly("its tools");
  for (const name of ["hostile_says", "hostile_fails", "hostile_asks"]) {
    server.answers[name] = { text: "", call: { name, arguments: {} } };
    await person.newChat();
    await person.write(name);
    await armed(page, "Allow once");
    await orderly(`the request of ${name}`);
    await page.getByRole("button", { name: "Allow once" }).click();
    if (name === "hostile_asks") {
      const asks = page.locator("[data-question]");
      await expect(asks).toBeInViewport();
      await orderly("its form");
      await asks.getByRole("button", { name: "Decline" }).click();
    }
    await expect(page.getByText("That was the tool.").last()).toBeVisible();
    await orderly(`the result of ${name}`);
  }
  await page.getByRole("button", { name: "Attach files" }).click();
  await page.getByRole("menuitem", { name: "From a plugin or server…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: /^(One|Two places)/ })).toHaveCount(2); // each once
  await orderly("its resources");
  await dialog.getByRole("button", { name: /^One/ }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  await orderly("its error");
  await dialog.getByRole("button", { name: /^Two places/ }).click();
  await dialog.getByLabel("id").fill("o");
  await expect(dialog.locator("datalist option")).toHaveCount(2);
  await page.keyboard.press("Escape");
  const box = page.getByPlaceholder("Message Conclave");
  await box.fill("/greet");
  await page.getByRole("option", { name: /^Greet/ }).click();
  await dialog.getByRole("combobox").fill("you");
  await orderly("its prompt");
  await dialog.getByRole("button", { name: "Put into the message" }).click();
  await expect(box).toHaveValue(/^<img src=x/);
  await orderly("what its prompt became");
  await box.fill("");
});

test("a picture of this computer is not fetched even when pressed", async ({ page, person, server, snare }) => {
  server.answers["A picture, please"] = `![one](http://127.0.0.1:${snare.port}/x.png)`;
  await person.newChat();
  await person.ask("A picture, please");
  await page.getByText("Load image from 127.0.0.1").click();
  await person.says(/this computer or its own network/, /Open the address in a browser/);
});
