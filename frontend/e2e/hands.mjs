// Two ways to go through the real window: with the mouse, and by keys alone. What is pressed is found
// over the accessibility bus, where it is on the screen or when the focus comes to it.
import { until } from "./processes.mjs";
import { listItem } from "./reader.mjs";

const like = (name, wanted) => (wanted instanceof RegExp ? wanted.test(name) : wanted === name);

/** A person with a mouse. */
export class Mouse {
  byKeys = false;
  #screen;
  #reader;

  constructor(screen, reader) {
    this.#screen = screen;
    this.#reader = reader;
  }

  /** Lets go of what was pressed, before a picture: its hint would come. */
  async rest() {
    this.#screen.move(4, 4);
    await this.#screen.still();
  }

  /** Goes to the panel, which is in sight anyway. */
  panel() {}

  /** Shows a tab of the panel, which is closed. */
  async show(tab) {
    await this.press("Show the panel");
    await this.press(tab);
  }

  /**
   * Presses what has a name once the pointer is over it and nothing moves. A hint of what was pressed
   * before, which is another window, may lie between; it goes when the pointer comes.
   */
  async press(name) {
    const screen = this.#screen;
    let found, before, picture;
    let calm = 0; // looks one after the other at which nothing moved
    await until(`something named ${name}`, async () => {
      found ??= await this.#reader.pressable(name);
      const now = found && (await this.#reader.spot(found));
      const there = now && now.x > 0 && now.y > 0 && now.x < screen.width && now.y < screen.height;
      const stays = there && now.x === before?.x && now.y === before.y;
      calm = stays && screen.changed(picture) < 0.0005 ? calm + 1 : 0;
      if (!there) found = null;
      else if (!stays) screen.move(now.x, now.y);
      before = now;
      picture = screen.sample();
      return calm >= 3 && !screen.covered("^conclave-window$", now.x, now.y);
    });
    screen.button();
  }

  /** Goes into a field by its name. */
  field(name) {
    return this.press(name);
  }

  /** Presses what a shortcut is for. */
  shortcut(keys, name) {
    return this.press(name);
  }

  /** Chooses from a list or a menu, by its name. */
  async choose(list, what) {
    await this.press(list);
    await this.press(what);
  }

  /** Looks whether the focus is on something, which is of no matter here. */
  holds() {}
}

/** A person without one. What is pressed keeps the focus, or passes it on to what it opens. */
export class Keyboard {
  byKeys = true;
  #screen;
  #reader;

  constructor(screen, reader) {
    screen.keysAlone();
    /** Where the mouse is, and stays. */
    this.pointer = screen.pointer();
    this.#screen = screen;
    this.#reader = reader;
  }

  /** Waits until nothing moves; the focus must be somewhere then. */
  async rest() {
    await this.#screen.still();
    await this.#held();
  }

  async #held() {
    await until("the focus to be on something", async () => {
      return (await this.#reader.focused()) !== null;
    });
  }

  #go(key) {
    return this.#reader.goes(() => this.#screen.press(key));
  }

  /** Presses a key until the focus is on what has a name. */
  async #until(key, name) {
    const passed = [];
    for (;;) {
      const now = await this.#reader.focused();
      if (now !== null && like(now, name)) return;
      if (passed.push(now) > 150) throw new Error(`${key} does not come to ${name}, but to: ${passed.join(", ")}`);
      await this.#go(key);
    }
  }

  /** Marks a choice of a list, which itself keeps the focus and has no name. */
  async #mark(what) {
    this.#screen.press("Home");
    for (let at = await this.#reader.goesOn("", [listItem]); !like(at, what);) {
      this.#screen.press("Down");
      at = await this.#reader.goesOn(at, [listItem]);
    }
  }

  /** Goes to the top of the panel, from region to region. */
  panel() {
    return this.#until("F6", /^(Council|Tools|Plugins|Activity)$/);
  }

  async show(tab) {
    this.#screen.press("ctrl+j");
    await this.panel();
    await this.#until("Right", tab);
  }

  /** Tabs to what has a name, or back to it, and presses it. */
  async press(name, { back = false, key = "Return" } = {}) {
    await this.#until(back ? "shift+Tab" : "Tab", name);
    this.#screen.press(key);
  }

  field(name, { back = false } = {}) {
    return this.#until(back ? "shift+Tab" : "Tab", name);
  }

  shortcut(keys) {
    this.#screen.press(keys);
  }

  async choose(list, what, { menu = true } = {}) {
    await this.press(list);
    await until(`${list} to be open`, async () => (await this.#reader.focused()) !== list);
    if (menu) await this.#until("Down", what);
    else await this.#mark(what);
    this.#screen.press("Return");
    await this.#held();
  }

  /** Waits until the focus is on what has a name. */
  holds(name) {
    let now;
    return until(`the focus to be on ${name}`, async () => {
      now = await this.#reader.focused();
      return now !== null && like(now, name);
    }).catch((error) => {
      throw new Error(`${error.message}; it is on ${now}`);
    });
  }
}
