import { beforeEach, describe, expect, it } from "vitest";
import type { App } from "../app.svelte";
import type { Fake } from "../bridge/fake";
import type { Outgoing } from "../bridge/generated";
import { startApp, until } from "../testing";

describe("the context of the model", () => {
  let fake: Fake;
  let app: App;
  const message = (text = ""): Outgoing => ({ text, attachments: [], model: "", no_tools: false });
  const chat = () => app.chat?.id ?? "";

  beforeEach(async () => {
    ({ app, fake } = await startApp());
  });

  async function measured(change: Partial<Fake["context"]["fill"]>) {
    fake.context.fill = { ...fake.context.fill, ...change };
    app.context.measure(chat(), message());
    await until("the count", () => app.context.fill === fake.context.fill);
  }

  it("is shown in parts, in percent of what the model reads", async () => {
    await measured({ window: 10_000, system: 500, tools: 0, turns: 2_000, draft: 0, used: 2_500 });
    expect(app.context.percent).toBe(25);
    expect(app.context.parts).toEqual([
      { key: "system", tokens: 500, share: 5 },
      { key: "turns", tokens: 2_000, share: 20 },
    ]);
  });

  it("has no percentage where the model's size is not known", async () => {
    await measured({ window: 0, used: 2_500 });
    expect(app.context.percent).toBeNull();
    expect(app.context.tooLong).toBe(false);
  });

  it("is not shown for a chat that was left", async () => {
    await measured({ from: 5, left: 4 });
    expect(app.context.begins(chat())).toBe(5);
    app.context.measure("", message());
    expect(app.context.fill).toBeNull();
    expect(app.context.begins(chat())).toBe(0);
  });

  it("is counted again once its beginning is summed up, and shows where it begins", async () => {
    await measured({ from: 5, left: 4 });
    const [first = 0] = app.chat?.outline ?? [];
    const summed = { text: "They met.", messages: 4, upto: 4, model: "M", created: "" };
    fake.context.Summarize = async () => {
      fake.context.fill = { ...fake.context.fill, from: first, left: 0, summed };
    };
    const done = app.context.sumUp();
    expect(app.context.sums).toBe(true);
    await done;
    expect(app.context.sums).toBe(false);
    expect(app.context.fill?.summed).toEqual(summed);
    expect(app.chat?.target.seq).toBe(first);
  });

  it("offers to take the removal of a summary back", async () => {
    await measured({ summed: { text: "They met.", messages: 4, upto: 4, model: "M", created: "" } });
    fake.context.Forget = async () => ({ token: "t", sentence: "Removed the summary." });
    await app.context.forget();
    expect(app.canUndo).toBe(true);
  });
});
