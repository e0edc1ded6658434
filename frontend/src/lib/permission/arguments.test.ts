import { expect, test } from "vitest";
import { listed } from "./arguments";
import { summary } from "./summary";

test("numbers are listed as they are written", () => {
  const json =
    '{"id":12345678901234567,"deep":{"ids":[1.0,12345678901234568]},"text":"12345678901234567 \\" 1.0"}';
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
  const json =
    '{"path":"a","Path":"b","path" : "c","in":{"x":1,"y":"}","x":[2,{"x":3}]},"":0,"":1,"path":7}';
  const rows = listed(json)?.rows ?? [];
  expect(rows.map((row) => `${row.label} = ${row.value.replace(/\s+/g, " ")}`)).toEqual([
    "Path = a",
    "Path = b",
    "Path (written again, 2) = c",
    'In = { "x": 1, "y": "}", "x" (written again, 2): [ 2, { "x": 3 } ] }',
    " = 0",
    " (written again, 2) = 1",
    "Path (written again, 3) = 7",
  ]);
  expect(summary('{"path":"a","path":"b"}')).toBe("path: a, path (written again, 2): b");
});

test("arguments are labels and values, and what is left out is said", () => {
  expect(
    listed(
      '{"due_date":"Tuesday\\nnoon","page_url":"x","tags":["a","b"],"deep":{"x":1},"n":2,"no":null}',
    ),
  ).toEqual({
    rows: [
      { label: "Due date", value: "Tuesday\nnoon", cut: 0 },
      { label: "Page URL", value: "x", cut: 0 },
      { label: "Tags", value: '[\n  "a",\n  "b"\n]', cut: 0 },
      { label: "Deep", value: '{\n  "x": 1\n}', cut: 0 },
      { label: "N", value: "2", cut: 0 },
      { label: "No", value: "null", cut: 0 },
    ],
    more: 0,
  });
  expect(listed("")).toEqual({ rows: [], more: 0 });
  expect(listed("[1]")).toBeNull();
  expect(listed("{ broken")).toBeNull();
  const big = listed(
    JSON.stringify({
      ["wide ".repeat(100)]: "x".repeat(2001),
      ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`more_${i}`, i])),
    }),
  );
  expect([big?.rows[0]?.label.length, big?.rows[0]?.value.length, big?.rows[0]?.cut]).toEqual([
    60, 2000, 1,
  ]);
  expect([big?.rows.length, big?.more]).toEqual([12, 29]);
});
