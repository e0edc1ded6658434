// What goes wrong, in Chromium against the program's real bindings, on a computer without a
// keychain: every kind of error that a person can cause says its sentence and what to do; and
// replies that would act if they could.
//
//   node e2e/failures.mjs [folder for pictures]
//
// It needs what program.mjs needs.
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./harness.mjs";
import { hostile } from "./hostile.mjs";
import { Place, Steps, devProgram, until } from "./processes.mjs";
import { modelServer, rightKey, trap } from "./server.mjs";

const shots = process.argv[2] ?? mkdtempSync(join(tmpdir(), "conclave-failures-"));
mkdirSync(shots, { recursive: true });
const place = new Place();
let browser, page, app, server, snare, replies;

async function openPage() {
  page = await browser.newPage({ viewport: { width: 1280, height: 832 } });
  page.setDefaultTimeout(30_000);
  page.errors = [];
  page.on("pageerror", (error) => {
    // Wails' own development overlay fails under module pages; it is not in a release.
    if (!String(error.stack).includes("/wails/ipc.js")) page.errors.push(String(error));
  });
  await page.goto(app.url);
  await page.getByPlaceholder("Message Conclave").waitFor();
}

const picture = (name) => page.screenshot({ path: join(shots, `failures-${name}.png`) });

/** Waits until the page says words that match all. */
async function says(...wanted) {
  let now = "";
  await until(`the page to say ${wanted.join(", ")}`, async () => {
    now = await page.locator("body").innerText();
    return wanted.every((w) => w.test(now));
  }).catch((error) => {
    throw new Error(`${error.message}; it says: ${now.slice(0, 2000)}`);
  });
  if (now.includes("[object")) throw new Error(`the page says [object …: ${now}`);
}

async function ask(text) {
  await page.getByRole("button", { name: "Send" }).waitFor();
  const box = page.getByPlaceholder("Message Conclave");
  await box.fill(text);
  await box.press("Enter");
  await page.getByRole("article").filter({ hasText: text }).first().waitFor();
  await page.waitForFunction(() => !document.querySelector("[aria-label^=Stop]"));
}

async function models() {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Models", exact: true }).click();
}

/** Adds a server of one's own. */
async function connect(url, key) {
  await models();
  await page.getByRole("button", { name: "Add a connection" }).click();
  await page.getByLabel("Provider").press("A");
  await page.keyboard.type(" comp");
  await page.keyboard.press("Enter");
  await page.getByLabel("Address of the server").fill(url);
  await page.getByLabel(/^Key/).fill(key);
  const choose = page.getByLabel("Choose a passphrase for your keys");
  if (await choose.count()) {
    await choose.fill("four plain words here");
    await page.getByLabel("The same again").fill("four plain words here");
  }
  const save = page.getByRole("button", { name: "Save and test" });
  await save.click();
  await save.waitFor({ state: "detached" });
}

const remove = () => page.getByRole("button", { name: "Remove", exact: true }).last().click();

/** What the page is told when a bound method is called that fails, as its message. */
const rejection = (name, method, ...args) =>
  page.evaluate(
    ([n, m, a]) =>
      globalThis.go.app[n][m](...a).then(
        () => "",
        (error) => error.message,
      ),
    [name, method, args],
  );

