/**
 * Keeps the keyboard where it was when the element that had it goes: a row that is removed or moved,
 * a field that is done with, a button that is disabled while it works. Without this it would be at
 * the top of the page.
 */

/** What takes the focus in place of something in it. */
const places = "li, section, form, [tabindex], [data-region]";

const enables = (change: MutationRecord, held: Element): boolean =>
  change.type === "attributes" && change.target === held;

/** It, or what it is in, was put elsewhere in the page. */
const moves = (change: MutationRecord, held: Element): boolean =>
  [...change.removedNodes].some((gone) => gone.contains(held));

export class KeptFocus {
  /** What took the focus because something in it went, until the focus goes elsewhere. */
  place: Element | null = null;

  #held: Element | null = null;
  /** What it is in, the nearest first. */
  #around: HTMLElement[] = [];

  /** write leads to where one writes, for what was in no place or in the composer. */
  constructor(private write: () => void) {}

  /** Watches the page until the function returned is called. */
  watch(): () => void {
    const changes = new MutationObserver(this.#look);
    changes.observe(document.body, {
      subtree: true,
      childList: true,
      attributeFilter: ["disabled"],
    });
    document.addEventListener("focusin", this.#taken);
    document.addEventListener("focusout", this.#left);
    return () => {
      changes.disconnect();
      document.removeEventListener("focusin", this.#taken);
      document.removeEventListener("focusout", this.#left);
    };
  }

  #taken = ({ target }: Event): void => {
    if (!(target instanceof Element)) return;
    if (target !== this.place) this.place = null;
    this.#held = target;
    this.#around = [];
    for (let e = target.parentElement; e; e = e.parentElement) if (e.matches(places)) this.#around.push(e);
  };

  // A press on nothing is meant to remove the focus. An element that is removed or disabled may look
  // the same at first: #look, which also runs in a microtask, decides before. An element that is
  // removed because the focus is on its way elsewhere must not call it back.
  #left = (event: FocusEvent): void => {
    if (event.relatedTarget) {
      this.#held = null;
      return;
    }
    queueMicrotask(() =>
      queueMicrotask(() => {
        const held = this.#held;
        const wanted = held?.isConnected && document.activeElement !== held;
        if (wanted && !held.matches(":disabled")) this.#held = null;
      }),
    );
  };

  // While an answer streams this is called for every piece of it, so that the first line ends it.
  #look = (changes: MutationRecord[]): void => {
    const held = this.#held;
    if (!held || (document.activeElement ?? document.body) !== document.body) return;
    if (!held.isConnected) this.#keep();
    else if (held instanceof HTMLElement && changes.some((c) => enables(c, held) || moves(c, held)))
      held.focus({ preventScroll: true });
  };

  #keep(): void {
    this.#held = null;
    const place = this.#around.find((e) => e.isConnected && e.getClientRects().length > 0);
    if (!place || place.matches("form.composer, body")) {
      this.write();
      return;
    }
    if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
    this.place = place;
    place.focus({ preventScroll: true });
  }
}
