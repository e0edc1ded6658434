import { expect, it } from "vitest";
import { places } from "./marks";

it("words are found in any case, and across the elements they are in", () => {
  const root = document.createElement("div");
  root.innerHTML = "<p>The <b>Quick</b> brown fox</p><p>is quick br<i>own</i>, QUICK</p>";
  const found = (words: string) => places(root, words).map(String);
  expect(found("quick")).toEqual(["Quick", "quick", "QUICK"]);
  expect(found("quick brown")).toEqual(["Quick brown", "quick brown"]);
  expect(found("nothing")).toEqual([]);
  expect(found("")).toEqual([]);
  root.innerHTML = "a".repeat(2000);
  expect(found("a").length).toBe(500);
});
