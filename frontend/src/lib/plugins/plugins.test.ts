import { flushSync, mount, unmount } from "svelte";
import { describe, expect, test, vi } from "vitest";
import { inApp } from "../app.svelte";
import { AppError } from "../bridge/calls";
import { s } from "../strings";
import { startApp, until } from "../testing";
import { Adding } from "./adding.svelte";
import { details, diagnosis, sentence } from "./details";
import { pluginMenu } from "./menu";
import PluginCard from "./PluginCard.svelte";
import { LogState } from "./plugins.svelte";
import { brief, wordDiff } from "../ui/words";
import { diffLines, repeats } from "./words";

describe("plugins", () => {
  test("a reload shows its time and its tools", async () => {
    const { app, fake } = await startApp();
    await app.bridge.plugins.Reload("dice");
    expect(fake.given("Plugins.Reload")).toEqual([["dice"]]);
    fake.plugins.change("dice", { state: "loading" });
    fake.plugins.change("dice", { state: "ready", generation: 2 });
    await until("the reload", () => app.plugins.reloaded.dice !== undefined);
    expect(app.plugins.reloaded.dice).toEqual({ ms: 12, tools: 1, generation: 2 });
    app.close();
  });

  test("what a save did is shown for a while", async () => {
    const { app, fake } = await startApp();
    vi.useFakeTimers();
    for (const generation of [2, 3]) {
      fake.plugins.change("dice", { generation });
      await vi.advanceTimersByTimeAsync(20_000);
      expect(app.plugins.reloaded.dice?.generation).toBe(generation);
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(app.plugins.reloaded).toEqual({});
    vi.useRealTimers();
    app.close();
  });

  test("what every plugin can find out is a quiet line of its card, and no warning", async () => {
    const { app } = await startApp();
    const [plugin] = app.plugins.plugins;
    if (!plugin) throw new Error("no plugin");
    const found = "It can find out whether a file is there whose name it knows.";
    const note = "Runs as you, not isolated.";
    const target = document.body.appendChild(document.createElement("div"));
    const props = { plugin: { ...plugin, found_note: found, isolation_note: note, warnings: [] } };
    const card = mount(PluginCard, { target, props, context: inApp(app) });
    flushSync();
    expect(target.textContent).toContain(found);
    const warned = [...target.querySelectorAll(".warning")].map((one) => one.textContent);
    expect(warned).toEqual([note]);
    await unmount(card);
    target.remove();
    app.close();
  });

  test("broken, new and changed plugins ask for a person, who approves what they read", async () => {
    const { app, fake } = await startApp("approval");
    expect(app.plugins.attention.map((p) => p.state)).toEqual(["quarantined", "needs-approval"]);
    const weather = app.plugins.plugins.find((p) => p.id === "weather");
    if (!weather) throw new Error("no plugin");
    await app.plugins.approve(weather, { developing: true });
    expect(fake.given("Plugins.Approve")).toEqual([["weather", weather.digest, true, false]]);
    fake.plugins.change("weather", { state: "ready" });
    await until("one fewer", () => app.plugins.attention.length === 1);
    app.close();
  });

  test("a plugin that cannot be added says why, until another is chosen", async () => {
    const { app } = await startApp("refusesplugin");
    const adding = new Adding(app.bridge.plugins);
    adding.from = "http://example.org/moon.git";
    expect(await adding.add()).toBe("");
    expect(adding.error?.message).toContain("https only");
    await adding.choose("file");
    expect([adding.from, adding.error]).toEqual(["/home/ada/Downloads/moon.zip", null]);
    app.close();
  });

  test("what is fetched can be stopped, which is no mistake", async () => {
    const { app, fake } = await startApp();
    let stop = (_cause: AppError) => {};
    fake.plugins.Add = () => new Promise((_, reject) => (stop = reject));
    fake.plugins.StopAdding = async () => stop(new AppError({ kind: "canceled", message: "" }));
    const adding = new Adding(app.bridge.plugins);
    adding.from = "https://example.org/moon.git";
    const done = adding.add();
    expect(adding.busy).toBe(true);
    await adding.stop();
    expect([await done, adding.error, adding.busy]).toEqual(["", null, false]);
    app.close();
  });

  test("MC-109 a diagnosis has what a plugin is, what it runs with, and the end of its log", async () => {
    const { app } = await startApp("pluginerror");
    const [plugin] = app.plugins.plugins;
    if (!plugin) throw new Error("no plugin");
    const log = Array.from({ length: 60 }, (_, n) => ({ n, time: "t", level: "info" as const, text: `line ${n}` }));
    const about = [{ name: "Program", text: "/usr/bin/node" }];
    const text = diagnosis({ ...plugin, about }, log, await app.bridge.activity.Traffic(plugin.id));
    for (const part of [
      '→ {"jsonrpc":"2.0","id":1,"method":"initialize"}',
      plugin.id,
      "Program: /usr/bin/node",
      `state: ${plugin.state}`,
      "line 10",
      "line 59",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("line 9\n");
    app.close();
  });

  test("packages are installed as they were read, and guessed ones by name", async () => {
    const { app, fake } = await startApp("packages");
    const weather = app.plugins.plugins.find((p) => p.id === "weather");
    if (!weather?.packages) throw new Error("no packages");
    expect(app.plugins.attention.map((p) => p.id)).toEqual(["weather"]);
    const { digest } = weather.packages;
    await app.plugins.installPackages(weather, false, true);
    await app.plugins.installPackages(weather, false, false, ["rich"]);
    expect(fake.given("Plugins.InstallPackages")).toEqual([
      ["weather", digest, false, true, []],
      ["weather", digest, false, false, ["rich"]],
    ]);
    app.close();
  });

  test("a card signs in with one press, shows where meanwhile, and its menu signs out", async () => {
    const { app, fake } = await startApp("pluginerror");
    const weather = app.plugins.plugins.find((p) => p.id === "weather");
    if (!weather?.problem) throw new Error("no problem");
    const problem = { ...weather.problem, kind: "sign-in", message: "Weather wants you to sign in." };
    const plugin = { ...weather, about: [], problem };
    const shown = (props: { plugin: typeof plugin }) => {
      const target = document.body.appendChild(document.createElement("div"));
      const card = mount(PluginCard, { target, props, context: inApp(app) });
      flushSync();
      const button = (label: string) => [...target.querySelectorAll("button")].find((b) => b.textContent === label);
      return { target, button, close: () => unmount(card).then(() => target.remove()) };
    };
    const asks = shown({ plugin });
    asks.button(s.plugins.signIn(plugin.name))?.click();
    expect(fake.given("Plugins.SignIn")).toEqual([["weather", ""]]);
    await asks.close();
    const waits = shown({ plugin: { ...plugin, sign_in_page: "https://auth.example.org/authorize?x=1" } });
    expect(waits.target.textContent).toContain(s.plugins.signingIn("auth.example.org"));
    expect(waits.button(s.plugins.signIn(plugin.name))).toBeUndefined();
    await waits.close();
    const services = ["https://a.example.org/one", "https://b.example.org"];
    const several = shown({ plugin: { ...plugin, sign_in_services: services } });
    expect(several.button(s.plugins.signIn(plugin.name))).toBeUndefined();
    several.button(s.plugins.signInAt("a.example.org"))?.click();
    expect(fake.given("Plugins.SignIn").at(-1)).toEqual(["weather", services[0]]);
    await several.close();

    const signOut = (of: typeof plugin) =>
      pluginMenu(app, of, { onlog: () => {}, onreach: () => {} }).find((item) => item.label === s.plugins.signOut);
    expect(signOut(plugin)).toBeUndefined();
    for (const remote of [false, true])
      await signOut({ ...plugin, remote, signed_in: "https://auth.example.org" })?.run();
    expect(fake.given("Plugins.SignOut")).toEqual([["weather"], ["weather"]]);
    app.close();
  });

  test("what is copied of a problem is enough to ask somebody else", async () => {
    const { app } = await startApp("pluginerror");
    const weather = app.plugins.plugins.find((p) => p.id === "weather");
    if (!weather?.problem) throw new Error("no problem");
    const text = details(weather, weather.problem);
    for (const part of ["Weather 1.2.0", "SyntaxError", "weather.py:7:31", "def forecast"])
      expect(text).toContain(part);
    app.close();
  });

  test("a problem names its type once", async () => {
    const { app } = await startApp("pluginerror");
    const problem = app.plugins.plugins.find((p) => p.id === "weather")?.problem;
    if (!problem) throw new Error("no problem");
    const said = (type: string, message: string) => sentence({ ...problem, type, message });
    expect(said("SyntaxError", "expected ':'")).toBe("SyntaxError: expected ':'");
    expect(said("SyntaxError", "SyntaxError: expected ':'")).toBe("SyntaxError: expected ':'");
    expect(said("Error", "Errors were found")).toBe("Error: Errors were found");
    expect(said("KeyError", "KeyError")).toBe("KeyError");
    expect(said("", "It answered nothing.")).toBe("It answered nothing.");
    app.close();
  });

  test("the log is followed and filtered by level", async () => {
    const { app, fake } = await startApp("pluginerror");
    const log = new LogState(fake, app.notices, "weather");
    await log.open();
    expect(log.shown).toHaveLength(4);
    log.level = "warn";
    expect(log.shown.map((l) => l.level)).toEqual(["warn", "error"]);
    fake.plugins.logs.get("weather")?.push({ n: 5, time: "", level: "error", text: "again" });
    fake.bus.changed("log", "weather");
    await until("the new line", () => log.shown.length === 3);
    log.close();
    app.close();
  });
});

test("a word difference puts both texts back together", () => {
  const before = "Sends a mail to one person you name.";
  const after = "Sends a mail to every person you name, and a copy.";
  const runs = wordDiff(before, after);
  const side = (kind: string) =>
    runs
      .filter((r) => r.kind === "same" || r.kind === kind)
      .map((r) => r.text)
      .join("");
  expect(side("removed")).toBe(before);
  expect(side("added")).toBe(after);
  expect(runs.filter((r) => r.kind === "same").map((r) => r.text)[0]).toBe("Sends a mail to ");
  const long = "word ".repeat(4000);
  expect(wordDiff(long, `${long}x`).map((r) => r.kind)).toEqual(["removed", "added"]);
  const some = "word ".repeat(200);
  expect(brief(wordDiff(`${some}old ${some}`, `${some}new ${some}`)).map((r) => r.text.length)).toEqual([
    123, 3, 3, 123,
  ]);
});

test("lines of changed code are told apart by what they begin with, whatever they say", () => {
  const diff = "=== a.js (changed)\n@@ -1,2 +1,2 @@\n same\n--- old\n+=== b.js\n";
  expect(diffLines(diff).map((l) => l.kind)).toEqual(["file", "place", "same", "removed", "added"]);
  expect(
    diffLines(diff)
      .map((l) => l.text)
      .join(""),
  ).toBe(diff);
});

test("a description is folded only where the changed lines of code show all that is other in it", () => {
  const change = {
    tool: "send",
    field: "description",
    before: "Sends a mail.\nTo one.",
    after: "Sends a mail.\nTo all.",
  };
  expect(repeats(change, "@@ -1 +1 @@\n-    To one.\n+    To all.\n")).toBe(true);
  expect(repeats(change, "@@ -1 +1 @@\n-    To one.\n+    To two.\n")).toBe(false);
  expect(repeats(change, "@@ -1 +1 @@\n+    To all.\n")).toBe(false);
  expect(repeats(change, "")).toBe(false);
  expect(repeats({ ...change, field: "parameters" }, "-    To one.\n+    To all.\n")).toBe(false);
});

test("tools are grouped by plugin and found by words", async () => {
  const { app, fake } = await startApp();
  expect(app.tools.groups("").map((g) => [g.name, g.tools.length])).toEqual([
    ["Dice", 1],
    ["Notes", 1],
    ["Text tools", 2],
  ]);
  expect(app.tools.groups("counts").flatMap((g) => g.tools.map((t) => t.name))).toEqual(["word_count"]);
  await app.tools.setEnabled("dice:roll", false);
  expect(fake.given("Tools.SetEnabled")).toEqual([["dice:roll", false]]);
  expect(app.tools.heavy).toBe(false);
  app.close();
});
