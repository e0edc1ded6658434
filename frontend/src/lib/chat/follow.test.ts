import { expect, test } from "vitest";
import { Follow } from "./follow.svelte";

test("it follows only while the end is in view", () => {
  const follow = new Follow();
  follow.scrolled(600, 400, 1000, 3);
  expect([follow.atEnd, follow.following]).toEqual([true, true]);
  follow.readerMovedUp();
  follow.scrolled(500, 400, 1000, 3, "reader");
  expect([follow.atEnd, follow.following]).toEqual([false, false]);
  follow.scrolled(590, 400, 1000, 3, "reader");
  expect(follow.following).toBe(true);
});

test("a reader who goes up a little and back to the end follows it again, without having left it", () => {
  const follow = new Follow();
  follow.scrolled(600, 400, 1000, 3);
  follow.readerMovedUp();
  follow.scrolled(585, 400, 1000, 3, "reader");
  expect([follow.atEnd, follow.following]).toEqual([true, false]);
  follow.scrolled(600, 400, 1000, 3, "reader");
  expect(follow.following).toBe(true);
});

test("a scroll bar dragged up stops it, text that grows or is measured anew does not", () => {
  const follow = new Follow();
  follow.scrolled(600, 400, 1000, 3);
  follow.scrolled(560, 400, 1300, 3); // not by the reader
  expect(follow.following).toBe(true);
  follow.scrolled(540, 400, 1300, 3, "somebody");
  expect(follow.following).toBe(false);
});

test("the pill counts the paragraphs that came below the view", () => {
  const follow = new Follow();
  follow.scrolled(600, 400, 1000, 3);
  follow.readerMovedUp();
  follow.scrolled(100, 400, 1000, 3);
  follow.grew(6);
  expect(follow.missed).toBe(3);
  follow.toEnd();
  expect([follow.missed, follow.following]).toEqual([0, true]);
});

test("holding a question still is not undone by the text that grows", () => {
  const follow = new Follow();
  follow.hold();
  follow.scrolled(0, 400, 400, 0, "somebody");
  follow.grew(4);
  follow.scrolled(0, 400, 900, 4);
  expect(follow.following).toBe(false);
});
