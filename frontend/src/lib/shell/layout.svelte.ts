/**
 * The layout of the three columns. From 1180 px all three are side by side, as long as
 * that leaves the conversation its 560; under that the dock covers the centre, and
 * under 880 px the sidebar too. Under 1440 px the dock starts closed. Widths are those
 * of a window that is not zoomed.
 */
import type { SettingsState } from "../settings/settings.svelte";

export const sidebarRange = { min: 200, max: 360, standard: 264 };
export const dockRange = { min: 360, max: 560, standard: 400 };
const dockOverUnder = 1180;
const dockClosedUnder = 1440;
/** An open dock leaves the conversation at least this width and becomes narrower instead. */
const leastCentre = 560;
const leastDock = 340;
const sidebarOverUnder = 880;
/** One press of an arrow key on a divider. */
export const dividerStep = 16;

export const dockTabs = ["council", "tools", "plugins", "activity"] as const;
export type DockTab = (typeof dockTabs)[number];

function clamp(n: number, min: number, max: number): number {
  return Math.min(Math.max(n, min), max);
}

export class Layout {
  /** Of the window, in pixels of the screen. */
  screen = $state.raw(1280);
  /** Width in effect while a divider is dragged; 0 = the setting. */
  #sidebarDrag = $state.raw(0);
  #dockDrag = $state.raw(0);
  /** Open over the centre, in a window too narrow for it; closes on its own. */
  sidebarOver = $state.raw(false);
  /** The dock of a window in which it starts closed. */
  dockOver = $state.raw(false);
  #dockShut = false;
  /** How high the notices are, in pixels of the screen. */
  notices = $state.raw(0);
  /** The dock covers the conversation. */
  #wide = $state.raw(false);

  constructor(private settings: SettingsState) {}

  readonly width = $derived.by(() => (this.screen * 100) / this.settings.now.zoom);
  readonly sidebarFloats = $derived(this.width < sidebarOverUnder);
  readonly sidebarOpen = $derived.by(() => (this.sidebarFloats ? this.sidebarOver : this.settings.now.sidebar_open));
  readonly dockOpen = $derived.by(() => (this.width < dockClosedUnder ? this.dockOver : this.settings.now.dock_open));
  readonly sidebarWidth = $derived.by(() =>
    Math.min(
      clamp(this.#sidebarDrag || this.settings.now.sidebar_width, sidebarRange.min, sidebarRange.max),
      this.width - 48,
    ),
  );
  /** How wide the dock may be next to the conversation. */
  readonly #room = $derived.by(() => this.width - (this.sidebarOpen ? this.sidebarWidth : 0) - leastCentre);
  readonly dockFloats = $derived(this.width < dockOverUnder || this.#room < leastDock);
  readonly dockWidth = $derived.by(() =>
    Math.min(
      clamp(this.#dockDrag || this.settings.now.dock_width, dockRange.min, dockRange.max),
      this.dockFloats ? this.width - 48 : this.#room,
    ),
  );
  readonly tab = $derived.by<DockTab>(() => dockTabs.find((tab) => tab === this.settings.now.dock_tab) ?? "tools");
  /** It is open and fills the width next to the chat list. */
  readonly dockWide = $derived.by(() => this.#wide && this.dockOpen);

  /** The dock lies over the conversation, where notices are else: they have room at its foot. */
  readonly dockCovers = $derived.by(() => this.dockOpen && (this.dockFloats || this.#wide));

  setSidebar(open: boolean): void {
    if (this.sidebarFloats) this.sidebarOver = open;
    else void this.settings.set({ sidebar_open: open });
  }

  setWide(wide: boolean): void {
    this.#wide = wide;
    if (wide) this.setDock(true);
  }

  setDock(open: boolean, tab?: DockTab): void {
    this.#dockShut = !open;
    if (!open) this.#wide = false;
    if (this.width < dockClosedUnder) this.dockOver = open;
    else if (open !== this.settings.now.dock_open) void this.settings.set({ dock_open: open });
    if (tab && tab !== this.settings.now.dock_tab) void this.settings.set({ dock_tab: tab });
  }

  /** What lies over the conversation gives way to it. */
  uncover(): void {
    if (this.sidebarFloats) this.sidebarOver = false;
    if (this.dockFloats) this.dockOver = false; // which is not to say that the person closed it
    this.#wide = false;
  }

  /** Something needs the person: the dock opens next to the conversation, unless they have closed it. */
  offerDock(tab: DockTab): void {
    if (!this.dockOpen && !this.dockFloats && !this.#dockShut) this.setDock(true, tab);
  }

  dragSidebar(width: number): void {
    this.#sidebarDrag = clamp(width, sidebarRange.min, sidebarRange.max);
  }

  dragDock(width: number): void {
    this.#dockDrag = clamp(width, dockRange.min, dockRange.max);
  }

  /** The drag ended: the width is saved. */
  dropped(): void {
    if (this.#sidebarDrag) void this.settings.set({ sidebar_width: this.#sidebarDrag });
    if (this.#dockDrag) void this.settings.set({ dock_width: this.#dockDrag });
    this.#sidebarDrag = 0;
    this.#dockDrag = 0;
  }
}
