import { describe, expect, test } from "vitest";
import { startApp } from "../testing";
import { collect, readForm, since, type Field } from "./form";

const schema = JSON.stringify({
  type: "object",
  properties: {
    loose: { type: "string", default: "x" },
    g: {
      type: "object",
      title: "通用",
      properties: {
        count: { type: "integer", title: "数量", minimum: 1, maximum: 5, default: 3 },
        level: { enum: [1, 2], default: 1 },
        on: { type: "boolean" },
        words: { type: "array", items: { type: "string" }, default: ["a"] },
        modes: { type: "array", items: { enum: ["a", "b"] } },
        rows: { type: "array", items: { type: "object" } },
        note: { type: "string", format: "textarea" },
        key: { type: "string", format: "password" },
      },
    },
  },
});

describe("the form of a plugin's settings", () => {
  test("MB18 has sections in their order, and a control for each kind", () => {
    const form = readForm(schema, '{"g":{"count":4}}', ["g.key"]);
    expect(form.sections.map((one) => one.title)).toEqual(["", "通用"]);
    const fields = form.sections.flatMap((one) => one.fields);
    const of = (what: (field: Field) => unknown) => fields.map(what);
    expect(of((one) => one.kind)).toEqual(
      ["text", "number", "choice", "switch", "list", "choices", "json", "long", "secret"], // prettier-ignore
    );
    expect(of((one) => one.start)).toEqual(["x", "4", "1", false, "a", [], "", "", ""]);
    expect(fields[1]).toMatchObject({ title: "数量", min: 1, max: 5, whole: true });
    expect(fields[8]).toMatchObject({ kept: true });
  });

  test("gives back what was changed, as what it was, beside what was set", () => {
    const form = readForm(schema, '{"g":{"count":4},"kept":1}', ["g.key"]);
    const made = collect(form, {
      "g.count": "5",
      "g.level": "2",
      "g.on": true,
      "g.words": " 茶 \n\nb",
      "g.modes": ["b"],
      "g.rows": '[{"a":1}]',
      "g.key": null,
    });
    expect(JSON.parse("values" in made ? made.values : "")).toEqual({
      kept: 1,
      g: {
        count: 5,
        level: 2,
        on: true,
        words: ["茶", "b"],
        modes: ["b"],
        rows: [{ a: 1 }],
        key: null,
      },
    });
    expect(collect(form, { "g.key": "" })).toEqual({ values: '{"g":{"count":4},"kept":1}' });
  });

  test("MB17 says which field is no number or no JSON", () => {
    const form = readForm(schema, "{}", []);
    expect(collect(form, { "g.count": "" })).toEqual({ wrong: "数量 is not a number." });
    expect(collect(form, { "g.rows": "[" })).toEqual({ wrong: "rows is not valid JSON." });
  });

  test("is saved as it was changed", async () => {
    const { app, fake } = await startApp("settings");
    const { schema, values, secrets } = await app.bridge.plugins.Settings("weather");
    const form = readForm(schema, values, secrets);
    const made = collect(form, { "forecast.days": "3" });
    await app.bridge.plugins.SetSettings("weather", "values" in made ? made.values : "");
    expect(fake.given("Plugins.SetSettings")).toEqual([["weather", '{"forecast":{"days":3}}']]);
    app.close();
  });
});

test("what is typed while other changes are kept stays", () => {
  const kept = { days: "3", places: ["Oslo"], unit: "celsius" };
  const changes = { days: "4", places: ["Oslo"], unit: "celsius", alerts: false };
  expect(since(changes, kept)).toEqual({ days: "4", alerts: false });
});
