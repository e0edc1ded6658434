import { mount, unmount } from "svelte";
import { beforeEach, describe, expect, it } from "vitest";
import { App, inApp } from "../app.svelte";
import { AppError } from "../bridge/calls";
import { fakeBridge, type Fake } from "../bridge/fake";
import { until } from "../testing";
import QuestionCard from "./QuestionCard.svelte";
import { start } from "./questions.svelte";

globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

describe("questions of plugins", () => {
  let fake: Fake;
  let app: App;

  beforeEach(async () => {
    fake = fakeBridge({ scene: "chat" });
    app = new App(fake, fake.hello);
    await app.start();
    await app.settle();
    fake.questions.ask(app.chat?.id ?? "");
    await until("a question", () => app.questions.all.length === 1);
  });

  const question = () => {
    const [first] = app.questions.of(app.chat?.id ?? "");
    if (!first) throw new Error("there is no question");
    return first;
  };

  it("begin with their defaults", () => {
    const { values } = app.questions.written(question());
    expect(values).toMatchObject({ name: "", seats: "2", quiet: true, class: "2", extras: [] });
    expect(question().fields.map(start)).toEqual(Object.values(values));
  });

  it("stay with what was written and what is wrong, until that is changed", async () => {
    fake.questions.Answer = async () => [{ field: "name", message: "This is needed." }];
    app.questions.write(question(), "seats", "3");
    expect(await app.questions.answer(question(), "accept")).toBe(false);
    expect(app.questions.written(question())).toMatchObject({
      values: { seats: "3" },
      wrong: [{ field: "name", message: "This is needed." }],
    });
    app.questions.write(question(), "name", "Ada");
    expect(app.questions.written(question()).wrong).toEqual([]);
  });

  it("send nothing that was written when declined", async () => {
    const sent: unknown[] = [];
    fake.questions.Answer = async (...args) => {
      sent.push(args);
      fake.questions.waiting = [];
      return [];
    };
    app.questions.write(question(), "name", "Ada");
    expect(await app.questions.answer(question(), "decline")).toBe(true);
    expect(sent).toEqual([["question-1", "decline", {}]]);
    expect(app.questions.all).toEqual([]);
  });

  it("are not sent by a press on a switch", async () => {
    let sent = 0;
    fake.questions.Answer = async () => {
      sent++;
      return [];
    };
    const target = document.createElement("div");
    document.body.append(target);
    const card = mount(QuestionCard, { target, props: { question: question() }, context: inApp(app) });
    target.querySelector<HTMLButtonElement>("button[role=switch]")?.click();
    expect(app.questions.written(question()).values.quiet).toBe(false);
    await app.settle();
    expect(sent).toBe(0);
    await unmount(card);
    target.remove();
  });

  it("go when they were settled elsewhere", async () => {
    fake.questions.Answer = async () => {
      fake.questions.waiting = [];
      throw new AppError({ kind: "conflict", message: "This question was settled already." });
    };
    expect(await app.questions.answer(question(), "accept")).toBe(true);
    expect(app.questions.all).toEqual([]);
  });
});
