import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { listed } from "./arguments";
import Arguments from "./Arguments.svelte";
import { summary } from "./summary";

test("numbers are listed as they are written", () => {
  const json = '{"id":12345678901234567,"deep":{"ids":[1.0,12345678901234568]},"text":"12345678901234567 \\" 1.0"}';
  expect(listed(json)?.rows.map((row) => row.value)).toEqual([
    "12345678901234567",
    '{\n  "ids": [\n    1.0,\n    12345678901234568\n  ]\n}',
    '12345678901234567 " 1.0',
  ]);
  expect(summary('{"id":12345678901234567,"of":[12345678901234568]}')).toBe(
    "id: 12345678901234567, of: [12345678901234568]",
  );
});

test("a name that stands twice is listed twice, within other arguments too", () => {
  const json = '{"path":"a","Path":"b","path" : "c","in":{"x":1,"y":"}","x":[2,{"x":3}]},"":0,"":1,"path":7}';
  const rows = listed(json)?.rows ?? [];
  expect(rows.map((row) => `${row.label} = ${row.value.replace(/\s+/g, " ")}`)).toEqual([
    "Path = a",
    "Path = b",
    "Path (repeated, 2) = c",
    'In = { "x": 1, "y": "}", "x" (repeated, 2): [ 2, { "x": 3 } ] }',
    " = 0",
    " (repeated, 2) = 1",
    "Path (repeated, 3) = 7",
  ]);
  expect(summary('{"path":"a","path":"b"}')).toBe("path: a, path (repeated, 2): b");
});

test("arguments are labels and values, and none is left out", () => {
  expect(
    listed('{"due_date":"Tuesday\\nnoon","page_url":"x","tags":["a","b"],"deep":{"x":1},"n":2,"no":null}'),
  ).toEqual({
    rows: [
      { label: "Due date", value: "Tuesday\nnoon", rest: "" },
      { label: "Page URL", value: "x", rest: "" },
      { label: "Tags", value: '[\n  "a",\n  "b"\n]', rest: "" },
      { label: "Deep", value: '{\n  "x": 1\n}', rest: "" },
      { label: "N", value: "2", rest: "" },
      { label: "No", value: "null", rest: "" },
    ],
    count: 6,
  });
  expect(listed("")).toEqual({ rows: [], count: 0 });
  expect(listed("[1]")).toBeNull();
  expect(listed("{ broken")).toBeNull();
  const big = listed(
    JSON.stringify({
      ["wide ".repeat(100)]: "x".repeat(2000) + "/end",
      ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`more_${i}`, i])),
    }),
  );
  expect([big?.rows[0]?.label.length, big?.rows[0]?.value.length, big?.rows[0]?.rest]).toEqual([60, 2000, "/end"]);
  expect([big?.rows.length, big?.count]).toEqual([41, 41]);
  expect(big?.rows[40]).toEqual({ label: "More 39", value: "39", rest: "" });
  const huge = listed(JSON.stringify(Object.fromEntries(Array.from({ length: 203 }, (_, i) => [`more_${i}`, i]))));
  expect(huge?.rows[200]).toEqual({
    label: "3 more arguments",
    value: "more_200: 200\nmore_201: 201\nmore_202: 202",
    rest: "",
  });
  expect([huge?.rows.length, huge?.count]).toEqual([201, 203]);
});

test("a long value is read to its end, and how long it is is said", async () => {
  const json = JSON.stringify({ path: `/tmp/${"a/".repeat(1000)}id_rsa`, mode: "r" });
  const target = document.createElement("div");
  const box = mount(Arguments, { target, props: { label: "What it is given", json } });
  flushSync();
  const shown = () => target.querySelector("dd")?.textContent?.replace(/\s+/g, " ").trim();
  const button = target.querySelector("button");
  expect(target.querySelectorAll("button").length).toBe(1);
  expect([button?.textContent, button?.ariaExpanded ?? button?.getAttribute("aria-expanded")]).toEqual([
    "Show all 2,011 characters",
    "false",
  ]);
  expect(shown()).not.toContain("id_rsa");
  button?.click();
  flushSync();
  expect(shown()).toMatch(/^\/tmp\/(a\/){1000}id_rsaShow less$/);
  await unmount(box);
});
