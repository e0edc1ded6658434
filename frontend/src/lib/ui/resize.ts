/**
 * WebKitGTK (seen in 2.50.6) may tell a ResizeObserver that an element which was
 * just inserted is 0 by 0, before it has been laid out. A virtual list takes that
 * for the element's size and shows nothing. Such entries are dropped here: the true
 * size comes with the next frame. Importing this file installs the remedy; it can
 * go once the window shows a conversation without it (e2e/program.mjs looks).
 */

/** Whether an entry reports no size although its element has one. */
export function untrue(entry: Pick<ResizeObserverEntry, "contentRect" | "target">): boolean {
  const { width, height } = entry.contentRect;
  if (width !== 0 || height !== 0) return false;
  const box = entry.target.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

/** A ResizeObserver that keeps untrue entries from its callback. */
export function truthful(Native: typeof ResizeObserver): typeof ResizeObserver {
  return class extends Native {
    constructor(callback: ResizeObserverCallback) {
      super((entries, observer) => {
        const kept = entries.filter((entry) => !untrue(entry));
        if (kept.length > 0) callback(kept, observer);
      });
    }
  };
}

if (typeof ResizeObserver !== "undefined") {
  globalThis.ResizeObserver = truthful(ResizeObserver);
}
