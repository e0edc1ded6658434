/** A list over the message's field, chosen from with the keys of that field. */
import type { App } from "../app.svelte";

export abstract class Picker<Line> {
  /** The text for which the person closed the list. */
  #dismissed = $state.raw("");
  #at = $state.raw(0);

  readonly lines = $derived.by((): Line[] => {
    const { text } = this.app.composer;
    return this.#dismissed === text ? [] : this.find(text);
  });
  readonly at = $derived.by(() => Math.min(this.#at, this.lines.length - 1));
  /** The line that Enter takes; undefined while there is no list. */
  readonly chosen = $derived.by(() => this.lines[this.at]);

  constructor(protected readonly app: App) {}

  /** What a text that is being written may become. */
  protected abstract find(text: string): Line[];
  abstract choose(line: Line): void;

  /** The text has changed. */
  reset(): void {
    this.#at = 0;
  }

  /** Closes the list for as long as this is the text. */
  protected dismiss(text: string): void {
    this.#dismissed = text;
  }

  /** Handles a key of the message's field; true if the list used it. */
  press(event: KeyboardEvent): boolean {
    const { chosen, lines, at } = this;
    if (!chosen || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (event.key === "ArrowDown") this.#at = (at + 1) % lines.length;
    else if (event.key === "ArrowUp") this.#at = (at - 1 + lines.length) % lines.length;
    else if (event.key === "Enter" || event.key === "Tab") this.choose(chosen);
    else if (event.key === "Escape") this.dismiss(this.app.composer.text);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
