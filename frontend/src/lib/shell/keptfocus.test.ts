import { expect, test } from "vitest";
import { KeptFocus } from "./keptfocus";

test("an element that is moved keeps the keyboard; one that was left for nothing does not get it back", async () => {
  let wrote = 0;
  const end = new KeptFocus(() => wrote++).watch();
  const list = document.createElement("ul");
  list.innerHTML = "<li><button>one</button></li><li><button>two</button></li>";
  document.body.append(list);
  const told = () => new Promise((resolve) => setTimeout(resolve));
  const row = list.lastElementChild as HTMLElement;
  const button = row.querySelector("button");
  button?.focus();
  list.prepend(row);
  await told();
  expect(document.activeElement).toBe(button);
  button?.blur();
  await told();
  list.append(row);
  await told();
  expect([document.activeElement, wrote]).toEqual([document.body, 0]);
  list.remove();
  end();
});
