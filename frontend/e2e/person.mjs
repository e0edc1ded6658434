// A person at the window, in Chromium on the program's real bindings: what the journeys that use
// it have in common.
import { join } from "node:path";
import { newPage } from "./harness.mjs";
import { until } from "./processes.mjs";

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
        (e) => e.dataset.drawn === undefined && !e.title,
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

export class Person {
  page;
  #browser;
  #shots;

  /** shots is the folder of the pictures, and what their names begin with. */
  constructor(browser, shots) {
    this.#browser = browser;
    this.#shots = shots;
  }

  /** Opens the program's page; errors of its own are kept in page.errors. */
  async open(app, { width = 1280, height = 832, colorScheme = "light" } = {}) {
    const errors = this.page?.errors ?? [];
    this.page = await newPage(this.#browser, { viewport: { width, height }, colorScheme });
    this.page.errors.unshift(...errors);
    await this.page.goto(app.url);
    await this.page.getByPlaceholder("Message Conclave").waitFor();
  }

  async picture(name) {
    const { folder, begin } = this.#shots;
    const path = join(folder, `${begin}-${name.replaceAll(/\W+/g, "-")}.png`);
    await this.page.screenshot({ path });
  }

  /** Waits until an element says words that match all; returns what it says. */
  async reads(element, ...wanted) {
    let now = "";
    await until(`the words ${wanted.join(", ")}`, async () => {
      now = (await element.count()) > 0 ? await element.innerText() : "";
      return wanted.every((w) => w.test(now));
    }).catch((error) => {
      throw new Error(`${error.message}; it says: ${now.slice(0, 2000)}`);
    });
    if (/\[object|undefined|NaN/.test(now)) throw new Error(`it says: ${now}`);
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
    await this.page.locator("button.send").waitFor();
    const box = this.page.getByPlaceholder("Message Conclave");
    await box.fill(text);
    await this.page.locator("button.send:enabled").waitFor(); // what came before it has gone out
    await box.press("Enter");
  }

  /** Writes a message and waits for the end of the answer; returns the answer's element. */
  async ask(text) {
    await this.write(text);
    const question = this.page.locator("article.user").filter({ hasText: text }).last();
    await question.waitFor();
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
    await this.page.getByLabel(field, { exact: true }).click();
    await this.page.getByRole("option", { name: option, exact: true }).click();
  }

  async models() {
    await this.page.keyboard.press("Control+,");
    await this.page.getByRole("button", { name: "Models", exact: true }).click();
  }

  /** Begins to add a server of one's own. */
  async beginConnection(url, key) {
    await this.models();
    await this.page.getByRole("button", { name: "Add a connection" }).click();
    await this.choose("Provider", "OpenAI-compatible server");
    await this.page.getByLabel("Server address").fill(url);
    await this.page.getByLabel(/^Key/).fill(key);
  }

  /** Adds a server of one's own, and waits until it was asked; returns its card. */
  async connect(url, key) {
    await this.beginConnection(url, key);
    await this.save();
    return this.page.locator("[data-connection]").last();
  }

  /** Saves the connection that is written, with its passphrase where one is to be chosen. */
  async save(passphrase = "four plain words here") {
    const choose = this.page.getByLabel("Choose a passphrase for your keys");
    if (await choose.count()) {
      await choose.fill(passphrase);
      await this.page.getByLabel("Repeat passphrase").fill(passphrase);
    }
    const save = this.page.getByRole("button", { name: "Save and test" });
    await save.click();
    await this.page.getByRole("button", { name: "Add a connection" }).waitFor();
  }
}
