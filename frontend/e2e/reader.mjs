// Reads what the real window shows as a screen reader does: over AT-SPI, the accessibility bus.
// Orca 43 runs on this bus too, if SPEECHD_CMD names no program (else it waits for speech), and says in its debug
// file what the composer and a button are. It is no test: it takes letters of a message for its own commands after
// Esc, tries of it heard no live region (“Answer finished”), and on a busy machine it missed the composer as well.
import { connect } from "node:net";
import { patience, until } from "./processes.mjs";

const align = (n, to) => Math.ceil(n / to) * to;

/** The marshalled form of D-Bus: strings and numbers, little-endian. */
class Writer {
  bytes = [];
  pad(to) {
    while (this.bytes.length % to) this.bytes.push(0);
  }
  u32(n) {
    this.pad(4);
    this.bytes.push(n & 255, (n >> 8) & 255, (n >> 16) & 255, (n >> 24) & 255);
  }
  string(text) {
    const raw = Buffer.from(text);
    this.u32(raw.length);
    this.bytes.push(...raw, 0);
  }
  signature(text) {
    this.bytes.push(text.length, ...Buffer.from(text), 0);
  }
}

/** A connection to a bus, which calls methods and takes their answers. */
class Bus {
  /** Told of each signal: who sent it, of which object, and its body. */
  heard = () => {};
  #socket;
  #serial = 0;
  #waiting = new Map();
  #rest = Buffer.alloc(0);

  static async open(path) {
    const bus = new Bus();
    const socket = connect({ path });
    bus.#socket = socket;
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    const said = new Promise((resolve) => socket.once("data", resolve));
    const user = Buffer.from(String(process.getuid())).toString("hex");
    socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
    const answer = String(await said);
    if (!answer.startsWith("OK")) throw new Error(`the accessibility bus refused: ${answer}`);
    socket.write("BEGIN\r\n");
    socket.on("data", (data) => bus.#take(data));
    await bus.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello");
    return bus;
  }

  close() {
    this.#socket.destroy();
  }

  /** Calls a method; resolves to its answer's body, null when it failed. */
  call(to, path, face, member, signature = "", args = []) {
    const serial = ++this.#serial;
    const body = new Writer();
    for (const arg of args) {
      if (typeof arg === "number") body.u32(arg);
      else body.string(arg);
    }
    const w = new Writer();
    w.bytes.push(0x6c, 1, 0, 1);
    w.u32(body.bytes.length);
    w.u32(serial);
    const fields = new Writer();
    const field = (code, kind, value) => {
      fields.pad(8);
      fields.bytes.push(code, 1, kind.charCodeAt(0), 0);
      if (kind === "g") fields.signature(value);
      else fields.string(value);
    };
    field(1, "o", path);
    field(2, "s", face);
    field(3, "s", member);
    field(6, "s", to);
    if (signature) field(8, "g", signature);
    w.u32(fields.bytes.length);
    w.bytes.push(...fields.bytes); // 16 bytes came before, so that they lie as they were written
    w.pad(8);
    this.#socket.write(Buffer.from([...w.bytes, ...body.bytes]));
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(serial, null), patience);
      this.#waiting.set(serial, (value) => {
        clearTimeout(timer);
        resolve(value);
      });
    });
  }

  #settle(serial, value) {
    this.#waiting.get(serial)?.(value);
    this.#waiting.delete(serial);
  }

  #take(data) {
    this.#rest = Buffer.concat([this.#rest, data]);
    while (this.#rest.length >= 16) {
      const message = this.#rest;
      const fields = message.readUInt32LE(12);
      const start = align(16 + fields, 8);
      const end = start + message.readUInt32LE(4);
      if (message.length < end) return;
      this.#rest = message.subarray(end);
      const kind = message[1];
      if (kind < 2) continue;
      const told = {};
      let at = 16;
      while (at < 16 + fields) {
        at = align(at, 8);
        const code = message[at];
        const type = String.fromCharCode(message[at + 2]);
        at += 4;
        if (type === "g") at += message[at] + 2;
        else {
          at = align(at, 4);
          const value = message.readUInt32LE(at);
          told[code] = type === "u" ? value : message.toString("utf8", at + 4, at + 4 + value);
          at += type === "u" ? 4 : 4 + value + 1;
        }
      }
      const body = message.subarray(start, end);
      if (kind === 4) this.heard(told[7], told[1], body);
      else this.#settle(told[5], kind === 2 ? body : null);
    }
  }
}

