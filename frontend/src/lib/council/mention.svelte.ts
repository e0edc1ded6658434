/** The members that “@…” in a message may name, and the one that Enter takes. */
import type { App } from "../app.svelte";
import type { Member } from "../bridge/generated";
import { Picker } from "../chat/picker.svelte";

export class Mention extends Picker<Member> {
  constructor(
    app: App,
    /** Puts the caret behind the name. */
    private onchosen: (end: number) => void,
  ) {
    super(app);
  }

  protected override find(text: string): Member[] {
    return this.app.council.named(text);
  }

  /** Addresses the message to one member only. */
  override choose(member: Member): void {
    const text = `@${member.name} `;
    this.app.composer.changed(text, text.length);
    this.dismiss(text);
    this.onchosen(text.length);
  }
}
