import { describe, expect, test } from "vitest";
import { startApp, until } from "../testing";
import { Adding } from "./adding.svelte";
import { details, sentence } from "./details";
import { LogState } from "./plugins.svelte";
import { diffLines, wordDiff } from "./words";

describe("plugins", () => {
  test("a reload shows its time and its tools", async () => {
    const { app } = await startApp();
    await app.plugins.reload("dice");
    await until("the reload", () => app.plugins.reloaded.dice !== undefined);
    expect(app.plugins.reloaded.dice).toEqual({ ms: 12, tools: 1, generation: 2 });
    app.close();
  });

  test("broken, new and changed plugins ask for a person", async () => {
    const { app } = await startApp("approval");
    expect(app.plugins.attention.map((p) => p.state)).toEqual(["quarantined", "needs-approval"]);
    const weather = app.plugins.plugins.find((p) => p.id === "weather");
    if (!weather) throw new Error("no plugin");
    await expect(app.plugins.approve({ ...weather, digest: "old" }, false)).rejects.toMatchObject({
      kind: "conflict",
    });
    await app.plugins.approve(weather, true);
    await until(
      "approval",
      () => app.plugins.plugins.find((p) => p.id === "weather")?.state === "ready",
    );
    app.close();
  });

  test("a plugin is added, waits for approval, is updated and taken back", async () => {
    const { app } = await startApp();
    const now = () => app.plugins.plugins.find((p) => p.id === "moon");
    const adding = new Adding(app.plugins);
    adding.from = "http://example.org/moon.git";
    expect(await adding.add()).toBe("");
    expect(adding.error?.message).toContain("https only");
    await adding.choose("file");
    expect([adding.from, adding.error]).toEqual(["/home/ada/Downloads/moon.zip", null]);
    expect(await adding.add()).toBe("moon");
    await until("the plugin", () => now()?.state === "needs-approval");
    expect(await adding.add()).toBe("");
    expect(adding.error?.kind).toBe("conflict");
    await app.undoable(() => app.plugins.update("moon"));
    await until("the update", () => now()?.version === "1.3.0");
    await app.undo();
    await until("the old version", () => now()?.version === "1.2.0");
    app.close();
  });

  test("what is fetched can be stopped, which is no mistake", async () => {
    const { app, fake } = await startApp();
    fake.plugins.fetchTime = 60_000;
    const adding = new Adding(app.plugins);
    adding.from = "https://example.org/moon.git";
    const done = adding.add();
    expect(adding.busy).toBe(true);
    await adding.stop();
    expect([await done, adding.error, adding.busy]).toEqual(["", null, false]);
    app.close();
  });

  test("packages are installed as they were read, stopped and removed", async () => {
    const { app } = await startApp("packages");
    const now = () => app.plugins.plugins.find((p) => p.id === "weather");
    const weather = now();
    if (!weather?.packages) throw new Error("no packages");
    expect(app.plugins.attention.map((p) => p.id)).toEqual(["weather"]);
    const old = { ...weather, packages: { ...weather.packages, digest: "old" } };
    await expect(app.plugins.installPackages(old, false, false)).rejects.toMatchObject({
      kind: "conflict",
    });
    await app.plugins.installPackages(weather, false, false);
    await until("the work", () => now()?.packages?.work?.running === true);
    await app.plugins.stopPackages("weather");
    await until("the stop", () => now()?.packages?.work?.stopped === true);
    await app.plugins.installPackages(weather, false, false);
    await until("the packages", () => now()?.state === "ready");
    // F83: what nobody declared is installed by its name alone.
    const standings = () => now()?.packages?.packages.map((p) => p.standing);
    expect(standings()).toEqual(["installed", "missing", "installed"]);
    const ready = now();
    if (!ready) throw new Error("no plugin");
    await app.plugins.installPackages(ready, false, false, ["rich"]);
    await until("the guessed one", () => standings()?.[1] === "installed");
    await app.plugins.removePackages("weather");
    await until("the removal", () => now()?.state === "needs-packages");
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
});

test("F120 lines of changed code are told apart by what they begin with, whatever they say", () => {
  const diff = "=== a.js (changed)\n@@ -1,2 +1,2 @@\n same\n--- old\n+=== b.js\n";
  expect(diffLines(diff).map((l) => l.kind)).toEqual(["file", "place", "same", "removed", "added"]);
  expect(
    diffLines(diff)
      .map((l) => l.text)
      .join(""),
  ).toBe(diff);
});

test("tools are grouped by plugin and found by words", async () => {
  const { app } = await startApp();
  expect(app.tools.groups("").map((g) => [g.name, g.tools.length])).toEqual([
    ["Dice", 1],
    ["Notes", 1],
    ["Text tools", 2],
  ]);
  expect(app.tools.groups("counts").flatMap((g) => g.tools.map((t) => t.name))).toEqual([
    "word_count",
  ]);
  await app.tools.setEnabled("dice:roll", false);
  await until("one fewer", () => app.tools.enabled.length === 2);
  expect(app.tools.heavy).toBe(false);
  app.close();
});