const stringAt = (body, at) => {
  const length = body.readUInt32LE(at);
  return [body.toString("utf8", at + 4, at + 4 + length), at + 4 + length + 1];
};

const accessible = "org.a11y.atspi.Accessible";

// Roles by AtspiRole's numbers, since WebKit gives them no names.
const pressed = [35, 37, 43, 44, 62, 88]; // menu item, tab, button, radio, toggle, link
const image = 27;
/** More of the same, by what they are. */
export const listItem = 32;
export const heading = 83;
export const button = 43;
export const menu = 33;
export const menuItem = 35;
const filled = [11, 40, 52, 61, 79]; // combo box, password, spin button, text, entry
const enabled = 1 << 8; // of the states
const focused = 1 << 12;
/** All but the document itself and what holds it, which has the focus when nothing on the page has. */
const frames = [23, 49, 69, 82, 95]; // frame, scroll pane, window, document, document of the web
const anything = Array.from({ length: 140 }, (_, role) => role).filter((r) => !frames.includes(r));

/** Reads the windows of a place's screen. */
export class Reader {
  #bus;
  /** The documents that were found, by their process: what tells them lists the whole page. */
  #roots = new Map();
  /** What the focus came to last, once it is followed, and how often it went on. */
  #at = null;
  #moves = 0;
  #moved = () => {};

  /** Opens the accessibility bus of a session, whose address the session's bus tells. */
  static async open(address) {
    const reader = new Reader();
    const session = await Bus.open(address.match(/path=([^,]+)/)[1]);
    try {
      const told = await session.call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress");
      if (!told)
        throw new Error(
          "What the window says cannot be read here: there is no accessibility bus. .ci/deps test installs at-spi2-core.",
        );
      reader.#bus = await Bus.open(stringAt(told, 0)[0].match(/path=([^,]+)/)[1]);
    } finally {
      session.close();
    }
    return reader;
  }

  close() {
    this.#bus.close();
  }

