import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { grow } from "./grow";

interface Step {
  before: string;
  after: string;
  same: number;
}

// What app/chat/render sends of open blocks; its test makes sure that the file is true.
const file = join(import.meta.dirname, "../../../../app/chat/render/testdata/seams.json");
const steps = Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, Step>);

Range.prototype.getClientRects = () => [] as unknown as DOMRectList; // jsdom lays nothing out

it.each(steps)("a %s that app/chat/render sends is added to", (_, { before, after, same }) => {
  expect(after.slice(0, same)).toBe(before.slice(0, same));
  const element = document.createElement("div");
  element.innerHTML = before;
  const kept = element.firstElementChild?.firstElementChild;
  expect(grow(element, before, after)).toBe(true);
  const whole = document.createElement("div");
  whole.innerHTML = after;
  expect(element.textContent).toBe(whole.textContent);
  expect(element.firstElementChild?.firstElementChild).toBe(kept);
});
