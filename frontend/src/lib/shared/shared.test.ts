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

  const media = (id: string) => ({ id, name: "Library: emma.md", mime_type: "text/markdown", size: 9, lost: "" });

  it("is kept fresh where its plugin tells of changes, and read again only when a person says so", async () => {
    let reading = 0;
    fake.shared.AttachResource = async () => [media(`m${++reading}`)];
    fake.shared.Watchable = async () => true;
    fake.shared.Watch = async () => `w${reading}`;
    const ended: string[] = [];
    fake.shared.Unwatch = async (watch) => void ended.push(watch);
    fake.shared.Watches = async () => [{ id: `w${reading}`, state: "quiet" }];
    await app.fresh.attach("library", "book://1", "Emma");
    const first = app.fresh.of("m1");
    if (!first) throw new Error("it cannot be kept fresh");
    expect(first.fresh).toBe(false);
    await app.fresh.keep(first, true);
    expect([first.fresh, first.state]).toEqual([true, "quiet"]);
    fake.shared.Watches = async () => [{ id: "w1", state: "changed" }];
    fake.bus.changed("watches");
    await until("the change", () => first.state === "changed");
    expect([reading, app.composer.attachments.length]).toEqual([1, 1]);
    fake.shared.Watch = async () => "w2";
    fake.shared.Watches = async () => [{ id: "w2", state: "quiet" }];
    await app.fresh.readAgain(first);
    expect(app.composer.attachments.map((a) => a.media?.id)).toEqual(["m2"]);
    expect(app.fresh.of("m2")?.fresh).toBe(true);
    expect(ended).toEqual(["w1"]);
    // Its plugin was stopped.
    fake.shared.Watches = async () => [];
    fake.bus.changed("watches");
    await until("the end", () => app.fresh.of("m2")?.state === "ended");
    expect(app.fresh.of("m2")?.fresh).toBe(false);
  });

  it("is watched no longer once it was taken away or sent, and stays as it was when it cannot be read again", async () => {
    fake.shared.AttachResource = async () => [media("m1")];
    fake.shared.Watchable = async () => true;
    fake.shared.Watch = async () => "w1";
    const ended: string[] = [];
    fake.shared.Unwatch = async (watch) => void ended.push(watch);
    fake.shared.Watches = async () => [{ id: "w1", state: "changed" }];
    await app.fresh.attach("library", "book://1", "Emma");
    const source = app.fresh.of("m1");
    if (!source) throw new Error("it cannot be kept fresh");
    await app.fresh.keep(source, true);
    fake.shared.AttachResource = () => Promise.reject(new Error("The library is closed."));
    await expect(app.fresh.readAgain(source)).rejects.toThrow("The library is closed.");
    expect([app.fresh.of("m1"), source.state]).toEqual([source, "changed"]);
    app.detach(app.composer.attachments[0]?.key ?? 0, "emma.md");
    await until("no watch", () => !source.fresh);
    expect(ended, "that of the try, and its own").toEqual(["w1", "w1"]);
  });

  it("is not looked for in a command with arguments, or an address", () => {
    for (const text of ["/tool price {}", "mail me@lib.example", "a/b"])
      expect(app.shared.suggestions(text)).toEqual([]);
  });
});
