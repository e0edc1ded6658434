/** The record of what tools did, as far as it was asked for. */
import { AppError, type Bridge } from "../bridge/calls";
import { Puller } from "../bridge/events";
import type { ActivityEntry, ActivityList, ActivityReport } from "../bridge/generated";

/** How long the record rests between two checks of the whole of it, in ms: a long one takes a while. */
const checkEvery = 2000;

export class ActivityState {
  entries = $state.raw<ActivityEntry[]>([]);
  more = $state.raw(false);
  ready = $state.raw(false);
  loading = $state.raw(false);
  error = $state.raw<AppError | null>(null);
  report = $state.raw<ActivityReport | null>(null);

  #chat = "";
  #plugin = "";
  #of = ""; // the chat and the plugin whose entries these are
  /** Counts how often the newest were asked for, so that a late answer to an earlier question is dropped. */
  #asked = 0;

  #check = new Puller(
    () => 0, // a report has no revision: each wish has the record checked
    async () => {
      this.report = await this.bridge.activity.Verify();
      await new Promise((resolve) => setTimeout(resolve, checkEvery));
    },
    (cause) => (this.error = AppError.of(cause)),
  );

  constructor(private bridge: Bridge) {}

  /** Shows the newest entries of a chat and a plugin, "" is all, and older ones that are shown already. */
  async show(chat: string, plugin: string): Promise<void> {
    this.#chat = chat;
    this.#plugin = plugin;
    const asked = ++this.#asked;
    const list = await this.#list(0, () => asked === this.#asked);
    if (!list) return;
    const of = `${chat}\n${plugin}`;
    const end = list.entries.at(-1)?.n ?? 0;
    // Where more came than a page has, entries between it and those shown are missing.
    const joins = list.more && this.#of === of && end <= (this.entries[0]?.n ?? 0);
    const older = joins ? this.entries.filter(({ n }) => n < end) : [];
    this.entries = [...list.entries, ...older];
    if (older.length === 0) this.more = list.more;
    this.#of = of;
    this.ready = true;
  }

  /** Shows older entries below those that are shown. */
  async older(): Promise<void> {
    const of = `${this.#chat}\n${this.#plugin}`;
    const end = this.entries.at(-1)?.n ?? 0;
    this.loading = true;
    const list = await this.#list(end, () => of === this.#of && this.entries.at(-1)?.n === end);
    this.loading = false;
    if (!list) return;
    this.entries = [...this.entries, ...list.entries];
    this.more = list.more;
  }

  /** Entries before one; null if the answer was overtaken or there is none. */
  async #list(before: number, counts: () => boolean): Promise<ActivityList | null> {
    try {
      const list = await this.bridge.activity.List(this.#chat, this.#plugin, before);
      if (!counts()) return null;
      this.error = null;
      return list;
    } catch (cause) {
      if (counts()) this.error = AppError.of(cause);
      return null;
    }
  }

  /** Has the whole record checked; once more, where it grew meanwhile. */
  verify(): Promise<void> {
    return this.#check.refresh();
  }
}