const steps = {
  "F100 a refused call brings one string with sentence and hint": async () => {
    for (const [name, method, ...args] of [
      ["Models", "Unlock", "short"],
      ["Models", "Test", "nobody"],
      ["Models", "SetDefault", "nobody/x"],
      ["Chats", "Rename", "nothing", "x"],
      ["Chats", "Send", "", { text: " ", attachments: [], model: "", no_tools: false }],
      ["Plugins", "Add", "/nowhere/at/all"],
      ["Plugins", "Show", "nothing"],
      ["Permissions", "Revoke", "nothing"],
      ["Window", "OpenURL", "file:///etc/passwd"],
      ["Window", "LoadPicture", "file:///etc/passwd"],
      ["Settings", "Set", { theme: "pink" }],
    ]) {
      const failure = JSON.parse(await rejection(name, method, ...args));
      if (!failure.kind || !/^.{8,}[.!?”]$/s.test(failure.message))
        throw new Error(`${name}.${method} says ${JSON.stringify(failure)}`);
    }
  },

  "F100 a plugin's path that is not there is said in words": async () => {
    await page.evaluate(() => globalThis.go.app.Settings.Set({ dock_open: true }));
    await page.keyboard.press("Control+k");
    await page.keyboard.type("add plugin");
    await page.keyboard.press("Enter");
    const field = page.getByRole("dialog").getByRole("textbox").first();
    await field.fill("/nowhere/at/all");
    await field.press("Enter");
    await says(/\/nowhere\/at\/all/);
    await picture("path");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
  },

  "F100 an address that nobody answers at is said on its card": async () => {
    await connect("http://127.0.0.1:1/v1", "sk-wrong");
    await says(/127\.0\.0\.1:1/, /reach|answer|connect/i);
    await picture("unreachable");
    await remove();
  },

  "F100 a wrong path is said on its card": async () => {
    await connect(server.url.replace("/v1", "/nothing/here"), rightKey);
    await says(/404/, /\/nothing\/here|address/);
    await picture("wrong-path");
    await remove();
  },

  "F100 a wrong key is said on its card": async () => {
    await connect(server.url, "sk-wrong");
    await says(/key/i, /401/);
    await picture("wrong-key");
    await remove();
  },

  "F109 the right key gives new chats a model that talks, and it is said": async () => {
    await connect(server.url, rightKey);
    await says(/New chats now ask talker/);
    const text = await page.locator("body").innerText();
    if (/embedding/.test(text)) throw new Error("a model that does not talk is listed");
    await picture("right-key");
    await page.keyboard.press("Escape");
  },

  "F100 an answer that fails says why": async () => {
    await page.keyboard.press("Control+n");
    for (const [text, words] of [
      ["Fail 500", /went wrong|failed|error/i],
      ["Fail 429", /limit|too many|quota|busy/i],
      ["Fail noise", /not|cut|understood|answer/i],
    ]) {
      await ask(text);
      await says(words, /Try again/);
      await picture(text.replace(" ", "-"));
    }
  },

  "F102 after another default is chosen in a terminal, the chat keeps its model": async () => {
    await ask("Hello");
    place.told("models", "default", "demo/guide");
    await ask("Hello again");
    if (server.asked.at(-1).text !== "Hello again") throw new Error("another model was asked");
    await page.keyboard.press("Control+n");
    await says(/Demo guide/);
    await ask("And who are you?");
    if (server.asked.some((a) => a.text === "And who are you?"))
      throw new Error("the model that was not shown was asked");
    place.told("models", "default", "127.0.0.1/talker");
  },

  "F114 each paragraph runs the way its words do, and code from left to right": async () => {
    await page.keyboard.press("Control+n");
    await ask("Both ways, please");
    await page.locator("article figure.code").waitFor();
    const ways = await page.locator("article .block").evaluateAll((blocks) =>
      blocks.slice(-3).map((block) => {
        const code = block.querySelector("figure.code, p");
        return getComputedStyle(code).direction;
      }),
    );
    if (ways.join() !== "rtl,ltr,ltr") throw new Error(`they run ${ways.join()}`);
    await picture("both-ways");
  },

  "F04 replies that would act cannot": async () => {
    for (const [name, markdown] of Object.entries(replies)) {
      await page.keyboard.press("Control+n");
      await ask(name);
      // Drawn, or left as it was written: nothing is still to come.
      await page.waitForFunction(() =>
        [...document.querySelectorAll("article .mermaid, article .math")].every(
          (e) => e.dataset.drawn !== undefined || e.title,
        ),
      );
      const found = await page.evaluate(() => {
        const wrong = [];
        const article = [...document.querySelectorAll("article")].at(-1);
        const box = article.getBoundingClientRect();
        if (globalThis.acted) wrong.push("a script ran");
        if (
          article.querySelector(
            "script, iframe, object, embed, link, style, form, base, meta, svg:not(.lucide, .katex svg)",
          )
        )
          wrong.push("an element that acts");
        for (const image of article.querySelectorAll("img"))
          if (!/^data:image\/svg\+xml/.test(image.src)) wrong.push(`a picture of ${image.src}`);
        for (const e of article.querySelectorAll("*"))
          if (/fixed|sticky/.test(getComputedStyle(e).position) && !e.closest("thead"))
            wrong.push(`${e.tagName}.${e.className} is ${getComputedStyle(e).position}`);
        for (let x = 5; x < innerWidth; x += 25)
          for (let y = 5; y < innerHeight; y += 20) {
            const out = x < box.left || x > box.right || y < box.top || y > box.bottom;
            const hit = document.elementFromPoint(x, y);
            if (out && hit && article.contains(hit) && hit.closest(".block"))
              wrong.push(`${hit.tagName}.${hit.className} at ${x},${y}`);
          }
        if (article.querySelectorAll("*").length > 30_000) wrong.push("too many elements");
        const send = document.querySelector("form.composer");
        if (!send || getComputedStyle(send).display === "none") wrong.push("the composer is gone");
        return wrong.slice(0, 5);
      });
      await picture(`act-${name.replaceAll(" ", "-")}`);
      if (found.length > 0) throw new Error(`${name}: ${found.join("; ")}\n${markdown}`);
    }
    if (snare.met.length > 0) throw new Error(`something was loaded: ${snare.met.join("; ")}`);
  },

  "F04 a picture of this computer is not fetched even when pressed": async () => {
    await page.keyboard.press("Control+n");
    await ask("A picture, please");
    await page.getByText("Load image from 127.0.0.1").click();
    await says(/this computer or its own network/, /Open the address in a browser/);
    await picture("private-picture");
    if (snare.met.length > 0) throw new Error(`something was loaded: ${snare.met.join("; ")}`);
  },

  "F100 after a restart a wrong passphrase is said, and the right one opens": async () => {
    await page.close();
    await place.end(app.child);
    await place.free();
    app = await devProgram(place);
    await openPage();
    await page.keyboard.press("Control+n");
    await ask("Locked?");
    await says(/locked/i, /passphrase/i);
    await models();
    await page.getByLabel("Passphrase", { exact: true }).fill("not the passphrase");
    await page.getByRole("button", { name: "Unlock keys" }).click();
    await says(/passphrase.*(wrong|does not|not)/i);
    await picture("wrong-passphrase");
    await page.getByLabel("Passphrase", { exact: true }).fill("four plain words here");
    await page.getByRole("button", { name: "Unlock keys" }).click();
    await page.getByRole("button", { name: "Unlock keys" }).waitFor({ state: "detached" });
  },

  "the page met no error of its own": async () => {
    if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
  },
};

const done = new Steps();
try {
  snare = await trap();
  replies = hostile(snare.port);
  server = await modelServer(
    {
      ...replies,
      "Fail 500": (_, json) => json(500, { error: { message: "the server went wrong" } }),
      "Fail 429": (_, json) => json(429, { error: { message: "Rate limit reached" } }),
      "Fail noise": (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end("data: {not json\n\n");
      },
      "Both ways, please": "مرحبا بالعالم، one word\n\nHello مرحبا\n\n```\nمرحبا = 1\n```",
      "A picture, please": `![one](http://127.0.0.1:${snare.port}/x.png)`,
    },
    ["a-text-embedding", "talker", "whisper-1"],
  );
  await place.screen();
  await place.bus({ keychain: false });
  browser = await launch();
  app = await devProgram(place);
  await openPage();
  await done.run(steps, async (n) => {
    if (!page.isClosed()) await picture(`failed-${n}`).catch(() => {});
  });
} catch (error) {
  done.failed++;
  console.log(`FAIL ${error.stack}\n${app?.child.output ?? ""}`);
} finally {
  await browser?.close();
  await place.close();
  server?.close();
  snare?.close();
}
console.log(`pictures in ${shots}`);
done.end();
