// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

// What is written from the right mirrors the window, if no rule names left or right. The middle is the same in both.
const physical =
  /(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right)\b|border-(?:top|bottom)-(?:left|right)-radius|[{;\s](?:left|right):(?! 50%;)|(?:text-align|float|clear): (?:left|right)/;

it("no style names left or right", () => {
  const found = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(css|svelte)$/.test(file))
    .map((file) => join("src", file))
    .concat("index.html")
    .flatMap((file) => {
      const text = readFileSync(file, "utf8");
      const style = file.endsWith(".css") ? text : (/<style[\s\S]*<\/style>/.exec(text)?.[0] ?? "");
      return style.split("\n").flatMap((line) => (physical.test(line) ? [`${file}: ${line.trim()}`] : []));
    });
  expect(found).toEqual([]);
});
