/**
 * Links conclave://… that were opened in other programs. What they bring is filled in for a person to look
 * at: nothing is sent and nothing is installed.
 */
import type { App } from "../app.svelte";
import { AppError } from "../bridge/calls";
import type { Link } from "../bridge/generated";
import { s } from "../strings";

export class LinksState {
  /** The address that “Add plugin” begins with; "" = none. */
  plugin = $state.raw("");
  #unwatch = () => {};

  constructor(private app: App) {}

  /** Takes the links there are, and those that come. */
  open(): Promise<boolean> {
    this.#unwatch = this.app.notices.watch("links", "", () => void this.#take());
    return this.#take();
  }

  close(): void {
    this.#unwatch();
  }

  #take(): Promise<boolean> {
    return this.app.attempt(async () => {
      for (const link of await this.app.bridge.window.Links()) {
        if (link.refused) this.app.fail(new AppError(link.refused));
        else if (link.kind === "plugin") this.#review(link.address);
        else await this.#write(link);
      }
    });
  }

  /** Begins the message of a new chat; what was written there stays before it. */
  async #write({ text, model, hidden }: Link): Promise<void> {
    const { app } = this;
    await app.newChat();
    if (model && app.models.named(model)) app.composer.model = model;
    else if (model) app.toasts.say(s.links.noModel(model));
    app.composer.insert(text);
    app.composer.linked = { hidden };
    app.wish.composer++;
    app.status = hidden ? `${s.links.text} ${s.links.hidden(hidden)}` : s.links.text;
  }

  /** Opens “Add plugin”, unless a person is adding one. */
  #review(address: string): void {
    const open = () => {
      this.plugin = address;
      this.app.addPlugin = true;
    };
    if (this.app.addPlugin)
      this.app.toasts.say(s.links.another, { label: s.app.copy, run: () => void this.app.copy(address) });
    else open();
  }
}
