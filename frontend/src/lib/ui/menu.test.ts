import { createRawSnippet, flushSync, mount, unmount } from "svelte";
import { expect, it } from "vitest";
import Menu from "./Menu.svelte";
import Select from "./Select.svelte";

globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

it.each([
  [
    "a menu",
    () =>
      mount(Menu, {
        target: document.body,
        props: {
          label: "More",
          items: [{ label: "Rename", run: () => {} }],
          children: createRawSnippet(() => ({ render: () => "<span>…</span>" })),
        },
      }),
    (button: HTMLElement) => button.click(),
  ],
  [
    "a choice",
    () =>
      mount(Select, {
        target: document.body,
        props: { id: "more", value: "More", choices: [], onchange: () => {} },
      }),
    (button: HTMLElement) => button.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true })),
  ],
])("%s that is open has no hint, which would lie over what it lists", async (_, make, open) => {
  const made = make();
  flushSync();
  const button = document.querySelector("button");
  if (!button) throw new Error("there is no button");
  expect(button.title).toBe("More");
  open(button);
  flushSync();
  expect([button.getAttribute("aria-expanded"), button.title]).toEqual(["true", ""]);
  await unmount(made);
});
