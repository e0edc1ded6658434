import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { until } from "../testing";
import Select from "./Select.svelte";

globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

const long = `openrouter/${"a-very-long-name-".repeat(6)}`;
const choices = ["Anthropic", "A compatible server", long].map((label) => ({
  value: label.toLowerCase(),
  label,
}));

/** A control under its label, and what was chosen with it. */
function shown(more: { disabled?: boolean } = {}) {
  const label = document.createElement("label");
  label.htmlFor = "provider";
  label.textContent = "Provider";
  document.body.append(label);
  const chosen: string[] = [];
  const control = mount(Select, {
    target: document.body,
    props: {
      id: "provider",
      value: "anthropic",
      choices,
      ...more,
      onchange: (value: string) => chosen.push(value),
    },
  });
  flushSync();
  const button = label.control as HTMLButtonElement;
  const press = (...keys: string[]) => {
    for (const key of keys) {
      button.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      flushSync();
    }
  };
  const options = () => [...document.querySelectorAll("[role=option]")];
  const marked = () => document.querySelector("[role=option][data-highlighted]")?.textContent;
  const close = async () => {
    await unmount(control);
    label.remove();
  };
  return { button, chosen, press, options, marked, close };
}

test("a choice is a control of our own, opened, walked and taken by keys", async () => {
  const { button, chosen, press, options, marked, close } = shown();
  expect([button.getAttribute("role"), button.textContent?.trim()]).toEqual(["combobox", "Anthropic"]);
  press("ArrowDown");
  expect(button.getAttribute("aria-expanded")).toBe("true");
  expect(options().map((o) => o.getAttribute("title"))).toEqual(choices.map((c) => c.label));
  await until("the chosen one to be marked", () => marked()?.trim() === "Anthropic");
  press("ArrowDown", "ArrowDown", "ArrowUp");
  expect(marked()?.trim()).toBe("A compatible server");
  press("Enter");
  expect(chosen).toEqual(["a compatible server"]);
  expect(button.getAttribute("aria-expanded")).toBe("false");
  await close();
});

test("letters open a choice at what begins with them, spaces too, and Esc takes nothing", async () => {
  const { button, chosen, press, marked, close } = shown();
  press(..."a comp");
  expect(button.getAttribute("aria-expanded")).toBe("true");
  expect(marked()?.trim()).toBe("A compatible server");
  expect(chosen).toEqual([]);
  press("Escape");
  await until("the list to close", () => button.getAttribute("aria-expanded") === "false");
  expect(chosen).toEqual([]);
  press("o", "Enter");
  expect(chosen).toEqual([long.toLowerCase()]);
  await close();
});

test("a choice that is not to be changed opens by nothing", async () => {
  const { button, options, close } = shown({ disabled: true });
  button.focus();
  button.click();
  flushSync();
  expect([document.activeElement === button, options()]).toEqual([false, []]);
  await close();
});
