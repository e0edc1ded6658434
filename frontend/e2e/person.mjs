// A person at the window: the real program under Xvfb, with its real bindings in Chromium, and what
// the journeys on it have in common. The tests of a file share one, until one of them fails.
import { test as base, expect } from "@playwright/test";
import { writeFileSync } from "node:fs";
import { join, parse } from "node:path";
import { approved } from "./ecosystems.mjs";
import { watch } from "./page.mjs";
import { Place, devProgram } from "./processes.mjs";
import { modelServer, rightKey, trap } from "./server.mjs";

export { expect };

/**
 * Resolves when a frame was painted after which nothing changed for 200 ms, and nothing is to come
 * that is drawn in its own time: formulas, diagrams, pictures, letters. The list of messages places
 * its rows a frame after one of them grew, and until then one may lie over the next.
 */
const rest = () =>
  new Promise((resolve) => {
    const comes = () =>
      document.fonts.status !== "loaded" ||
      [...document.querySelectorAll("article pre.mermaid, article [data-tex]")].some(
        (e) => e.dataset.drawn === undefined,
      ) ||
      [...document.images].some((image) => !image.complete && image.loading !== "lazy");
    const painted = () => {
      if (comes()) return again();
      sizes.disconnect();
      changes.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(true)));
    };
    let timer = setTimeout(painted, 200);
    const again = () => {
      clearTimeout(timer);
      timer = setTimeout(painted, 200);
    };
    const changes = new MutationObserver(again);
    changes.observe(document, { subtree: true, childList: true, attributes: true });
    const sizes = new ResizeObserver(again);
    for (const row of document.querySelectorAll("article, section.ask")) sizes.observe(row);
  });

class Person {
  errors = [];
  #browser;
  #app;

  constructor(browser, place) {
    this.#browser = browser;
    this.place = place;
  }

  /** The address of the program. */
  get url() {
    return this.#app.url;
  }

  /** Starts the program, and opens its page. */
  async open(colorScheme = "light") {
    this.#app = await devProgram(this.place);
    const viewport = { width: 1440, height: 832 };
    this.page = await this.#browser.newPage({ viewport, colorScheme });
    this.errors = await watch(this.page);
    await this.page.goto(this.url);
    await expect(this.page.getByPlaceholder("Message Conclave")).toBeVisible();
    await expect(this.page.locator("#first")).toHaveCount(0); // keys before any script are nobody's
  }

