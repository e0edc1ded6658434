/** The regions that F6 steps through: elements marked data-region, in document order. */

/** Puts the focus on the next region that is on the screen, or the one before. */
export function nextRegion(step: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")].filter(
    (r) => r.getClientRects().length > 0,
  );
  if (regions.length === 0) return;
  const inside = document.activeElement?.closest<HTMLElement>("[data-region]");
  const at = inside ? regions.indexOf(inside) : step === 1 ? -1 : 0;
  const next = regions[(at + step + regions.length) % regions.length] as HTMLElement;
  const first = next.querySelector<HTMLElement>("[data-region-focus]");
  (first ?? next).focus();
}
