// The real window: build/bin/conclave-window in WebKitGTK under Xvfb. What it says is read over the
// accessibility bus, what it shows from its pixels.
import { join } from "node:path";
import { test as base, expect } from "./person.mjs";
import { bin, built, until } from "./processes.mjs";
import { Reader } from "./reader.mjs";

export { expect };

/** The accent of the light theme, in which a field is framed while it has the focus. */
const accent = 0x2f5d50;

class Window {
  #place;
  #display;
  #reader;

  constructor(place, display, reader) {
    this.#place = place;
    this.#display = display;
    this.#reader = reader;
  }

  /** Starts the window's program, with a link where one is opened. */
  start(data = this.#place.data, ...link) {
    const args = ["--data", data, "--plugins", this.#place.plugins, ...link];
    return this.#place.start(join(bin, "conclave-window"), args);
  }

  /**
   * Opens the window and waits until it is loaded: what is drawn first is a frame, in which typed is
   * written. With follow the reader hears where the focus goes.
   */
  async open({ follow = false, typed = "" } = {}) {
    this.program = this.start();
    if (typed) {
      await until("the field of the first frame", () => this.#display.count(accent) >= 150);
      await this.#display.focusOn("(^| )Conclave$");
      this.#display.type(typed);
    }
    await this.says("Write a message");
    if (follow) await this.#reader.follow();
    await this.#display.still();
    await this.#display.focusOn("(^| )Conclave$");
  }

  /** All that the window says. */
  async words() {
    const { ended, output } = this.program;
    if (ended) throw new Error(`the window's program ended: ${output}`);
    return this.#reader.words();
  }

  /** Waits until the window says words; returns all that it says then. */
  async says(...wanted) {
    let now = "";
    await until(`the window to say ${wanted.join(", ")}`, async () => {
      now = await this.words();
      return wanted.every((w) => (w instanceof RegExp ? w.test(now) : now.includes(w)));
    }).catch((error) => {
      throw new Error(`${error.message}; it says: ${now.slice(0, 3000)}`);
    });
    expect(now).not.toMatch(/\[object|undefined|NaN/);
    return now;
  }

  /** Types a message into the composer, to which Esc leads, and sends it. */
  async ask(text) {
    this.#display.press("Escape");
    await this.#reader.typed("Message");
    this.#display.type(text);
    this.#display.press("Return");
  }

  /** Fills the field that has the focus. */
  async fill(text) {
    this.#display.press("ctrl+a");
    this.#display.type(text);
    await this.#reader.holds(text);
  }

  /** Opens the palette and types words into it, which Return chooses. */
  async command(words, ...keys) {
    this.#display.press("ctrl+k");
    await this.#reader.palette();
    this.#display.type(words);
    if (keys.length > 0) this.#display.press(...keys);
  }

  /** Opens a link as a desktop does: the program is started once more, and hands it to the window. */
  async follow(link) {
    const second = this.start(undefined, link);
    expect(await second.gone, second.output).toBe("exit 0");
  }

  /** Closes the window as a person does. */
  async quit() {
    await this.command("quit", "Return");
    expect(await this.program.gone).toBe("exit 0");
    await this.#place.free();
  }
}

const worker = { scope: "worker" };

export const test = base.extend({
  /** The theme of the desktop. */
  theme: ["light", { scope: "worker", option: true }],

  reader: [
    async ({ bus }, use) => {
      const reader = await Reader.open(bus);
      await use(reader);
      reader.close();
    },
    worker,
  ],

  window: [
    async ({ place, display, reader, theme }, use) => {
      built("conclave", "conclave-worker", "conclave-window");
      if (theme === "dark") place.gtk({ "gtk-application-prefer-dark-theme": 1 });
      await use(new Window(place, display, reader));
    },
    worker,
  ],

  /** Keeps a picture of the screen where a test fails, and with CONCLAVE_PICTURES at the end of each. */
  picture: [
    async ({ display }, use, info) => {
      await use();
      if (process.env.CONCLAVE_PICTURES || info.status !== info.expectedStatus)
        display.picture(info.outputPath("screen.png"));
    },
    { auto: true },
  ],
});
