import { describe, expect, test, vi } from "vitest";
import { AppError } from "../bridge/calls";
import { startApp } from "../testing";
import { commands } from "./commands";
import { chord, printed } from "./keys.svelte";
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
    expect(chord(press("!", { ctrlKey: true, shiftKey: true, code: "Digit1" }), false)).toBe(
      "Mod+Shift+1",
    );
    expect(chord(press("Shift", { shiftKey: true }), false)).toBe("");
    expect(printed("Mod+Shift+P", true)).toBe("⌘⇧P");
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
    layout.width = 1180;
    expect(open()).toEqual([true, true]);
    layout.width = 1179;
    expect([layout.sidebarFloats, layout.dockFloats, ...open()]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    layout.width = 879;
    expect([layout.sidebarFloats, ...open()]).toEqual([true, false, false]);
    layout.setSidebar(true);
    expect(layout.sidebarOpen).toBe(true);
    layout.width = 1280;
    expect(open()).toEqual([true, true]);
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