  /** Ends the program, and opens it again; the page is another one. */
  async restart(colorScheme) {
    await this.page.close();
    await this.place.end(this.#app.child);
    await this.place.free();
    const { errors } = this;
    await this.open(colorScheme);
    this.errors.push(...errors);
  }

  /** Waits until an element says words that match all; returns what it says. */
  async reads(element, ...wanted) {
    let now = "";
    await expect(async () => {
      now = await element.innerText();
      for (const words of wanted) expect(now).toMatch(words);
    }).toPass();
    expect(now).not.toMatch(/\[object|undefined|NaN/);
    return now;
  }

  /** The same, of the whole page. */
  says(...wanted) {
    return this.reads(this.page.locator("body"), ...wanted);
  }

  /** Waits until the messages lie where they will stay. */
  still() {
    return this.page.waitForFunction(rest);
  }

  newChat() {
    return this.page.keyboard.press("Control+n");
  }

  /** Writes a message and sends it. */
  async write(text) {
    await expect(this.page.locator("button.send")).toBeVisible();
    const box = this.page.getByPlaceholder("Message Conclave");
    await box.fill(text);
    await expect(this.page.locator("button.send")).toBeEnabled(); // what came before it has gone out
    await box.press("Enter");
  }

  /** Writes a message and waits for the end of the answer; returns the answer's element. */
  async ask(text) {
    await this.write(text);
    const question = this.page.locator("article.user").filter({ hasText: text }).last();
    await expect(question).toBeVisible();
    const seq = Number(await question.getAttribute("data-seq"));
    await this.page.waitForFunction((asked) => {
      const last = [...document.querySelectorAll("article")].at(-1);
      const ended = Number(last?.dataset.seq) > asked && last.ariaBusy !== "true";
      return ended && !document.querySelector("button.stop");
    }, seq);
    return this.page.locator("article").last();
  }

  /** Chooses an option of a field by its words. */
  async choose(field, option) {
    await this.page.getByLabel(field, { exact: true }).first().click();
    await this.page.getByRole("option", { name: option, exact: true }).click();
  }

  async models() {
    await this.page.keyboard.press("Control+,");
    await this.page.getByRole("button", { name: "Models", exact: true }).click();
  }

  /** Begins to add an OpenAI-compatible server. */
  async beginConnection(url, key) {
    await this.models();
    await this.page.getByRole("button", { name: "Add a connection" }).click();
    await this.choose("Provider", "OpenAI-compatible server");
    await this.page.getByLabel("Server address").fill(url);
    await this.page.getByLabel(/^Key/).fill(key);
  }

  /** Adds an OpenAI-compatible server, and waits until it was asked; returns its card. */
  async connect(url, key) {
    await this.beginConnection(url, key);
    await this.save();
    return this.page.locator("[data-connection]").last();
  }

  /** Saves the connection that is written, with its passphrase where one is to be chosen. */
  async save(passphrase = "four plain words here", { anyway = false } = {}) {
    const choose = this.page.getByLabel("Choose a passphrase for your keys");
    if (await choose.count()) {
      await choose.fill(passphrase);
      await this.page.getByLabel("Repeat passphrase").fill(passphrase);
    }
    const save = this.page.getByRole("button", { name: "Save and test" });
    await save.click();
    if (anyway) {
      const keep = this.page.getByRole("button", { name: "Save anyway" });
      const saved = this.page.getByRole("button", { name: "Add a connection" });
      await expect(keep.or(saved)).toBeVisible();
      if (await keep.isVisible()) {
        await expect(this.page.locator("form.card").getByRole("alert")).toContainText("Nothing was saved.");
        await keep.click();
      }
    }
    await expect(this.page.getByRole("button", { name: "Add a connection" })).toBeVisible();
  }
}

const worker = { scope: "worker" };
const option = { scope: "worker", option: true };

export const test = base.extend({
  /** Whether somebody keeps secrets on the session's bus. */
  keychain: [true, option],
  /** The names of the server's models. */
  models: [["talker"], option],
  /** Whether the server's models can be asked. */
  connected: [true, option],
  /** Plugins that are there and approved: files and their text. */
  plugins: [
    {
      "text.py": `def word_count(text: str) -> str:
    """Count the words of a text, and say more than is seen.

    Args:
        text: The text to count.
    """
    return f"{len(text.split())}\\u200b\\u200b\\u202e"
`,
      "notes.py": `def write_note(path: str, text: str) -> str:
    """Write a note.

    Args:
        path: Where.
        text: What.
    """
    return "written"
`,
    },
    option,
  ],

  /** A home folder, whose programs end with it. */
  place: [
    async ({ browserName: _ }, use) => {
      const place = new Place();
      try {
        await use(place);
      } finally {
        await place.close();
      }
    },
    worker,
  ],

  display: [async ({ place }, use) => use(await place.screen()), worker],

  /** The address of a session bus. */
  bus: [async ({ place, keychain }, use) => use(await place.bus({ keychain })), worker],

  /** A server of models; what it answers is added to its answers. */
  server: [
    async ({ models }, use) => {
      const server = await modelServer(models);
      await use(server);
      server.close();
    },
    worker,
  ],

  /** A place that nothing may connect to. */
  snare: [
    async ({ browserName: _ }, use) => {
      const snare = await trap();
      await use(snare);
      snare.close();
    },
    worker,
  ],

  person: [
    async ({ browser, place, display: _, bus: __, plugins, connected, server }, use) => {
      for (const [name, text] of Object.entries(plugins)) writeFileSync(join(place.plugins, name), text);
      const person = new Person(browser, place);
      await person.open();
      await approved(place, ...Object.keys(plugins).map((name) => parse(name).name));
      if (connected) {
        await person.connect(server.url, rightKey);
        await person.page.keyboard.press("Escape");
      }
      await use(person);
    },
    worker,
  ],

  /** The person's page, which may report no errors. */
  page: async ({ person }, use) => {
    await use(person.page);
    expect(person.errors.splice(0), "what the page reported").toEqual([]);
  },
});
