/** The settings, stored by the program; the window applies changes at once. */
import type { Bridge } from "../bridge/calls";
import { Puller, type Notices } from "../bridge/events";
import type { Settings, SettingsPatch } from "../bridge/generated";

export class SettingsState {
  /** What the program keeps, with the changes that it has yet to answer. */
  now = $state.raw() as Settings;
  /** Whether the system prefers dark; updated by App.svelte. */
  systemDark = $state.raw(false);
  systemContrast = $state.raw(false);

  /** The colours in effect. High contrast keeps the system's tone. */
  readonly tone = $derived.by(() => {
    const theme = this.now.theme;
    if (theme === "light" || theme === "dark") return theme;
    return this.systemDark ? "dark" : "light";
  });
  readonly contrast = $derived(this.now.theme === "contrast" || (this.now.theme === "system" && this.systemContrast));

  /** The newest of what the program said that it keeps. */
  #kept: Settings;
  /** Changes that it has not answered yet, the oldest first. */
  #asked: SettingsPatch[] = [];
  /** Ends once the last of them is answered: each is sent behind the one before it. */
  #sent: Promise<unknown> = Promise.resolve();
  #puller: Puller;
  #off: () => void;

  constructor(
    private bridge: Bridge,
    notices: Notices,
    initial: Settings,
    private onerror: (cause: unknown) => void,
  ) {
    this.#kept = initial;
    this.now = initial;
    this.#puller = new Puller(
      () => this.#kept.revision,
      async () => this.#hear(await this.bridge.settings.Get()),
      onerror,
    );
    this.#off = notices.watch("settings", "", this.#puller.notice);
  }

  close(): void {
    this.#off();
  }

  /** Takes in what the program keeps, unless that was overtaken. */
  #hear(kept: Settings): void {
    if (kept.revision >= this.#kept.revision) this.#kept = kept;
    this.now = Object.assign({}, this.#kept, ...this.#asked);
  }

  /** Changes fields at once here, and in the program. */
  async set(patch: SettingsPatch): Promise<void> {
    this.#asked = [...this.#asked, patch];
    this.#hear(this.#kept);
    const send = () => this.bridge.settings.Set(patch);
    const answer = this.#asked.length > 1 ? this.#sent.then(send) : send();
    this.#sent = answer.catch(() => {});
    try {
      const kept = await answer;
      this.#asked = this.#asked.filter((asked) => asked !== patch);
      this.#hear(kept);
    } catch (cause) {
      this.#asked = this.#asked.filter((asked) => asked !== patch);
      this.#hear(this.#kept);
      this.onerror(cause);
    }
  }
}
