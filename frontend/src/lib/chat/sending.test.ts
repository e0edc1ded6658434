import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { inApp } from "../app.svelte";
import type { Link } from "../bridge/generated";
import AddPlugin from "../plugins/AddPlugin.svelte";
import Palette from "../shell/Palette.svelte";
import { startApp, until } from "../testing";

test("the own message stands in the conversation until the program has it, and not in another chat", async () => {
  const { app, fake } = await startApp();
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  const send = fake.chats.Send.bind(fake.chats);
  fake.chats.Send = async (...args) => {
    await held;
    return send(...args);
  };
  app.composer.changed("And now?", 8);
  const sent = app.send();
  expect(app.outgoing?.text).toBe("And now?");
  await app.newChat();
  expect(app.outgoing).toBeNull();
  go();
  await sent;
  expect(app.outgoing).toBeNull();
  app.close();
});

test("a message that was not sent is back in the field alone", async () => {
  const { app, fake } = await startApp();
  fake.chats.Send = async () => {
    throw new Error("No.");
  };
  app.composer.changed("And now?", 8);
  await app.send();
  expect([app.outgoing, app.composer.text]).toEqual([null, "And now?"]);
  app.close();
});

test("earlier questions come into the field one after the other, and what was written comes back", async () => {
  const { app } = await startApp();
  const { chat, composer, recall } = app;
  const asked = (chat?.outline ?? []).filter((seq) => chat?.held(seq)?.head.role === "user");
  const texts = await Promise.all(asked.reverse().map((seq) => chat?.source(seq)));
  expect(texts.length).toBeGreaterThan(0);
  composer.changed("half", 4);
  for (const text of texts) {
    await recall.step(-1);
    expect([composer.text, recall.looks]).toEqual([text, true]);
  }
  await recall.step(-1);
  expect(composer.text).toBe(texts.at(-1)); // there is none before
  for (let i = 0; i < texts.length; i++) await recall.step(1);
  expect(composer.text).toBe("half");
  await recall.step(-1);
  composer.changed(`${composer.text}!`, 0);
  expect(recall.looks).toBe(false); // one writes on
  app.close();
});

test("what was typed before the palette had the keyboard is in its field", async () => {
  const { app } = await startApp();
  app.palette = true;
  app.early = "dar";
  const target = document.body.appendChild(document.createElement("div"));
  const palette = mount(Palette, { target, context: inApp(app) });
  flushSync();
  const field = () => document.querySelector<HTMLInputElement>(".palette input");
  await until("the words", () => field()?.value === "dar");
  app.early = "k";
  flushSync();
  expect(field()?.value).toBe("dark");
  await unmount(palette);
  app.close();
});

test("links fill in a message or a plugin's address, and send and install nothing", async () => {
  const { app, fake } = await startApp();
  const link = { text: "", model: "", address: "", hidden: 0, refused: null };
  const arrive = async (links: Link[]) => {
    fake.window.Links = async () => links.splice(0);
    fake.bus.changed("links");
    await until("the links", () => links.length === 0);
  };
  await arrive([{ ...link, kind: "ask", text: "From afar", model: "moon/large", hidden: 2 }]);
  await until("the text", () => app.composer.text === "From afar");
  expect([app.chat, app.composer.linked, app.composer.model]).toEqual([null, { hidden: 2 }, ""]);
  expect(app.toasts.list.map((toast) => toast.text).join()).toContain("moon/large");
  await arrive([{ ...link, kind: "ask", text: "More", model: app.models.default }]);
  await until("more text", () => app.composer.text === "From afar\n\nMore");
  expect(app.composer.model).toBe(app.models.default);
  app.composer.changed("", 0);
  expect(app.composer.linked).toBeNull();

  await arrive([{ ...link, kind: "plugin", address: "https://example.org/a.git" }]);
  await until("the dialog", () => app.addPlugin);
  const target = document.body.appendChild(document.createElement("div"));
  const dialog = mount(AddPlugin, { target, context: inApp(app) });
  flushSync();
  const field = () => document.querySelector<HTMLInputElement>("input.field")?.value;
  expect([field(), document.body.textContent]).toEqual([
    "https://example.org/a.git",
    expect.stringContaining("from a link"),
  ]);
  await arrive([{ ...link, kind: "plugin", address: "https://example.org/b.git" }]);
  await until("the notice", () => app.toasts.list.some((toast) => toast.text.includes("another plugin")));
  expect(field()).toBe("https://example.org/a.git");
  expect([...fake.given("Chats.Send"), ...fake.given("Plugins.Add")]).toEqual([]);
  await unmount(dialog);
  app.close();
});
