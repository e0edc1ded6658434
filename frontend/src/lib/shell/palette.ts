/** What the command palette lists for some words. */
import type { App, SettingsPage } from "../app.svelte";
import type { ChatRow } from "../bridge/generated";
import { s } from "../strings";

export interface Hit {
  id: string;
  group: string;
  label: string;
  keys: string;
  run: () => void;
}

/** Whether every word begins somewhere in the text. */
export function matches(text: string, words: string): boolean {
  const low = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => low.includes(word));
}

export function hits(app: App, words: string, chats: ChatRow[]): Hit[] {
  const actions = app.keys.commands
    .filter((c) => !c.hidden && (c.when?.() ?? true) && matches(c.label, words))
    .map((c) => ({
      id: c.id,
      group: s.palette.actions,
      label: c.label,
      keys: app.keys.label(c.id),
      run: c.run,
    }));
  const found = chats.map((chat) => ({
    id: `chat-${chat.id}`,
    group: s.palette.chats,
    label: chat.title || s.sidebar.unnamed,
    keys: "",
    run: () => void app.openChat(chat.id),
  }));
  const tools = words
    ? app.tools.tools
        .filter((t) => matches(`${t.title} ${t.name} ${t.plugin_name}`, words))
        .slice(0, 8)
        .map((t) => ({
          id: `tool-${t.id}`,
          group: s.palette.tools,
          label: `${t.title} · ${t.plugin_name}`,
          keys: "",
          run: () => app.showDock("tools"),
        }))
    : [];
  const pages = (Object.keys(s.settings.pages) as SettingsPage[])
    .filter((page) => words && matches(`${s.settings.title} ${s.settings.pages[page]}`, words))
    .map((page) => ({
      id: `page-${page}`,
      group: s.palette.settings,
      label: s.settings.pages[page],
      keys: "",
      run: () => app.openSettings(page),
    }));
  return [...actions, ...found, ...tools, ...pages];
}
