/** What the person asked before in the open chat, brought back into the message's field one after the other. */
import type { App } from "../app.svelte";

export class Recall {
  /** The question that is in the field, counted from the newest; -1 is none. */
  #at = -1;
  /** Its text: once that is changed, one writes and no longer looks. */
  #shown = "";
  /** What was in the field before. */
  #own = "";

  constructor(private app: App) {}

  /** An earlier question is in the field, unchanged. */
  get looks(): boolean {
    return this.#at >= 0 && this.app.composer.text === this.#shown;
  }

  /** Puts the question before, -1, or after the one in the field there; after the newest comes what was written. */
  async step(by: -1 | 1): Promise<void> {
    const { chat, composer } = this.app;
    if (!chat) return;
    const asked = chat.outline.filter((seq) => chat.held(seq)?.head.role === "user").reverse();
    if (!this.looks) [this.#at, this.#own] = [-1, composer.text];
    const at = Math.min(this.#at - by, asked.length - 1);
    if (at < -1 || at === this.#at) return;
    this.#at = at;
    const seq = asked[at];
    const text = seq === undefined ? this.#own : await chat.source(seq);
    if (chat !== this.app.chat || at !== this.#at) return;
    this.#shown = text;
    composer.put(text);
  }
}
