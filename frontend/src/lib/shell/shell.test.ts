import { flushSync, mount, tick, unmount } from "svelte";
import { describe, expect, test, vi } from "vitest";
import { inApp } from "../app.svelte";
import { AppError } from "../bridge/calls";
import KeysPage from "../settings/KeysPage.svelte";
import { s } from "../strings";
import { startApp, until } from "../testing";
import { commands } from "./commands";
import { escape } from "./escape";
import { bare, chord, printed } from "./keys.svelte";
import { hits, matches } from "./palette";
import { Toasts } from "./toasts.svelte";

const press = (key: string, change: KeyboardEventInit = {}) =>
  new KeyboardEvent("keydown", { key, cancelable: true, ...change });

describe("shortcuts", () => {
  test("a key press reads as its chord on each platform", () => {
    expect(chord(press("k", { ctrlKey: true }), false)).toBe("Mod+K");
    expect(chord(press("k", { metaKey: true }), true)).toBe("Mod+K");
    expect(chord(press("P", { ctrlKey: true, shiftKey: true }), false)).toBe("Mod+Shift+P");
    expect(chord(press("ArrowUp", { altKey: true }), false)).toBe("Alt+Up");
    expect(chord(press("!", { ctrlKey: true, shiftKey: true, code: "Digit1" }), false)).toBe("Mod+Shift+1");
    expect(chord(press("Shift", { shiftKey: true }), false)).toBe("");
    expect(printed("Mod+Shift+P", true)).toBe("⌘⇧P");
  });

  test("a key alone is no shortcut, but for those of functions", () => {
    for (const keys of ["Tab", "Enter", "E", "Shift+E", "Esc", "Plus", "F"])
      expect([keys, bare(keys)]).toEqual([keys, true]);
    for (const keys of ["Mod+E", "Alt+Up", "Ctrl+Shift+Enter", "F6", "Shift+F12", "Mod+Plus"])
      expect([keys, bare(keys)]).toEqual([keys, false]);
  });

  test("no two commands share a shortcut, and a changed one moves", async () => {
    const { app } = await startApp();
    app.keys.commands = commands(app);
    const all = app.keys.commands.map((c) => c.keys).filter(Boolean);
    expect(new Set(all).size).toBe(all.length);
    expect(app.keys.taken("Mod+N", "")?.id).toBe("newChat");
    await app.settings.set({ keys: { newChat: "Mod+Y" } });
    expect(app.keys.taken("Mod+N", "")).toBeUndefined();
    expect(app.keys.press(press("y", { ctrlKey: true }))).toBe(true);
    expect(app.chat).toBeNull();
    app.close();
  });

  test("nothing fires while an input method composes, or for versions inside a text field", async () => {
    const { app } = await startApp();
    app.keys.commands = commands(app);
    expect(app.keys.press(press("k", { ctrlKey: true, isComposing: true }))).toBe(false);
    const field = document.createElement("textarea");
    document.body.append(field);
    let ran: boolean | undefined;
    field.addEventListener("keydown", (event) => (ran = app.keys.press(event)));
    field.dispatchEvent(press("ArrowLeft", { altKey: true, bubbles: true }));
    expect(ran).toBe(false);
    field.remove();
    app.close();
  });
});

describe("layout", () => {
  test("columns lie over the centre as the window gets narrow", async () => {
    const { app } = await startApp();
    const { layout } = app;
    const open = () => [layout.sidebarOpen, layout.dockOpen];
    layout.screen = 1440;
    expect([layout.dockFloats, ...open()]).toEqual([false, true, true]);
    layout.screen = 1439; // the chat is the middle: the dock starts closed
    expect(open()).toEqual([true, false]);
    layout.setDock(true);
    expect(open()).toEqual([true, true]);
    layout.screen = 1180; // it leaves the conversation its 560
    expect([layout.dockFloats, layout.dockWidth]).toEqual([false, 1180 - 264 - 560]);
    layout.dragSidebar(360); // and lies over it where it cannot
    expect(layout.dockFloats).toBe(true);
    layout.dragSidebar(264);
    layout.screen = 1179;
    expect([layout.sidebarFloats, layout.dockFloats]).toEqual([false, true]);
    layout.screen = 879;
    expect([layout.sidebarFloats, layout.sidebarOpen]).toEqual([true, false]);
    layout.setSidebar(true);
    expect(layout.sidebarOpen).toBe(true);
    layout.screen = 1440;
    expect(open()).toEqual([true, true]);
    app.close();
  });

  test("the dock opens for what needs a person, unless it was closed or would cover the chat", async () => {
    const { app } = await startApp();
    const { layout } = app;
    layout.screen = 1000;
    layout.offerDock("plugins");
    expect(layout.dockOpen).toBe(false);
    layout.screen = 1300;
    layout.offerDock("plugins");
    expect([layout.dockOpen, layout.tab]).toEqual([true, "plugins"]);
    // What only gives way to a message that one is led to was not closed by the person.
    layout.screen = 1000;
    layout.uncover();
    expect(layout.dockOpen).toBe(false);
    layout.screen = 1300;
    layout.offerDock("plugins");
    expect(layout.dockOpen).toBe(true);
    layout.setDock(false);
    layout.offerDock("plugins");
    expect(layout.dockOpen).toBe(false);
    app.close();
  });

  test("zoom goes in steps from 50 to 300 %, is kept, and counts as a narrower window", async () => {
    const { app, fake } = await startApp();
    app.keys.commands = commands(app);
    app.layout.screen = 1500;
    const zoom = () => app.settings.now.zoom;
    expect(app.keys.press(press("+", { ctrlKey: true, shiftKey: true }))).toBe(true);
    expect(app.keys.press(press("=", { ctrlKey: true }))).toBe(true);
    expect(zoom()).toBe(125);
    expect(app.layout.width).toBe(1200);
    expect(app.keys.press(press("0", { ctrlKey: true, code: "Digit0" }))).toBe(true);
    expect(zoom()).toBe(100);
    for (let i = 0; i < 20; i++) app.zoom(-1);
    expect(zoom()).toBe(50);
    for (let i = 0; i < 20; i++) app.zoom(1);
    expect(zoom()).toBe(300);
    await until("the zoom to be kept", () => app.settings.now.revision > 1);
    expect((await fake.settings.Get()).zoom).toBe(300);
    app.close();
  });

  test("a divider stops at its range and is kept when dropped", async () => {
    const { app, fake } = await startApp();
    app.layout.dragSidebar(1000);
    expect(app.layout.sidebarWidth).toBe(360);
    app.layout.dropped();
    expect(app.layout.sidebarWidth).toBe(360);
    expect((await fake.settings.Get()).sidebar_width).toBe(360);
    app.close();
  });
});

