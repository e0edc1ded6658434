/**
 * The list of chats. Rows are pulled by page as they come into view and groups
 * tell the length of everything, so 50,000 chats cost what a screenful costs.
 */
import { SvelteMap } from "svelte/reactivity";
import { AppError, type Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type { ChatGroup, ChatRow } from "../bridge/generated";
import { Pulled } from "../bridge/pulled.svelte";
import { store, stored } from "../stored";

/** Rows of a page: of what a search finds fewer are asked for, which come sooner. */
const pageSize = (searching: boolean) => (searching ? 40 : 100);

/** Where it is kept that the list is by project, and which of those are closed. */
const place = "chats-by-project";

/** A line of the list: a group's heading, or the row with that index, and whether its group is one day's. */
export type Line = { heading: string; count: number } | { row: number; day: boolean };

/** The projects that were left closed; null where the list was by day, or where that cannot be read. */
function savedGroups(): string[] | null {
  const closed = stored(place);
  return Array.isArray(closed) ? closed.filter((key) => typeof key === "string") : null;
}

export class ChatsState extends Pulled {
  text = $state("");
  archived = $state(false);
  /** The keys of projects that are closed, while the list is grouped by project. */
  closed = $state.raw(savedGroups());
  total = $state.raw(0);
  /** How much of what was said a search covers so far, in percent. */
  searched = $state.raw(100);
  groups = $state.raw<ChatGroup[]>([]);
  pinned = $state.raw<ChatRow[]>([]);

  /** The whole list laid out. */
  readonly lines = $derived.by(() => {
    const lines: Line[] = [];
    let row = 0;
    for (const group of this.groups) {
      lines.push({ heading: group.key, count: group.count });
      if (this.canClose(group.key) && this.closed?.includes(group.key)) {
        row += group.count;
        continue;
      }
      const day = /^\d+-\d+-\d+$/.test(group.key);
      for (let i = 0; i < group.count; i++) lines.push({ row: row++, day });
    }
    return lines;
  });

  #pages = new SvelteMap<number, ChatRow[]>();
  #seen: number[] = [0]; // pages asked for last, newest last
  #pending = new Set<number>();
  #query = 0; // counts queries, so that an overtaken answer is dropped
  #shown = 0; // the query whose rows are held, until the answer to the next is there
  #size = pageSize(false); // of its pages

  constructor(
    private bridge: Bridge,
    notices: Notices,
  ) {
    super(notices, "chats");
  }

  /** Shows only what matches; resolves when it is shown. */
  search(text: string): Promise<void> {
    this.text = text;
    return this.#restart();
  }

  showArchive(archived: boolean): Promise<void> {
    this.archived = archived;
    return this.#restart();
  }

  groupByProject(projects: boolean): Promise<void> {
    this.#keep(projects ? [] : null);
    return this.#restart();
  }

  /** Whether a group is a project's. */
  canClose(key: string): boolean {
    return key.startsWith("project:");
  }

  /** Hides the rows of a project, or shows them again. */
  setClosed(key: string, closed: boolean): void {
    const others = (this.closed ?? []).filter((other) => other !== key);
    this.#keep(closed ? [...others, key] : others);
  }

  #keep(closed: string[] | null): void {
    this.closed = closed;
    store(place, closed);
  }

  #restart(): Promise<void> {
    this.#query++;
    this.#seen = [0];
    this.revision = 0;
    return this.refresh();
  }

  /** The row at an index when it is held; asks for its page when not. */
  row(index: number): ChatRow | undefined {
    return this.#pages.get(Math.floor(index / this.#size))?.[index % this.#size];
  }

  /** Where a chat stands among those held; -1 is nowhere. */
  indexOf(id: string): number {
    for (const [page, rows] of this.#pages) {
      const at = rows.findIndex((row) => row.id === id);
      if (at >= 0) return page * this.#size + at;
    }
    return -1;
  }

  need(index: number): void {
    const page = Math.floor(index / this.#size);
    if (this.#pages.has(page) || this.#pending.has(page)) return;
    if (this.#query !== this.#shown) return; // the answer is on its way, and rows ask again when it is there
    this.#pending.add(page);
    this.#seen = [...this.#seen.filter((p) => p !== page), page].slice(-4);
    queueMicrotask(async () => {
      const query = this.#query;
      try {
        await this.#page(page, query);
      } catch (cause) {
        this.error = AppError.of(cause);
      } finally {
        this.#pending.delete(page);
      }
    });
  }

  async #page(page: number, query: number): Promise<void> {
    const { text, archived } = this;
    const size = pageSize(text !== "");
    const list = await this.bridge.chats.List({ text, archived, projects: this.closed !== null }, page * size, size);
    if (query !== this.#query) return;
    if (list.revision < this.revision) return this.#page(page, query); // a newer one overtook it
    if (query !== this.#shown) this.#pages.clear();
    this.#shown = query;
    this.#size = size;
    this.total = list.total;
    this.searched = list.searched;
    this.groups = list.groups;
    this.#pages.set(page, list.rows);
    if (page === 0 && !this.text && !this.archived) {
      this.pinned = list.rows.filter((row) => row.pinned).slice(0, 9);
    }
    this.revision = Math.max(this.revision, list.revision);
    this.error = null;
  }

  // Brings the pages last looked at, and forgets the others.
  protected override async pull(): Promise<void> {
    const query = this.#query;
    const pages = [...new Set([0, ...this.#seen])];
    await Promise.all(pages.map((page) => this.#page(page, query)));
    for (const page of this.#pages.keys()) if (!pages.includes(page)) this.#pages.delete(page);
  }
}
