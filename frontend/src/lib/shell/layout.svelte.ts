/**
 * Where the three columns stand. From 1180 px all three are side by side; under
 * that the dock lies over the centre, and under 880 px the sidebar too.
 */
import type { SettingsState } from "../settings/settings.svelte";

export const sidebarRange = { min: 200, max: 360, standard: 264 };
export const dockRange = { min: 360, max: 560, standard: 400 };
export const dockOverUnder = 1180;
export const sidebarOverUnder = 880;
/** One press of an arrow key on a divider. */
export const dividerStep = 16;

export type DockTab = "tools" | "plugins";

export function clamp(n: number, min: number, max: number): number {
  return Math.min(Math.max(n, min), max);
}

export class Layout {
  width = $state.raw(1280);
  /** Width in effect while a divider is dragged; 0 = the setting. */
  #sidebarDrag = $state.raw(0);
  #dockDrag = $state.raw(0);
  /** Open over the centre, in a window too narrow for it; closes on its own. */
  sidebarOver = $state.raw(false);
  dockOver = $state.raw(false);

  constructor(private settings: SettingsState) {}

  readonly sidebarFloats = $derived(this.width < sidebarOverUnder);
  readonly dockFloats = $derived(this.width < dockOverUnder);
  readonly sidebarOpen = $derived.by(() =>
    this.sidebarFloats ? this.sidebarOver : this.settings.now.sidebar_open,
  );
  readonly dockOpen = $derived.by(() =>
    this.dockFloats ? this.dockOver : this.settings.now.dock_open,
  );
  readonly sidebarWidth = $derived.by(() =>
    Math.min(
      clamp(
        this.#sidebarDrag || this.settings.now.sidebar_width,
        sidebarRange.min,
        sidebarRange.max,
      ),
      this.width - 48,
    ),
  );
  readonly dockWidth = $derived.by(() =>
    Math.min(
      clamp(this.#dockDrag || this.settings.now.dock_width, dockRange.min, dockRange.max),
      this.width - 48,
    ),
  );
  readonly tab = $derived.by<DockTab>(() =>
    this.settings.now.dock_tab === "plugins" ? "plugins" : "tools",
  );

  setSidebar(open: boolean): void {
    if (this.sidebarFloats) this.sidebarOver = open;
    else void this.settings.set({ sidebar_open: open });
  }

  setDock(open: boolean, tab?: DockTab): void {
    if (this.dockFloats) this.dockOver = open;
    else if (open !== this.settings.now.dock_open) void this.settings.set({ dock_open: open });
    if (tab && tab !== this.settings.now.dock_tab) void this.settings.set({ dock_tab: tab });
  }

  dragSidebar(width: number): void {
    this.#sidebarDrag = clamp(width, sidebarRange.min, sidebarRange.max);
  }

  dragDock(width: number): void {
    this.#dockDrag = clamp(width, dockRange.min, dockRange.max);
  }

  /** The drag ended: what it came to is kept. */
  dropped(): void {
    if (this.#sidebarDrag) void this.settings.set({ sidebar_width: this.#sidebarDrag });
    if (this.#dockDrag) void this.settings.set({ dock_width: this.#dockDrag });
    this.#sidebarDrag = 0;
    this.#dockDrag = 0;
  }
}
