import { mount, tick, unmount } from "svelte";
import { expect, test } from "vitest";
import { inApp } from "../app.svelte";
import type { Connection, Model } from "../bridge/generated";
import { startApp, until } from "../testing";
import { said } from "./asking";
import ModelMenu from "./ModelMenu.svelte";
import { headingHeight, rowHeight, rowsOf, within } from "./rows";
import { facts, price, tokens } from "./words";

const model = (name: string, more: Partial<Model> = {}): Model => ({
  name,
  connection: name.split("/")[0] as string,
  id: name.split("/").slice(1).join("/"),
  title: name.split("/").at(-1) as string,
  provider: "openai",
  default: false,
  tools: false,
  vision: false,
  reasoning: false,
  context_tokens: 0,
  price: null,
  ...more,
});
const router = Array.from({ length: 420 }, (_, i) =>
  model(`router/vendor/model-${String(i).padStart(3, "0")}-with-a-long-name`),
);
const models = [model("lab/maple", { title: "Maple Large" }), ...router];
const connections = [
  { name: "lab", title: "Lab server" },
  { name: "router", title: "OpenRouter" },
] as Connection[];
const wanted = { models, connections, text: "", favourites: [] as string[], recent: [] as string[] };

test("the rows hold every model, whatever their number, under the name of its connection", () => {
  const rows = rowsOf(wanted);
  expect(rows.filter((row) => row.kind === "model")).toHaveLength(421);
  expect(rows.flatMap((row) => (row.kind === "heading" ? [`${row.title} ${row.count}`] : []))).toEqual([
    "Lab server 1",
    "OpenRouter 420",
  ]);
  expect(rows.at(-1)?.top).toBe(2 * headingHeight + 420 * rowHeight);
  expect(within(rows, 0, 700).length).toBeLessThan(25);
  expect(within(rows, 5000, 5700)[0]?.top).toBeGreaterThan(5000 - rowHeight - 1);
});

test("favourites and what was chosen last come first, and say whose they are; a search has all models once", () => {
  const favourites = ["router/vendor/model-400-with-a-long-name", "gone/model"];
  const recent = ["lab/maple", ...favourites];
  const rows = rowsOf({ ...wanted, favourites, recent, none: true });
  expect(
    rows.slice(0, 5).map((row) => (row.kind === "heading" ? row.title : [row.model?.name, row.connection])),
  ).toEqual([
    [undefined, ""],
    "Favourites",
    ["router/vendor/model-400-with-a-long-name", "OpenRouter"],
    "Recent",
    ["lab/maple", "Lab server"],
  ]);
  const found = rowsOf({ ...wanted, favourites, recent, none: true, text: "openrouter 40" });
  expect(found.filter((row) => row.kind === "model")).toHaveLength(14);
  expect(found[0]).toMatchObject({ kind: "heading", title: "OpenRouter" });
});

test("only what is known of a model is said", () => {
  expect(facts(model("a/b"))).toBe("");
  const known = model("a/b", { context_tokens: 128_000, price: { input: 2.5, output: 10 }, vision: true });
  expect(facts(known)).toBe("128k tokens · $2.50 in, $10.00 out for a million tokens · pictures");
  expect(price({ input: 0.0375, output: 0.15 })).toBe("$0.0375 / $0.15");
  expect(price({ input: 0.05, output: 0 })).toBe("$0.05 / $0.00");
  expect(price({ input: 0, output: 0 })).toBe("free");
  expect([tokens(512), tokens(8192), tokens(1_048_576), tokens(2_000_000)]).toEqual(["512", "8k", "1.05M", "2M"]);
});

test("what is set for a chat is said, and no effort of a model that takes none", () => {
  expect(said({})).toBe("");
  expect(said({ reasoning: "high", temperature: 0, max_tokens: 4000 })).toBe("High · 0 · at most 4,000");
  expect(said({ reasoning: "high" }, { reasoning: false })).toBe("");
});

test("the picker is worked by keys alone: to the end and back, a letter, a favourite, Enter, Esc", async () => {
  const { app, fake } = await startApp("models");
  await until("the models", () => app.models.ready);
  app.models.models = models;
  app.models.connections = connections;
  let chosen = "";
  const props = { value: "lab/maple", label: "Model", onchoose: (name: string) => (chosen = name) };
  const picker = mount(ModelMenu, { target: document.body, props, context: inApp(app) });
  const button = document.querySelector("button") as HTMLElement;
  button.focus();
  const key = async (key: string, more: KeyboardEventInit = {}) => {
    document.activeElement?.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
    );
    await tick();
  };
  const field = () => document.querySelector<HTMLInputElement>('input[role="combobox"]');
  const at = () => document.getElementById(field()?.getAttribute("aria-activedescendant") ?? "");
  await key("ArrowDown");
  await until("the list", () => field() !== null);
  field()?.focus(); // the real page does it, where the field has a place
  expect(at()?.getAttribute("aria-selected")).toBe("true");
  expect(document.querySelectorAll('[role="option"]').length).toBeLessThan(30);
  expect(at()?.getAttribute("aria-setsize")).toBe("421");
  await key("End");
  expect(field()?.getAttribute("aria-activedescendant")).toMatch(/-420$/);
  await key("Home");
  await key("ArrowDown");
  await key("d", { ctrlKey: true });
  expect(app.settings.now.favourite_models).toEqual([router[0]?.name]);
  const search = field() as HTMLInputElement;
  search.value = "model-399";
  search.dispatchEvent(new InputEvent("input", { bubbles: true }));
  await tick();
  expect(document.querySelectorAll('[role="option"]')).toHaveLength(1);
  await key("Enter");
  expect(chosen).toBe(router[399]?.name);
  expect(app.settings.now.recent_models).toEqual([router[399]?.name]);
  await until("the list is gone", () => field() === null);
  expect(fake.given("Chats.SetModel")).toEqual([]);
  await unmount(picker);
  app.close();
});
