/**
 * The messages that are edited in place: one of a chat at a time, and to it one comes back. What
 * was typed in one that was left for another waits until it is edited again, or the program ends.
 */
import { SvelteMap } from "svelte/reactivity";

/** A message being edited in place. What is typed outlives its field, which scrolls out of view. */
export class Edit {
  /** null until the message's own text is there; what was typed before it would be lost. */
  text = $state<string | null>(null);
  /** The field is to take the focus; one that only comes into view again takes none. */
  focus = $state.raw(true);
  /** It is on its way to the program. */
  saving = $state.raw(false);

  #source = "";

  constructor(readonly seq: number) {}

  /** The message's own text came. */
  begin(source: string): void {
    if (this.text !== null) return;
    this.#source = source;
    this.text = source;
  }

  /** It is not the message's own text any more. */
  get changed(): boolean {
    return this.text !== null && this.text !== this.#source;
  }
}

export class Edits {
  /** By chat. */
  #open = new SvelteMap<string, Edit>();
  /** By chat and message. */
  #left = new Map<string, Edit>();

  /** What is edited in a chat; null is nothing. */
  of(chat: string): Edit | null {
    return this.#open.get(chat) ?? null;
  }

  /** Begins to edit a message, or goes on with it; from another one goes. */
  begin(chat: string, seq: number): void {
    if (this.of(chat)?.seq !== seq) {
      this.leave(chat);
      this.#open.set(chat, this.#left.get(place(chat, seq)) ?? new Edit(seq));
      this.#left.delete(place(chat, seq));
    }
    const edit = this.of(chat);
    if (edit) edit.focus = true;
  }

  /** Goes from what is edited in a chat, and keeps what was typed. */
  leave(chat: string): void {
    const edit = this.of(chat);
    if (edit?.changed) this.#left.set(place(chat, edit.seq), edit);
    this.#open.delete(chat);
  }

  /** Drops what was typed in a message. */
  drop(chat: string, seq: number): void {
    this.#left.delete(place(chat, seq));
    if (this.of(chat)?.seq === seq) this.#open.delete(chat);
  }
}

function place(chat: string, seq: number): string {
  return `${chat} ${seq}`;
}
