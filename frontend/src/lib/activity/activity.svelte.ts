/** The record of what tools did, as far as it was asked for. */
import { AppError, type Bridge } from "../bridge/calls";
import type { ActivityEntry, ActivityReport } from "../bridge/generated";

export class ActivityState {
  entries = $state.raw<ActivityEntry[]>([]);
  more = $state.raw(false);
  ready = $state.raw(false);
  loading = $state.raw(false);
  error = $state.raw<AppError | null>(null);
  report = $state.raw<ActivityReport | null>(null);

  #chat = "";
  #plugin = "";
  /** Counts what was asked for, so that a late answer to an earlier question is dropped. */
  #asked = 0;

  constructor(private bridge: Bridge) {}

  /** Shows the newest entries of a chat and a plugin; "" is all. */
  async show(chat: string, plugin: string): Promise<void> {
    this.#chat = chat;
    this.#plugin = plugin;
    await this.#load(0);
  }

  /** Shows older entries below those that are shown. */
  async older(): Promise<void> {
    await this.#load(this.entries.at(-1)?.n ?? 0);
  }

  async #load(before: number): Promise<void> {
    const asked = ++this.#asked;
    this.loading = true;
    try {
      const list = await this.bridge.activity.List(this.#chat, this.#plugin, before);
      if (asked !== this.#asked) return;
      this.entries = before ? [...this.entries, ...list.entries] : list.entries;
      this.more = list.more;
      this.ready = true;
      this.error = null;
    } catch (cause) {
      if (asked === this.#asked) this.error = AppError.of(cause);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  /** Has the whole record checked. */
  async verify(): Promise<void> {
    try {
      this.report = await this.bridge.activity.Verify();
    } catch (cause) {
      this.error = AppError.of(cause);
    }
  }
}
