/** Every command of the window, with its standard shortcut; the palette and the Keys page list them. */
import { tick } from "svelte";
import type { App } from "../app.svelte";
import type { Theme } from "../bridge/generated";
import { backup, copyChat, exportChat, importChat } from "../chat/transfer";
import { newTemporary } from "../chat/temporary";
import { s } from "../strings";
import type { Command } from "./keys.svelte";
import { nextRegion } from "./regions";
import { stepMessage } from "./steps";

type Id = Exclude<keyof typeof s.commands, "pinnedChat">;

/** A command whose label is that of its id. */
function command(
  id: Id,
  keys: string,
  run: () => unknown,
  more: Partial<Pick<Command, "when" | "hidden" | "notInText">> = {},
): Command {
  return { id, label: s.commands[id], keys, run: () => void run(), ...more };
}

export function commands(app: App): Command[] {
  const { layout, permissions } = app;
  const chat = () => app.chat;
  const inChat = () => app.chat !== null && app.page === null;
  const hasTabs = () => app.tabs.ids.length > 0 && app.page === null;
  const writes = () => inChat() && document.activeElement?.closest("form.composer") !== null;
  const hasCouncil = () => app.council.settings !== null;
  const theme = (id: Id, theme: Theme) => command(id, "", () => app.settings.set({ theme }));
  return [
    command("palette", "Mod+K", () => (app.palette = !app.palette), { hidden: true }),
    command("newChat", "Mod+N", () => app.newChat()),
    command("newTemporary", "Mod+Shift+N", () => newTemporary(app)),
    command("closeTab", "Mod+W", () => app.tabs.close(), { when: hasTabs }),
    command("nextTab", "Mod+Tab", () => app.tabs.walk(1), { when: hasTabs }),
    command("previousTab", "Mod+Shift+Tab", () => app.tabs.walk(-1), { when: hasTabs }),
    command("find", "Mod+F", () => openFind(app), { when: inChat }),
    command("searchChats", "", () => searchChats(app)),
    command("sidebar", "Mod+B", () => layout.setSidebar(!layout.sidebarOpen)),
    // A settings page covers the panel.
    command("dock", "Mod+J", () => (layout.dockOpen && !app.page ? layout.setDock(false) : app.showDock())),
    command("dockWide", "Mod+Shift+J", () => {
      layout.setWide(!layout.dockWide || app.page !== null);
      app.page = null;
    }),
    command("councilTab", "", () => app.showCouncil(), { when: hasCouncil }),
    command("councilOnce", "Mod+Shift+M", () => app.councilOnce(), { when: hasCouncil }),
    command("toolsTab", "", () => app.showDock("tools")),
    command("pluginsTab", "", () => app.showDock("plugins")),
    command("activityTab", "", () => app.showDock("activity")),
    command("stop", "Mod+.", () => app.attempt(async () => chat()?.stop()), {
      when: () => chat()?.running ?? false,
    }),
    command("regenerate", "Mod+Shift+R", () => app.attempt(async () => chat()?.regenerate(chat()?.last?.seq ?? 0)), {
      when: () => inChat() && chat()?.last?.head.role === "assistant" && !chat()?.running,
    }),
    command("inbox", "", () => app.showInbox()),
    command("reviewPermission", "Mod+Shift+P", () => app.reviewPermission()),
    command("pause", "Mod+Shift+Backspace", () => app.attempt(() => permissions.setPaused(!permissions.paused))),
    command("unattended", "", () => (app.unattendedAsked = true), {
      when: () => !permissions.unattended && !permissions.paused,
    }),
    command("endUnattended", "", () => app.attempt(() => permissions.endUnattended()), {
      when: () => permissions.unattended !== null,
    }),
    command("settings", "Mod+,", () => app.openSettings("general")),
    command("shortcuts", "Mod+/", () => app.openSettings("keys")),
    command("previousMessage", "Alt+Up", () => stepMessage(app, -1), {
      when: inChat,
      hidden: true,
    }),
    command("nextMessage", "Alt+Down", () => stepMessage(app, 1), { when: inChat, hidden: true }),
    command("earlierInput", "Mod+Up", () => app.recall.step(-1), { when: writes, hidden: true }),
    command("laterInput", "Mod+Down", () => app.recall.step(1), { when: writes, hidden: true }),
    command("previousVersion", "Alt+Left", () => stepVersion(app, -1), {
      notInText: true,
      when: inChat,
      hidden: true,
    }),
    command("nextVersion", "Alt+Right", () => stepVersion(app, 1), {
      notInText: true,
      when: inChat,
      hidden: true,
    }),
    command("nextRegion", "F6", () => nextRegion(1), { hidden: true }),
    command("previousRegion", "Shift+F6", () => nextRegion(-1), { hidden: true }),
    command("undo", "Mod+Z", () => app.undo(), { notInText: true, when: () => app.canUndo }),
    command("zoomIn", "Mod+Plus", () => app.zoom(1)),
    command("zoomOut", "Mod+Minus", () => app.zoom(-1)),
    command("zoomReset", "Mod+0", () => app.zoom(0)),
    command("rename", "", () => app.wish.rename++, { when: inChat }),
    command("archive", "", () => app.archiveChat(chat()?.id ?? "", true), {
      when: () => inChat() && !chat()?.chat?.temporary,
    }),
    command("branchMap", "Mod+Shift+B", () => (app.branches = true), { when: inChat }),
    command("duplicateChat", "", () => copyChat(app, chat()?.id ?? ""), { when: inChat }),
    command("exportChat", "", () => exportChat(app, chat()?.id ?? "", "md"), { when: inChat }),
    command("shareChat", "", () => exportChat(app, chat()?.id ?? "", "html"), { when: inChat }),
    command("importChat", "", () => importChat(app)),
    command("backup", "", () => backup(app)),
    command("newPlugin", "", () => (app.newPlugin = true)),
    command("addPlugin", "", () => (app.addPlugin = true)),
    command("addServer", "", () => (app.addServer = true)),
    command("addModel", "", () => app.connectModel()),
    theme("themeSystem", "system"),
    theme("themeLight", "light"),
    theme("themeDark", "dark"),
    theme("themeContrast", "contrast"),
    command("quit", "", () => app.attempt(() => app.bridge.window.Quit())),
    ...Array.from({ length: 9 }, (_, i): Command => ({
      id: `pinned${i + 1}`,
      label: s.commands.pinnedChat(i + 1),
      keys: `Mod+${i + 1}`,
      hidden: true,
      when: () => app.chats.pinned[i] !== undefined,
      run: () => void app.openChat(app.chats.pinned[i]?.id ?? ""),
    })),
  ];
}

function openFind(app: App): void {
  app.find.open = true;
  app.wish.search++;
}

function searchChats(app: App): void {
  app.layout.setSidebar(true);
  // The field is there once the list is drawn.
  void tick().then(() => document.querySelector<HTMLElement>("[data-search-chats]")?.focus());
}

/** Shows the next version of the focused message, or else of the last message that has versions. */
function stepVersion(app: App, step: number): void {
  const chat = app.chat;
  if (!chat) return;
  const focused = document.activeElement?.closest<HTMLElement>("[data-seq]")?.dataset.seq;
  const seqs = focused ? [Number(focused)] : [...chat.outline].reverse();
  const seq = seqs.find((q) => (chat.entry(q)?.head.siblings.length ?? 0) > 1);
  if (seq !== undefined) void app.attempt(() => chat.switchVersion(seq, step));
}
