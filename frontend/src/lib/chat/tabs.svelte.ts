/**
 * The chats that are open side by side. There are tabs once there are two; the one that is shown is the chat that is
 * open. "" is a new chat. They are kept over a restart, by id; a temporary chat is not.
 */
import type { App } from "../app.svelte";
import { AppError } from "../bridge/calls";
import type { ChatRow } from "../bridge/generated";
import { store, stored } from "../stored";
import { s } from "../strings";

export interface Tab {
  id: string;
  title: string;
}

const place = "tabs";

export class Tabs {
  /** In their order; none or at least two. */
  ids = $state.raw<string[]>([]);
  /** What chats are called that are not among the rows that the list holds. */
  #titles: Record<string, string> = {};

  constructor(private app: App) {
    const tabs = saved();
    for (const { id, title } of tabs) this.#titles[id] = title;
    const ids = tabs.map(({ id }) => id);
    const open = app.hello.open_chat;
    if (ids.length > 0 && !ids.includes(open)) ids.push(open);
    if (ids.length > 1) this.ids = ids;
  }

  get active(): string {
    return this.app.chat?.id ?? "";
  }

  /** The row of the list for a chat, where the list holds it. */
  row(id: string): ChatRow | undefined {
    const at = this.app.chats.indexOf(id);
    return at < 0 ? undefined : this.app.chats.row(at);
  }

  title(id: string): string {
    const open = id !== "" && id === this.active ? this.app.chat?.chat : undefined;
    if (open?.temporary) return open.title || s.temporary.title;
    return open?.title || this.row(id)?.title || this.#titles[id] || s.sidebar.unnamed;
  }

  /** Opens a chat in a tab of its own, behind the one that is shown. */
  open(id: string): void {
    const ids = this.ids.length > 0 ? this.ids : [this.active];
    if (ids.includes(id)) return;
    this.#set([...ids, id]);
    this.app.status = s.tabs.opened(this.title(id));
  }

  show(id: string): Promise<void> {
    return id === "" ? this.app.newChat() : this.app.openChat(id);
  }

  /** Shows the next tab, 1, or the one before, -1. */
  async walk(by: 1 | -1): Promise<void> {
    const { ids } = this;
    const next = ids[(ids.indexOf(this.active) + by + ids.length) % ids.length];
    if (next !== undefined) await this.show(next);
  }

  /** Closes a tab; the one next to it is shown if it was the one that was. Reports whether there was such a tab. */
  async close(id = this.active): Promise<boolean> {
    const at = this.ids.indexOf(id);
    if (at < 0) return false;
    const shown = id === this.active;
    const next = this.ids[at + 1] ?? this.ids[at - 1] ?? "";
    this.#set(this.ids.filter((other) => other !== id));
    if (shown) await this.show(next);
    return true;
  }

  /** Another chat is open now: it takes the tab of the one before, unless it has one. gone: that one is no more. */
  went(from: string, to: string, gone = false): void {
    if (this.ids.length === 0) return;
    let ids = this.ids;
    if (!ids.includes(to)) ids = ids.includes(from) ? ids.map((id) => (id === from ? to : id)) : [...ids, to];
    else if (gone) ids = ids.filter((id) => id !== from);
    this.#set(ids);
  }

  #set(ids: string[]): void {
    for (const id of ids) this.#titles[id] = this.title(id);
    this.ids = ids.length > 1 ? ids : [];
    const lasting = this.ids.filter((id) => id !== this.active || !this.app.chat?.chat?.temporary);
    store(
      place,
      lasting.map((id) => ({ id, title: this.#titles[id] ?? "" })),
    );
  }

  /** Takes out chats that were deleted since the tabs were kept. */
  async check(): Promise<void> {
    const gone = (id: string) =>
      this.app.bridge.chats.Draft(id).then(
        () => "",
        (cause) => (AppError.of(cause).kind === "not_found" ? id : ""),
      );
    const lost = await Promise.all(this.ids.filter(Boolean).map(gone));
    if (lost.some(Boolean)) this.#set(this.ids.filter((id) => !lost.includes(id) || id === ""));
  }
}

/** What was kept, or nothing where that cannot be read. */
function saved(): Tab[] {
  const tabs = stored(place);
  return Array.isArray(tabs) ? tabs.filter((tab: Tab) => typeof tab?.id === "string") : [];
}
