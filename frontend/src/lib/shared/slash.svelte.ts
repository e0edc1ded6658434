/** What a message that begins with “/”, or ends with “@plugin:…”, may become. */
import { Picker } from "../chat/picker.svelte";
import type { Suggestion } from "./shared.svelte";

export class Slash extends Picker<Suggestion> {
  protected override find(text: string): Suggestion[] {
    return this.app.shared.suggestions(text);
  }

  override choose(line: Suggestion): void {
    line.choose();
  }
}
