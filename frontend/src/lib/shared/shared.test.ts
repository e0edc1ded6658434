import { beforeEach, describe, expect, it } from "vitest";
import type { App } from "../app.svelte";
import type { Fake } from "../bridge/fake";
import { startApp, until } from "../testing";

describe("what plugins share", () => {
  let fake: Fake;
  let app: App;

  beforeEach(async () => {
    ({ app, fake } = await startApp());
    fake.shared.begin();
    await app.settle();
  });

  const titles = () => app.shared.suggestions(app.composer.text).map((one) => one.title);

  it("is offered under / by name, and a prompt without values goes into the message", async () => {
    fake.shared.Fill = async () => ({ text: "Review my week.", attachments: [] });
    app.composer.changed("/week", 5);
    await until("prompts", () => titles().length === 1);
    expect(titles()).toEqual(["Weekly review"]);
    app.shared.suggestions("/week")[0]?.choose();
    await until("the text", () => app.composer.text === "Review my week.");
    expect(fake.given("Chats.Send")).toEqual([]);
  });

  it("asks for the values of a prompt that has some", async () => {
    app.composer.changed("/summ", 5);
    await until("prompts", () => titles().length === 1);
    app.shared.suggestions("/summ")[0]?.choose();
    expect(app.shared.filling?.name).toBe("summary");
    expect(app.composer.text).toBe("");
  });

  it("is attached by @plugin:name, which leaves the text", async () => {
    const media = { id: "m1", name: "Library: emma.md", mime_type: "text/markdown", size: 9, lost: "" };
    const asked: unknown[] = [];
    fake.shared.AttachResource = async (...args) => {
      asked.push(args);
      return [media];
    };
    app.composer.changed("Read @lib:em", 12);
    await until("resources", () => titles().length === 1);
    app.shared.suggestions(app.composer.text)[0]?.choose();
    await until("the attachment", () => app.composer.attachments.length === 1);
    expect(asked).toEqual([["library", "book://1", "Emma"]]);
    expect(app.composer.text).toBe("Read ");
  });

  it("is not looked for in a command with arguments, or an address", () => {
    for (const text of ["/tool price {}", "mail me@lib.example", "a/b"])
      expect(app.shared.suggestions(text)).toEqual([]);
  });
});
