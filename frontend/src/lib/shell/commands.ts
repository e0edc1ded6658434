/** Every command of the window, with its standard shortcut; the palette and the Keys page list them. */
import { tick } from "svelte";
import type { App } from "../app.svelte";
import { s } from "../strings";
import type { Command } from "./keys.svelte";
import { nextRegion } from "./regions";
import { stepMessage } from "./steps";

const c = s.commands;

export function commands(app: App): Command[] {
  const chat = () => app.chat;
  const inChat = () => app.chat !== null && app.page === null;
  const theme = (id: string, label: string, theme: "light" | "dark" | "system" | "contrast") => ({
    id,
    label,
    keys: "",
    run: () => void app.settings.set({ theme }),
  });
  return [
    {
      id: "palette",
      label: c.palette,
      keys: "Mod+K",
      run: () => (app.palette = !app.palette),
      hidden: true,
    },
    { id: "newChat", label: c.newChat, keys: "Mod+N", run: () => void app.newChat() },
    {
      id: "find",
      label: c.find,
      keys: "Mod+F",
      when: inChat,
      run: () => {
        app.find.open = true;
        app.wish.search++;
      },
    },
    {
      id: "searchChats",
      label: c.searchChats,
      keys: "",
      run: () => {
        app.layout.setSidebar(true);
        // The field is there once the list is drawn.
        void tick().then(() => document.querySelector<HTMLElement>("[data-search-chats]")?.focus());
      },
    },
    {
      id: "sidebar",
      label: c.sidebar,
      keys: "Mod+B",
      run: () => app.layout.setSidebar(!app.layout.sidebarOpen),
    },
    {
      id: "dock",
      label: c.dock,
      keys: "Mod+J",
      // A page of settings covers it, and is what one looks at then.
      run: () => (app.layout.dockOpen && !app.page ? app.layout.setDock(false) : app.showDock()),
    },
    {
      id: "dockWide",
      label: c.dockWide,
      keys: "Mod+Shift+J",
      run: () => {
        app.layout.setWide(!app.layout.dockWide || app.page !== null);
        app.page = null;
      },
    },
    {
      id: "councilTab",
      label: c.councilTab,
      keys: "",
      when: () => app.council.settings !== null,
      run: () => app.showCouncil(),
    },
    {
      id: "councilOnce",
      label: c.councilOnce,
      keys: "Mod+Shift+M",
      when: () => app.council.settings !== null,
      run: () => app.councilOnce(),
    },
    { id: "toolsTab", label: c.toolsTab, keys: "", run: () => app.showDock("tools") },
    {
      id: "pluginsTab",
      label: c.pluginsTab,
      keys: "",
      run: () => app.showDock("plugins"),
    },
    {
      id: "activityTab",
      label: c.activityTab,
      keys: "",
      run: () => app.showDock("activity"),
    },
    {
      id: "stop",
      label: c.stop,
      keys: "Mod+.",
      when: () => chat()?.running ?? false,
      run: () => void app.attempt(async () => chat()?.stop()),
    },
    {
      id: "regenerate",
      label: c.regenerate,
      keys: "Mod+Shift+R",
      when: () => inChat() && chat()?.last?.head.role === "assistant" && !chat()?.running,
      run: () => void app.attempt(async () => chat()?.regenerate(chat()?.last?.seq ?? 0)),
    },
    {
      id: "reviewPermission",
      label: c.reviewPermission,
      keys: "Mod+Shift+P",
      run: () => void app.reviewPermission(),
    },
    {
      id: "pause",
      label: c.pause,
      keys: "Mod+Shift+Backspace",
      run: () => void app.attempt(() => app.permissions.setPaused(!app.permissions.paused)),
    },
    {
      id: "unattended",
      label: c.unattended,
      keys: "",
      when: () => !app.permissions.unattended && !app.permissions.paused,
      run: () => (app.unattendedAsked = true),
    },
    {
      id: "endUnattended",
      label: c.endUnattended,
      keys: "",
      when: () => app.permissions.unattended !== null,
      run: () => void app.attempt(() => app.permissions.endUnattended()),
    },
    { id: "settings", label: c.settings, keys: "Mod+,", run: () => app.openSettings("general") },
    { id: "shortcuts", label: c.shortcuts, keys: "Mod+/", run: () => app.openSettings("keys") },
    {
      id: "previousMessage",
      label: c.previousMessage,
      keys: "Alt+Up",
      when: inChat,
      hidden: true,
      run: () => stepMessage(app, -1),
    },
    {
      id: "nextMessage",
      label: c.nextMessage,
      keys: "Alt+Down",
      when: inChat,
      hidden: true,
      run: () => stepMessage(app, 1),
    },
    {
      id: "previousVersion",
      label: c.previousVersion,
      keys: "Alt+Left",
      notInText: true,
      when: inChat,
      hidden: true,
      run: () => version(app, -1),
    },
    {
      id: "nextVersion",
      label: c.nextVersion,
      keys: "Alt+Right",
      notInText: true,
      when: inChat,
      hidden: true,
      run: () => version(app, 1),
    },
    { id: "nextRegion", label: c.nextRegion, keys: "F6", hidden: true, run: () => nextRegion(1) },
    {
      id: "previousRegion",
      label: c.previousRegion,
      keys: "Shift+F6",
      hidden: true,
      run: () => nextRegion(-1),
    },
    {
      id: "undo",
      label: c.undo,
      keys: "Mod+Z",
      notInText: true,
      when: () => app.canUndo,
      run: () => void app.undo(),
    },
    { id: "zoomIn", label: c.zoomIn, keys: "Mod+Plus", run: () => app.zoom(1) },
    { id: "zoomOut", label: c.zoomOut, keys: "Mod+Minus", run: () => app.zoom(-1) },
    { id: "zoomReset", label: c.zoomReset, keys: "Mod+0", run: () => app.zoom(0) },
    { id: "rename", label: c.rename, keys: "", when: inChat, run: () => app.wish.rename++ },
    {
      id: "archive",
      label: c.archive,
      keys: "",
      when: inChat,
      run: () => void app.archiveChat(chat()?.id ?? "", true),
    },
    {
      id: "newPlugin",
      label: c.newPlugin,
      keys: "",
      run: () => (app.newPlugin = true),
    },
    { id: "addPlugin", label: c.addPlugin, keys: "", run: () => (app.addPlugin = true) },
    { id: "addModel", label: c.addModel, keys: "", run: () => app.connectModel() },
    theme("themeSystem", c.themeSystem, "system"),
    theme("themeLight", c.themeLight, "light"),
    theme("themeDark", c.themeDark, "dark"),
    theme("themeContrast", c.themeContrast, "contrast"),
    {
      id: "quit",
      label: c.quit,
      keys: "",
      run: () => void app.attempt(() => app.bridge.window.Quit()),
    },
    ...Array.from({ length: 9 }, (_, i): Command => ({
      id: `pinned${i + 1}`,
      label: c.pinnedChat(i + 1),
      keys: `Mod+${i + 1}`,
      hidden: true,
      when: () => app.chats.pinned[i] !== undefined,
      run: () => void app.openChat(app.chats.pinned[i]?.id ?? ""),
    })),
  ];
}

// The version before or after the one shown, of the message that has the focus, else the last one with versions.
function version(app: App, step: number): void {
  const chat = app.chat;
  if (!chat) return;
  const focused = document.activeElement?.closest<HTMLElement>("[data-seq]")?.dataset.seq;
  const seqs = focused ? [Number(focused)] : [...chat.outline].reverse();
  const seq = seqs.find((q) => (chat.entry(q)?.head.siblings.length ?? 0) > 1);
  if (seq !== undefined) void app.attempt(() => chat.switchVersion(seq, step));
}
