/** Find in the open chat: the words, the places they are at, and which one is shown. */
import type { Find } from "../bridge/generated";
import type { OpenChat } from "./chat.svelte";

export class FindState {
  open = $state.raw(false);
  words = $state("");
  found = $state.raw<Find[]>([]);
  at = $state.raw(0);
  /** App.wish.search as the keyboard last went to the bar: it does so only when it is asked to. */
  wished = 0;
  /** The words of `found`: what is on the screen is the answer to these. */
  asked = $state.raw("");

  #count = 0;

  constructor(private chat: () => OpenChat | null) {}

  /** Looks for the words, and shows the last place up to a message; an answer that was overtaken is dropped. */
  async look(words: string, upto = Infinity): Promise<void> {
    this.words = words;
    const mine = ++this.#count;
    const found = words.trim() ? ((await this.chat()?.find(words)) ?? []) : [];
    if (mine !== this.#count) return;
    this.found = found;
    this.asked = words;
    this.at = Math.max(
      0,
      found.findLastIndex((place) => place.seq <= upto),
    );
    this.#show();
  }

  /** The place that is shown. */
  get here(): Find | undefined {
    return this.found[this.at];
  }

  step(by: number): void {
    if (this.found.length === 0) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.#show();
  }

  #show(): void {
    const chat = this.chat();
    if (chat && this.here) chat.target = { ...this.here };
  }

  close(): void {
    this.#count++;
    this.open = false;
    this.words = "";
    this.asked = "";
    this.found = [];
  }
}
