import { expect, test, vi } from "vitest";
import { decorate } from "./decorate";
import { drawDiagrams } from "./draw";

vi.mock("./draw", () => ({ drawDiagrams: vi.fn(() => Promise.resolve()) }));

test("a diagram is drawn anew in other colours, and not when they are set as they are", async () => {
  const { dataset } = document.documentElement;
  const drawn = async () => {
    await new Promise((resolve) => setTimeout(resolve));
    return vi.mocked(drawDiagrams).mock.calls.length;
  };
  Object.assign(dataset, { theme: "light", contrast: "" });
  const block = document.createElement("div");
  block.innerHTML = '<pre class="mermaid">graph TD; a-->b</pre>';
  const end = decorate(block);
  expect(await drawn()).toBe(1);
  Object.assign(dataset, { theme: "light", contrast: "" });
  expect(await drawn()).toBe(1);
  dataset.theme = "dark";
  expect(await drawn()).toBe(2);
  dataset.contrast = "more";
  expect(await drawn()).toBe(3);
  end();
  dataset.theme = "light";
  expect(await drawn()).toBe(3);
});