test("the palette finds actions, chats, tools and settings by any words", async () => {
  const { app } = await startApp();
  app.keys.commands = commands(app);
  expect(matches("Show or hide the panel", "panel hide")).toBe(true);
  expect(hits(app, "word_count", []).map((h) => h.group)).toEqual(["Tools"]);
  expect(hits(app, "models settings", []).map((h) => h.label)).toEqual(["Models"]);
  app.close();
});

test("a notice leaves by itself unless it is held, and stops are not shown as failures", () => {
  vi.useFakeTimers();
  const toasts = new Toasts();
  toasts.say("Done.");
  toasts.fail(new AppError({ kind: "canceled", message: "It was stopped.", hint: "", ref: "" }));
  expect(toasts.list.map((t) => t.text)).toEqual(["Done."]);
  toasts.hold(toasts.list[0]?.key ?? 0);
  vi.advanceTimersByTime(60_000);
  expect(toasts.list).toHaveLength(1);
  toasts.resume(toasts.list[0]?.key ?? 0);
  vi.advanceTimersByTime(5000);
  expect(toasts.list).toHaveLength(0);
  vi.useRealTimers();
});

test("Esc leaves settings, and what is edited beneath them only then", async () => {
  const { app } = await startApp();
  app.chat?.beginEdit(1);
  app.openSettings("models");
  escape(app);
  expect([app.page, app.chat?.editing]).toEqual([null, 1]);
  escape(app);
  expect(app.chat?.editing).toBe(0);
  app.close();
});

test("what is said twice in a live region is said twice", async () => {
  const { app } = await startApp();
  await app.copy("one");
  const first = app.said.status;
  const alert = app.said.alert;
  await app.copy("two");
  expect(app.said.status.words).toBe(first.words);
  expect(app.said.status).not.toBe(first);
  expect(app.said.alert).toBe(alert); // the other is not said again
  app.close();
});

test("what opens the panel leaves a page of settings, which would cover it", async () => {
  const { app } = await startApp();
  app.keys.commands = commands(app);
  app.layout.screen = 1500;
  for (const id of ["toolsTab", "pluginsTab", "activityTab", "dock", "dockWide"]) {
    app.layout.setDock(true);
    app.openSettings("general");
    app.keys.run(id);
    expect([id, app.page, app.layout.dockOpen]).toEqual([id, null, true]);
  }
  expect(app.layout.dockWide).toBe(true);
  app.keys.run("dock");
  expect(app.layout.dockOpen).toBe(false);
  app.openSettings("general");
  const tool = app.tools.tools[0];
  hits(app, tool?.title ?? "", [])
    .find((hit) => hit.group === s.palette.tools)
    ?.run();
  expect([app.page, app.layout.dockOpen, app.layout.tab]).toEqual([null, true, "tools"]);
  app.close();
});

test("the search of chats is led to also when the list is not shown yet", async () => {
  const { app } = await startApp();
  app.keys.commands = commands(app);
  app.keys.run("searchChats");
  const field = document.body.appendChild(document.createElement("input")); // as the list has it
  field.dataset.searchChats = "";
  await tick();
  expect(document.activeElement).toBe(field);
  field.remove();
  app.close();
});

test("a shortcut goes back to its standard only where no other command has that by now", async () => {
  const { app } = await startApp();
  app.keys.commands = commands(app);
  await app.settings.set({ keys: { newChat: "Alt+N", dock: "Mod+N" } });
  const target = document.body.appendChild(document.createElement("div"));
  const page = mount(KeysPage, { target, context: inApp(app) });
  flushSync();
  const resets = () => [...target.querySelectorAll("button")].filter((b) => b.textContent === "Reset");
  const named = resets().map((b) => b.getAttribute("aria-label"));
  expect(named).toEqual([`Reset ${s.commands.newChat}`, `Reset ${s.commands.dock}`]);
  resets()[0]?.click();
  flushSync();
  expect(target.querySelector("[role=alert]")?.textContent).toBe(s.settings.keysTaken(s.commands.dock));
  expect(app.settings.now.keys.newChat).toBe("Alt+N");
  resets()[1]?.click();
  flushSync();
  resets()[0]?.click();
  flushSync();
  expect(app.settings.now.keys).toEqual({});
  await unmount(page);
  target.remove();
  app.close();
});
