/** One plugin that is being added: from where, how far it is, what went wrong. */
import { AppError } from "../bridge/calls";
import type { PluginsCalls } from "../bridge/generated";

export class Adding {
  from = $state("");
  busy = $state.raw(false);
  /** How long it has been fetched or copied. */
  seconds = $state.raw(0);
  error = $state.raw<AppError | null>(null);

  constructor(private plugins: Pick<PluginsCalls, "Choose" | "Add" | "StopAdding">) {}

  /** Asks for a folder or a file; what was written stays when the person changes their mind. */
  async choose(what: "folder" | "file"): Promise<void> {
    this.error = null;
    try {
      this.from = (await this.plugins.Choose(what)) || this.from;
    } catch (cause) {
      this.error = AppError.of(cause);
    }
  }

  /** Returns the new plugin's id, or "" with error set unless the person stopped it. */
  async add(): Promise<string> {
    if (this.busy) return "";
    this.busy = true;
    this.error = null;
    this.seconds = 0;
    const clock = setInterval(() => this.seconds++, 1000);
    try {
      return await this.plugins.Add(this.from.trim());
    } catch (cause) {
      const error = AppError.of(cause);
      this.error = error.kind === "canceled" ? null : error;
      return "";
    } finally {
      clearInterval(clock);
      this.busy = false;
    }
  }

  async stop(): Promise<void> {
    if (this.busy) await this.plugins.StopAdding();
  }
}
