import { expect, it } from "vitest";
import { slug } from "./slug";

it.each([
  ["My Tool", "my_tool"],
  ["word-count", "word_count"],
  ["WordCount", "word_count"],
  ["  Crème brûlée! ", "creme_brulee"],
  ["3d printer", "tool_3d_printer"],
  ["../../etc/passwd", "etc_passwd"],
  ["погода", ""],
  ["42", ""],
  ["", ""],
  ["a".repeat(90), "a".repeat(48)],
])("the file of “%s” is “%s”", (name, file) => {
  expect(slug(name)).toBe(file);
});
