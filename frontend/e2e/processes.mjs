// Programs that a test starts, with a home folder, a screen and a bus of their
// own, and nothing of the person's who runs it.
import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const bin = join(root, "build", "bin");

/**
 * How long anything is waited for, in ms: far above what it takes, so that only a hang ends a wait;
 * longer on a slow machine, as .ci/pace measured it.
 */
export const patience = 120_000 * Number(process.env.CONCLAVE_TEST_PACE ?? 1);

/** Waits until check returns something. It pauses for as long as a check takes, twice: some start a program. */
export async function until(what, check) {
  const began = performance.now();
  for (;;) {
    const asked = performance.now();
    const value = await check();
    if (value) return value;
    const now = performance.now();
    if (now - began > patience) throw new Error(`waited ${patience} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, Math.max(50, 2 * (now - asked))));
  }
}

/** A free port of those that no system gives to whoever asks for any: none is taken meanwhile. */
export async function freePort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const free = await new Promise((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

/** A home folder with its processes. close ends them all and removes it. */
export class Place {
  home = mkdtempSync(join(tmpdir(), "conclave-e2e-"));
  data = join(this.home, "data");
  plugins = join(this.home, "plugins");
  children = new Set();
  env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(DISPLAY|WAYLAND_|CONCLAVE_|XDG_)/.test(name)),
  );

  constructor() {
    const config = join(this.home, "config");
    mkdirSync(this.plugins, { recursive: true, mode: 0o700 });
    mkdirSync(config);
    Object.assign(this.env, {
      HOME: this.home,
      XDG_CONFIG_HOME: config,
      XDG_DATA_HOME: join(this.home, "share"),
      XDG_CACHE_HOME: join(this.home, "cache"),
      XDG_RUNTIME_DIR: this.home,
      GSETTINGS_BACKEND: "memory",
      NO_AT_BRIDGE: "1", // no assistive technology listens here, and asking for it costs seconds
    });
  }

  /** Starts a program in a new process group. Its output so far is .output, its end .gone. */
  start(command, args, env = {}) {
    const child = spawn(command, args, {
      env: { ...this.env, ...env },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
    });
    child.output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => (child.output = (child.output + chunk).slice(-20_000)));
    }
    this.children.add(child);
    child.gone = new Promise((resolve) => {
      const ended = (how) => {
        this.children.delete(child);
        child.ended = how;
        child.output += `\n(${how})`;
        resolve(how);
      };
      child.on("exit", (code, signal) => ended(signal ?? `exit ${code}`));
      child.on("error", (error) => ended(String(error.message)));
    });
    return child;
  }

  /** Ends a program and all that it started; resolves once it is gone. */
  async end(child, signal = "SIGTERM") {
    const group = (s) => {
      try {
        process.kill(-child.pid, s);
      } catch {
        // it ended by itself
      }
    };
    if (!child.ended) group(signal);
    const hung = setTimeout(() => group("SIGKILL"), patience);
    await child.gone;
    clearTimeout(hung);
    group("SIGKILL"); // what it left behind
  }

  /** Runs the terminal program to its end on this place's data. */
  conclave(...args) {
    const done = spawnSync(join(bin, "conclave"), ["--data", this.data, "--plugins", this.plugins, ...args], {
      env: this.env,
      encoding: "utf8",
      timeout: patience,
    });
    if (done.error) throw done.error;
    return done;
  }

  /** The same, when it must succeed; returns what it printed, as JSON where it is. */
  told(...args) {
    const done = this.conclave(...args);
    if (done.status !== 0) throw new Error(`conclave ${args.join(" ")} ended with ${done.status}: ${done.stderr}`);
    return args.includes("--json") ? JSON.parse(done.stdout) : done.stdout;
  }

  /** Waits until a command gets the store: the program that had it has let go. */
  free() {
    return until("the store to be free", () => this.conclave("chats", "list").status === 0);
  }

  /** A screen. Throws a sentence when this machine cannot have one. */
  async screen(width = 1320, height = 880) {
    const frames = join(this.home, "screen");
    mkdirSync(frames);
    const server = this.start("Xvfb", [
      ...["-displayfd", "3", "-screen", "0", `${width}x${height}x24`],
      ...["-nolisten", "tcp", "-fbdir", frames],
    ]);
    let number = "";
    server.stdio[3].on("data", (chunk) => (number += chunk));
    await until("Xvfb", () => {
      if (server.ended)
        throw new Error(
          `The window cannot be tested here: Xvfb, which draws its screen, did not start (${server.output.trim()}). .ci/deps test installs it.`,
        );
      return number.endsWith("\n");
    });
    this.env.DISPLAY = `:${number.trim()}`;
    return new Screen(this, join(frames, "Xvfb_screen0"));
  }

  /**
   * A session bus, as every desktop has one. With keychain false nobody on it keeps secrets, and
   * what the window shows can be read from it (reader.mjs).
   */
  async bus({ keychain = true } = {}) {
    const which = keychain ? ["--session"] : [`--config-file=${this.#bareBus()}`];
    const daemon = this.start("dbus-daemon", [...which, "--nofork", "--print-address=1"]);
    const address = await until("the session's bus", () => {
      if (daemon.ended)
        throw new Error(
          `The window cannot be tested here: dbus-daemon did not start (${daemon.output.trim()}). .ci/deps test installs it.`,
        );
      return daemon.output.match(/^unix:\S+/m)?.[0];
    });
    return (this.env.DBUS_SESSION_BUS_ADDRESS = address);
  }

  /** Writes the configuration of a bus that starts the accessibility bus alone. */
  #bareBus() {
    const services = join(this.home, "services");
    mkdirSync(services);
    const name = "org.a11y.Bus.service";
    const from = join("/usr/share/dbus-1/services", name);
    if (existsSync(from)) copyFileSync(from, join(services, name));
    delete this.env.NO_AT_BRIDGE;
    const path = join(this.home, "bus.conf");
    writeFileSync(
      path,
      `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=${join(this.home, "bus")}</listen>
  <auth>EXTERNAL</auth>
  <servicedir>${services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>`,
    );
    return path;
  }

  /** Writes GTK's settings. */
  gtk(settings) {
    const folder = join(this.env.XDG_CONFIG_HOME, "gtk-3.0");
    mkdirSync(folder, { recursive: true });
    const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
    writeFileSync(join(folder, "settings.ini"), `[Settings]\n${lines.join("\n")}\n`);
  }

  /** Ends everything, the last started first. */
  async close() {
    for (const child of [...this.children].reverse()) await this.end(child, "SIGKILL");
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Throws when one of these programs is not built. */
export function built(...programs) {
  for (const program of programs)
    if (!existsSync(join(bin, program))) throw new Error(`${join(bin, program)} is not built`);
}

/** Starts a place's program with its bindings served to a browser; returns it and its address. */
export async function devProgram(place) {
  const port = await freePort();
  const child = place.start(join(bin, "conclave-dev"), [
    ...["-devserver", `localhost:${port}`, "-assetdir", join(root, "frontend", "dist")],
    ...["--data", place.data, "--plugins", place.plugins],
  ]);
  const url = `http://localhost:${port}/`;
  await until("the program", async () => {
    if (child.ended) throw new Error(`the program ended: ${child.output}`);
    try {
      return (await fetch(url)).ok;
    } catch {
      return false;
    }
  });
  return { child, url };
}

/** A screen whose picture lies in a file, which Xvfb keeps up to date. */
export class Screen {
  #file;
  #place;
  #raw;
  #keysAlone = false;
  /** How often a key and a button of the mouse were pressed; a word that is typed counts its letters. */
  pressed = { keys: 0, clicks: 0 };

  constructor(place, file) {
    this.#place = place;
    this.#file = file;
    const header = Buffer.alloc(100); // the XWD format: 25 big-endian words, then the colours
    const fd = openSync(file, "r");
    readSync(fd, header, 0, 100, 0);
    closeSync(fd);
    const word = (i) => header.readUInt32BE(4 * i);
    this.width = word(4);
    this.height = word(5);
    this.stride = word(12);
    this.offset = word(0) + 12 * word(19);
    this.#raw = Buffer.alloc(this.stride * this.height);
  }

  /** The pixels now, four bytes each: blue, green, red, nothing. */
  pixels() {
    const fd = openSync(this.#file, "r");
    readSync(fd, this.#raw, 0, this.#raw.length, this.offset);
    closeSync(fd);
    return this.#raw;
  }

  /**
   * What the picture is like: its mean brightness from 0 to 1, the share of its
   * commonest colour, and how many colours it has, told from every third pixel.
   */
  look() {
    const raw = this.pixels();
    const colours = new Map();
    let light = 0;
    let seen = 0;
    for (let y = 0; y < this.height; y += 3) {
      for (let x = 0; x < this.width; x += 3) {
        const colour = raw.readUInt32LE(y * this.stride + 4 * x) & 0xffffff;
        colours.set(colour, (colours.get(colour) ?? 0) + 1);
        light += 0.299 * (colour >> 16) + 0.587 * ((colour >> 8) & 255) + 0.114 * (colour & 255);
        seen++;
      }
    }
    return {
      brightness: light / seen / 255,
      commonest: Math.max(...colours.values()) / seen,
      colours: colours.size,
    };
  }

  /** How many colours a sparse look finds, up to ten: cheap enough to ask often. */
  painted() {
    const raw = this.pixels();
    const colours = new Set();
    for (let y = 0; y < this.height && colours.size < 10; y += 4)
      for (let x = 0; x < this.width && colours.size < 10; x += 5)
        colours.add(raw.readUInt32LE(y * this.stride + 4 * x) & 0xffffff);
    return colours.size;
  }

  /** How often a colour, as 0xRRGGBB, is on every fifth column. */
  count(colour) {
    const raw = this.pixels();
    let seen = 0;
    for (let y = 0; y < this.height; y++)
      for (let x = 0; x < this.width; x += 5)
        if ((raw.readUInt32LE(y * this.stride + 4 * x) & 0xffffff) === colour) seen++;
    return seen;
  }

  /** The pixels of some rows, four bytes each. */
  #rows({ y, height }) {
    const raw = this.#raw.subarray(0, this.stride * height);
    const fd = openSync(this.#file, "r");
    readSync(fd, raw, 0, raw.length, this.offset + y * this.stride);
    closeSync(fd);
    return raw;
  }

  /** A number that is another when a part of the picture is: cheap enough to ask often. */
  print({ x, y, width, height }) {
    const raw = this.#rows({ y, height });
    let print = 0;
    for (let row = 0; row < height; row += 2)
      for (let column = x + (row % 3); column < x + width; column += 3)
        print = (Math.imul(print, 31) + raw.readUInt32LE(row * this.stride + 4 * column)) | 0;
    return print;
  }

  /** How many rows of a part of the picture that lie together have two colours at most, and so no text. */
  emptiest({ x, y, width, height }) {
    const raw = this.#rows({ y, height });
    let most = 0;
    let empty = 0;
    for (let row = 0; row < height; row++) {
      const colours = new Set();
      for (let column = x; column < x + width && colours.size < 3; column++)
        colours.add(raw.readUInt32LE(row * this.stride + 4 * column) & 0xffffff);
      empty = colours.size < 3 ? empty + 1 : 0;
      most = Math.max(most, empty);
    }
    return most;
  }

  /** A thinned copy of the picture, for changed. */
  sample() {
    const raw = this.pixels();
    const out = [];
    for (let y = 0; y < this.height; y += 3)
      for (let x = 0; x < this.width; x += 3) out.push(raw.readUInt32LE(y * this.stride + 4 * x) & 0xffffff);
    return out;
  }

  /** The share of a sample's pixels that are different now. */
  changed(before) {
    const now = this.sample();
    return now.filter((colour, i) => colour !== before[i]).length / now.length;
  }

  /** Waits until nothing but a caret moves. */
  async still() {
    let before = this.sample();
    let calm = 0;
    await until("the picture to come to rest", () => {
      calm = this.changed(before) < 0.0005 ? calm + 1 : 0;
      before = this.sample();
      return calm >= 5;
    });
  }

  /** Presses keys as a person at the keyboard would: "ctrl+k", "Return". */
  press(...keys) {
    this.pressed.keys += keys.length;
    return this.#xdotool("key", "--clearmodifiers", "--delay", "30", ...keys);
  }

  /** Holds a key until it is let go. */
  down(key) {
    return this.#xdotool("keydown", key);
  }

  up(key) {
    return this.#xdotool("keyup", key);
  }

  type(text) {
    this.pressed.keys += [...text].length;
    return this.#xdotool("type", "--clearmodifiers", "--delay", "15", text);
  }

  /** From here on the mouse is left alone: what would use it fails. */
  keysAlone() {
    this.#keysAlone = true;
  }

  /** Where the pointer is. */
  pointer() {
    return this.#xdotool("getmouselocation").replace(/ screen.*/s, "");
  }

  #mouse(...args) {
    if (this.#keysAlone) throw new Error(`the mouse is used: ${args.join(" ")}`);
    return this.#xdotool(...args);
  }

  /** Moves the pointer there, where it may be already: xdotool's --sync would wait for it to move. */
  move(x, y) {
    return this.#mouse("mousemove", String(x), String(y));
  }

  /** Presses the mouse's first button where the pointer is. */
  button() {
    this.pressed.clicks++;
    return this.#mouse("click", "1");
  }

  /** Whether a window of this title, such as a hint's, lies over a place of the screen. */
  covered(title, x, y) {
    return this.windows(title).some((window) => {
      let told;
      try {
        told = this.#xdotool("getwindowgeometry", "--shell", window);
      } catch {
        return true; // it goes just now
      }
      const [left, top, width, height] = ["X", "Y", "WIDTH", "HEIGHT"].map((name) =>
        Number(told.match(new RegExp(`^${name}=(-?\\d+)$`, "m"))?.[1]),
      );
      return x >= left && x < left + width && y >= top && y < top + height;
    });
  }

  /** Presses a button of the mouse at a place of the screen; 3 is the right one. */
  click(x, y, button = 1) {
    return this.#mouse("mousemove", "--sync", String(x), String(y), "click", String(button));
  }

  /** The windows of this title, as numbers. */
  windows(title) {
    const out = spawnSync("xdotool", ["search", "--onlyvisible", "--name", title], {
      env: this.#place.env,
      encoding: "utf8",
    });
    return out.status === 0 ? out.stdout.trim().split("\n").filter(Boolean) : [];
  }

  title(window) {
    return this.#xdotool("getwindowname", window).trim();
  }

  focused() {
    return this.#xdotool("getwindowfocus").trim();
  }

  focus(window) {
    this.#xdotool("windowfocus", "--sync", window);
  }

  /** Gives the keyboard to the window of this title, once it is there. */
  async focusOn(title) {
    const [window] = await until(`a window named ${title}`, () => {
      const found = this.windows(title);
      return found.length > 0 && found;
    });
    this.focus(window);
  }

  #xdotool(...args) {
    const out = spawnSync("xdotool", args, {
      env: this.#place.env,
      encoding: "utf8",
      timeout: patience,
    });
    if (out.error?.code === "ENOENT")
      throw new Error(
        "The window cannot be tested here: xdotool, which types into it, is not installed. .ci/deps test installs it.",
      );
    if (out.status !== 0) throw new Error(`xdotool ${args.join(" ")}: ${out.stderr}`);
    return out.stdout;
  }

  /** Keeps the picture as a PNG. */
  picture(path) {
    const out = spawnSync("import", ["-window", "root", path], {
      env: this.#place.env,
      encoding: "utf8",
      timeout: patience,
    });
    if (out.error || out.status !== 0) console.log(`no picture ${path}: ${out.error?.message ?? out.stderr}`);
  }
}
