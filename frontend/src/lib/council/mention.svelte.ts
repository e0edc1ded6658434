/** The members that “@…” in a message may name, and the one that Enter takes. */
import type { App } from "../app.svelte";
import type { Member } from "../bridge/generated";

export class Mention {
  /** The text for which the person closed the list. */
  #dismissed = $state.raw("");
  #at = $state.raw(0);

  readonly members = $derived.by(() => {
    const { text } = this.app.composer;
    return this.#dismissed === text ? [] : this.app.council.named(text);
  });
  readonly at = $derived.by(() => Math.min(this.#at, this.members.length - 1));
  readonly chosen = $derived.by(() => this.members[this.at]);

  constructor(
    private app: App,
    /** Puts the caret behind the name. */
    private onchosen: (end: number) => void,
  ) {}

  /** The text has changed. */
  reset(): void {
    this.#at = 0;
  }

  /** Addresses the message to one member only. */
  choose = (member: Member): void => {
    const text = `@${member.name} `;
    this.app.composer.changed(text, text.length);
    this.#dismissed = text;
    this.onchosen(text.length);
  };

  /** Handles a key of the message's field; true if the list used it. */
  press(event: KeyboardEvent): boolean {
    const { chosen, members, at } = this;
    if (!chosen || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (event.key === "ArrowDown") this.#at = (at + 1) % members.length;
    else if (event.key === "ArrowUp") this.#at = (at - 1 + members.length) % members.length;
    else if (event.key === "Enter" || event.key === "Tab") this.choose(chosen);
    else if (event.key === "Escape") this.#dismissed = this.app.composer.text;
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
