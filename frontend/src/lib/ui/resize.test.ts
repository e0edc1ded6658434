import { expect, test, vi } from "vitest";
import { truthful, untrue } from "./resize";

function element(width: number, height: number): Element {
  const target = document.createElement("div");
  target.getBoundingClientRect = () => new DOMRect(0, 0, width, height);
  return target;
}

function entry(said: [number, number], is: [number, number]): ResizeObserverEntry {
  const contentRect = { width: said[0], height: said[1] } as DOMRectReadOnly;
  return { contentRect, target: element(...is) } as unknown as ResizeObserverEntry;
}

globalThis.DOMRect ??= class {
  constructor(
    public x = 0,
    public y = 0,
    public width = 0,
    public height = 0,
  ) {}
} as unknown as typeof DOMRect;

test("an element that has a size is not believed to have none", () => {
  expect(untrue(entry([0, 0], [616, 80]))).toBe(true);
  expect(untrue(entry([616, 80], [616, 80]))).toBe(false);
  expect(untrue(entry([0, 0], [0, 0]))).toBe(false); // really hidden
});

test("a callback hears only what is true, and nothing when nothing is", () => {
  let tell: ResizeObserverCallback = () => {};
  function Native(callback: ResizeObserverCallback) {
    tell = callback;
  }
  const heard = vi.fn();
  const Observer = truthful(Native as unknown as typeof ResizeObserver);
  const observer = new Observer(heard);
  tell([entry([0, 0], [9, 9])], observer);
  expect(heard).not.toHaveBeenCalled();
  const real = entry([9, 9], [9, 9]);
  tell([entry([0, 0], [9, 9]), real], observer);
  expect(heard).toHaveBeenCalledExactlyOnceWith([real], observer);
});