  /**
   * Has the windows that are there tell where the focus goes, for goes. One that begins meanwhile
   * may not have heard that it is asked to.
   */
  async follow() {
    const bus = "org.freedesktop.DBus";
    const registry = "org.a11y.atspi.Registry";
    const rule = "type='signal',interface='org.a11y.atspi.Event.Object',member='StateChanged'";
    this.#bus.heard = (sender, path, body) => {
      if (body.length < 16) return;
      const [state, after] = stringAt(body, 0);
      if (state !== "focused" || body.readUInt32LE(align(after, 4)) !== 1) return;
      this.#at = [sender, path];
      this.#moves++;
      this.#moved();
    };
    await this.#bus.call(bus, "/org/freedesktop/DBus", bus, "AddMatch", "s", [rule]);
    const event = "object:state-changed:focused";
    const told = await this.#bus.call(
      ...[registry, "/org/a11y/atspi/registry", registry, "RegisterEvent", "s", [event]],
    );
    if (!told) throw new Error("The windows could not be asked to tell where the focus goes.");
  }

  /** Does what leads the focus elsewhere, and waits until it has gone, a second at most. */
  async goes(act) {
    const before = this.#moves;
    const gone = new Promise((resolve) => (this.#moved = resolve));
    act();
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, 1000)));
    if (this.#moves === before) await Promise.race([gone, late]);
    clearTimeout(timer);
  }

  /** The name of what has the focus, null where nothing on the page has it. */
  async focused() {
    for (;;) {
      const moves = this.#moves;
      const has = this.#at && (await this.#state(this.#at, focused)) ? this.#at : null;
      const name = has && (await this.#name(has));
      if (moves !== this.#moves) continue; // it went on meanwhile
      if (has) return name;
      const { found } = await this.#search(/^/, anything, true);
      return found && this.#name(found);
    }
  }

  async #state([to, path], state) {
    const body = await this.#bus.call(to, path, accessible, "GetState");
    return body !== null && (body.readUInt32LE(4) & state) !== 0;
  }

  async #children([to, path]) {
    const body = await this.#bus.call(to, path, accessible, "GetChildren");
    const out = [];
    if (!body) return out;
    const end = 8 + body.readUInt32LE(0);
    for (let at = 8; at < end;) {
      at = align(at, 8);
      const [name, next] = stringAt(body, at);
      const [object, after] = stringAt(body, align(next, 4));
      out.push([name, object]);
      at = after;
    }
    return out;
  }

  async #said([to, path]) {
    const [name, text] = await Promise.all([
      this.#bus.call(to, path, "org.freedesktop.DBus.Properties", "Get", "ss", [accessible, "Name"]),
      this.#bus.call(to, path, "org.a11y.atspi.Text", "GetText", "ii", [0, -1]),
    ]);
    const words = [];
    if (name) words.push(stringAt(name, 4)[0]); // a variant: the length of "s", s, nul, and it
    if (text) words.push(stringAt(text, 0)[0]);
    return words.map((w) => w.replaceAll("\uFFFC", " ").trim()).filter(Boolean);
  }

  /** The documents of the web views, each the process that shows it and its place there. */
  async #pages() {
    const face = "org.freedesktop.DBus";
    const names = await this.#bus.call(face, "/org/freedesktop/DBus", face, "ListNames");
    const out = [];
    for (let at = 4; at < (names?.length ?? 0);) {
      const [name, next] = stringAt(names, at);
      at = align(next, 4);
      if (!name.includes("WebProcess")) continue;
      const known = this.#roots.get(name);
      if (known) out.push(known);
      if (known) continue;
      const cache = "/org/a11y/atspi/cache";
      const items = await this.#bus.call(name, cache, "org.a11y.atspi.Cache", "GetItems");
      if (!items || items.length < 12) continue;
      const [owner, after] = stringAt(items, 8); // of an array of structs: the first one's object
      const page = [owner, stringAt(items, align(after, 4))[0]];
      this.#roots.set(name, page);
      out.push(page);
    }
    return out;
  }

  /** All that the window's page says, in its order, once each. */
  async words() {
    const visit = async (node, depth) => {
      const [said, children] = await Promise.all([this.#said(node), this.#children(node)]);
      if (depth > 60) return said;
      const below = await Promise.all(children.map((child) => visit(child, depth + 1)));
      return [...said, ...below.flat()];
    };
    const pages = await Promise.all((await this.#pages()).map((page) => visit(page, 0)));
    return [...new Set(pages.flat())].join("\n");
  }

  /** Whether there is a picture of this name on the page. */
  async hasPicture(name) {
    return (await this.#search(name, [image])).found !== null;
  }

  /** The first thing on the page of this name that is one of the roles, which is waited for. */
  async #find(name, roles) {
    let others = [];
    return until(`something on the page named ${name}`, async () => {
      const now = await this.#search(name, roles);
      others = now.others;
      return now.found;
    }).catch((error) => {
      throw new Error(`${error.message}; there are: ${others.join(", ")}`);
    });
  }

  /** The same, or null, and only with the focus where that is asked; and the names of the others of these roles. */
  async #search(name, roles, withFocus = false) {
    const others = [];
    const visit = async ([to, path], depth) => {
      const role = await this.#bus.call(to, path, accessible, "GetRole");
      if (role && roles.includes(role.readUInt32LE(0))) {
        const said = await this.#name([to, path]);
        const named = name instanceof RegExp ? name.test(said) : said === name;
        if (named && (!withFocus || (await this.#state([to, path], focused)))) return [to, path];
        others.push(said);
      }
      if (depth > 60) return null;
      for (const child of await this.#children([to, path])) {
        const found = await visit(child, depth + 1);
        if (found) return found;
      }
      return null;
    };
    for (const page of await this.#pages()) {
      const found = await visit(page, 0);
      if (found) return { found, others };
    }
    return { found: null, others };
  }

  /** Presses a button or a link by its name, as a screen reader does. */
  async press(name) {
    await this.#press(await this.#find(name, pressed));
  }

  /** The same, where it is there by now. */
  async pressIfThere(name) {
    const { found } = await this.#search(name, pressed);
    if (found) await this.#press(found);
  }

  #press([to, path]) {
    return this.#bus.call(to, path, "org.a11y.atspi.Action", "DoAction", "i", [0]);
  }

  /** Something of this name that can be pressed, for spot; null where there is nothing. */
  async pressable(name) {
    return (await this.#search(name, [...pressed, ...filled, listItem])).found;
  }

  /**
   * Where something is on the screen, its middle, once it has been brought into view; null where it
   * is gone.
   */
  async spot([to, path]) {
    const face = "org.a11y.atspi.Component";
    await this.#bus.call(to, path, face, "ScrollTo", "u", [6]); // anywhere that it is seen
    const body = await this.#bus.call(to, path, face, "GetExtents", "u", [0]);
    if (!body) return null;
    let [x, y, width, height] = [0, 4, 8, 12].map((at) => body.readInt32LE(at));
    const role = await this.#bus.call(to, path, accessible, "GetRole");
    // WebKit says truly where an option of a list begins, but adds to its size where its list lies.
    if (role?.readUInt32LE(0) === listItem) width = height = 24;
    return { x: Math.round(x + width / 2), y: Math.round(y + height / 2), width, height };
  }

  /** Waits until a field has the focus, by its name: what is typed before goes elsewhere. */
  typed(name, roles = filled) {
    return until(`the focus to be on ${name}`, () => this.hasFocus(name, roles));
  }

  /** Whether something of this name that is one of the roles has the focus. */
  async hasFocus(name, roles) {
    return (await this.#search(name, roles, true)).found !== null;
  }

  /** Waits until what has the focus can be pressed, by its name, and is one of the roles. */
  armed(name, roles) {
    return until(`${name} to be armed`, async () => {
      const { found } = await this.#search(name, roles, true);
      return found && (await this.#state(found, enabled));
    });
  }

  /** Waits until the focus is on something else of these roles than what has the name; returns its name. */
  goesOn(from, roles) {
    return until(`the focus to leave ${from}`, async () => {
      const { found } = await this.#search(/./, roles, true);
      const name = found && (await this.#name(found));
      return name && name !== from && name;
    });
  }

  async #name([to, path]) {
    const face = "org.freedesktop.DBus.Properties";
    const body = await this.#bus.call(to, path, face, "Get", "ss", [accessible, "Name"]);
    return body ? stringAt(body, 4)[0] : "";
  }

  /** The same for the palette, while whose field has the keyboard its first choice has the focus. */
  palette() {
    return this.typed(/./, [listItem]);
  }

  /**
   * Waits until the field with the focus holds as many characters as a text, which was typed: who
   * puts the focus elsewhere before, has what still comes go there.
   */
  async holds(text) {
    const face = "org.freedesktop.DBus.Properties";
    let at, count;
    await until("what was typed", async () => {
      at ??= (await this.#search(/^/, filled, true)).found;
      const asked = ["org.a11y.atspi.Text", "CharacterCount"];
      const body = at && (await this.#bus.call(...at, face, "Get", "ss", asked));
      count = body?.readInt32LE(4); // a variant: the length of "i", i, nul, and it
      return count === [...text].length;
    }).catch((error) => {
      throw new Error(`${error.message}: ${count} characters of ${[...text].length} are there`);
    });
  }

  /** Puts the focus on a field by its name. */
  async focus(name) {
    const [to, path] = await this.#find(name, filled);
    await this.#bus.call(to, path, "org.a11y.atspi.Component", "GrabFocus");
  }
}
