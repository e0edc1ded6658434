/** The person's own prompts: texts to begin messages with, whose places are filled in each time. */
import type { App } from "../app.svelte";
import type { OwnPrompt, PromptPlace } from "../bridge/generated";
import { s } from "../strings";

export class PromptsState {
  own = $state.raw<OwnPrompt[]>([]);
  /** The prompt whose places a person fills in; null = none. */
  filling = $state.raw<OwnPrompt | null>(null);
  #asked = false;

  constructor(private app: App) {}

  /** Brings the prompts, unless that was done. */
  open(): void {
    if (this.#asked) return;
    this.#asked = true;
    void this.app.attempt(() => this.refresh());
  }

  async refresh(): Promise<void> {
    this.#asked = true;
    this.own = await this.app.bridge.prompts.List();
  }

  /** Those whose name holds words. */
  named(words: string): OwnPrompt[] {
    return this.own.filter((one) => one.title.toLowerCase().includes(words.toLowerCase()));
  }

  /** Begins the message with a prompt: what is to be filled in is asked for first. */
  use(prompt: OwnPrompt): void {
    if (prompt.places.length > 0) this.filling = prompt;
    else void this.app.attempt(() => this.fill(prompt, {}));
  }

  /** Puts a prompt with its values into the message, to be looked at and sent. */
  async fill(prompt: OwnPrompt, values: Record<string, string>): Promise<void> {
    const text = await this.app.bridge.prompts.Fill(prompt.text, values);
    this.filling = null;
    this.app.composer.begin(text, text.length);
    this.app.wish.composer++;
  }

  async save(id: string, title: string, text: string): Promise<void> {
    await this.app.bridge.prompts.Save(id, title, text);
    await this.refresh();
  }

  remove(prompt: OwnPrompt): Promise<boolean> {
    return this.app.attempt(async () => {
      const undo = await this.app.bridge.prompts.Delete(prompt.id);
      await this.refresh();
      this.app.offerUndo(undo.sentence, async () => {
        await this.app.bridge.window.Undo(undo.token);
        await this.refresh();
      });
    });
  }

  /** Adds the prompts of a file. */
  read(file: File): Promise<boolean> {
    return this.app.attempt(async () => {
      const added = await this.app.bridge.prompts.Import(await file.text());
      await this.refresh();
      this.app.toasts.say(s.prompts.added(added));
    });
  }

  /** Asks where to, and writes all prompts there. */
  write(): Promise<boolean> {
    return this.app.attempt(async () => {
      await this.app.bridge.window.SaveFile("prompts.json", await this.app.bridge.prompts.Export());
    });
  }

  places(text: string): Promise<PromptPlace[]> {
    return this.app.bridge.prompts.Places(text);
  }
}
