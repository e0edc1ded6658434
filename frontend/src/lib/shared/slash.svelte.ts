/** The list over a message that begins with “/”, or ends with “@plugin:…”, and the line that Enter takes. */
import type { App } from "../app.svelte";

export class Slash {
  /** The text for which the person closed the list. */
  #dismissed = $state.raw("");
  #at = $state.raw(0);

  readonly lines = $derived.by(() => {
    const { text } = this.app.composer;
    return this.#dismissed === text ? [] : this.app.shared.suggestions(text);
  });
  readonly at = $derived.by(() => Math.min(this.#at, this.lines.length - 1));
  readonly chosen = $derived.by(() => this.lines[this.at]);

  constructor(private app: App) {}

  /** The text has changed. */
  reset(): void {
    this.#at = 0;
  }

  /** Handles a key of the message's field; true if the list used it. */
  press(event: KeyboardEvent): boolean {
    const { chosen, lines, at } = this;
    if (!chosen || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (event.key === "ArrowDown") this.#at = (at + 1) % lines.length;
    else if (event.key === "ArrowUp") this.#at = (at - 1 + lines.length) % lines.length;
    else if (event.key === "Enter" || event.key === "Tab") chosen.choose();
    else if (event.key === "Escape") this.#dismissed = this.app.composer.text;
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
