/** What a person has set, kept in the program; the window applies it at once. */
import type { Bridge } from "../bridge/calls";
import { Puller, type Notices } from "../bridge/events";
import type { Settings } from "../bridge/generated";

export class SettingsState {
  now = $state.raw() as Settings;
  /** Whether the system prefers dark; kept up to date by the frame. */
  systemDark = $state.raw(false);
  systemContrast = $state.raw(false);

  /** The colours in effect. High contrast keeps the system's tone. */
  readonly tone = $derived.by(() => {
    const theme = this.now.theme;
    if (theme === "light" || theme === "dark") return theme;
    return this.systemDark ? "dark" : "light";
  });
  readonly contrast = $derived(
    this.now.theme === "contrast" || (this.now.theme === "system" && this.systemContrast),
  );

  #puller: Puller;
  #off: () => void;

  constructor(
    private bridge: Bridge,
    notices: Notices,
    initial: Settings,
    private onerror: (cause: unknown) => void,
  ) {
    this.now = initial;
    this.#puller = new Puller(
      () => this.now.revision,
      async () => {
        this.now = await this.bridge.settings.Get();
      },
      onerror,
    );
    this.#off = notices.watch("settings", "", this.#puller.notice);
  }

  close(): void {
    this.#off();
  }

  /** Changes fields at once here, and in the program. */
  async set(patch: Partial<Omit<Settings, "revision">>): Promise<void> {
    const before = this.now;
    this.now = { ...this.now, ...patch };
    try {
      const kept = await this.bridge.settings.Set(patch);
      if (kept.revision >= this.now.revision) this.now = { ...kept };
    } catch (cause) {
      this.now = before;
      this.onerror(cause);
    }
  }
}
