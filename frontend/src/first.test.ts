// The first frame of index.html is written by hand, before any script: here it is
// held to the words and colours of the window that follows it.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { takeAway, watch } from "./first";
import { s } from "./lib/strings";

const page = new DOMParser().parseFromString(readFileSync("index.html", "utf8"), "text/html");
const style = page.querySelector("style")?.textContent ?? "";
const tokens = readFileSync("src/styles/tokens.css", "utf8");

test("the first frame says what the window says", () => {
  const words = [...page.querySelectorAll("#first *")]
    .filter((element) => element.childElementCount === 0 && element.textContent)
    .map((element) => element.textContent);
  expect(words).toEqual([s.sidebar.newChat, s.sidebar.search]);
  const field = page.querySelector<HTMLTextAreaElement>("#first textarea");
  expect([field?.placeholder, field?.getAttribute("aria-label")]).toEqual([s.composer.placeholder, s.composer.label]);
});

test("a chat that is chosen in the first frame is opened once the window is loaded", () => {
  document.body.innerHTML =
    '<div id="first"><div class="rows"><p class="current" data-chat="a">A</p><p data-chat="b">B</p></div><textarea>x</textarea></div>';
  watch();
  document.querySelector<HTMLElement>("[data-chat=b]")?.click();
  expect(document.querySelector("#first .current")?.textContent).toBe("B");
  expect(takeAway()).toEqual({ text: "x", cursor: 0, chat: "b", key: null });
  expect(document.getElementById("first")).toBeNull();
});

test("a shortcut that is pressed in the first frame is handed over", () => {
  document.body.innerHTML = '<div id="first"><textarea></textarea></div>';
  watch();
  const press = (init: KeyboardEventInit) => document.dispatchEvent(new KeyboardEvent("keydown", init));
  press({ key: ",", ctrlKey: true });
  press({ key: "Control", ctrlKey: true });
  press({ key: "a" });
  const { key } = takeAway();
  expect([key?.key, key?.ctrlKey]).toEqual([",", true]);
});

test("the first frame is dark in the colours of the dark theme", () => {
  const dark = tokens.slice(tokens.indexOf('[data-theme="dark"]'));
  const colours = [...style.matchAll(/(--[\w-]+): (#[0-9a-f]+);/g)];
  expect(colours.length).toBeGreaterThan(5);
  for (const [line] of colours) expect(dark).toContain(line);
});

test("a screen reader reads the field of the first frame alone", () => {
  const read = [...page.querySelectorAll("#first *")].filter((element) => !element.closest("[aria-hidden=true]"));
  expect(read.map((element) => element.className)).toEqual(["centre", "bar", "write"]);
});
