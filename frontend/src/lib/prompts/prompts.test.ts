import { expect, test } from "vitest";
import type { OwnPrompt } from "../bridge/generated";
import { startApp, until } from "../testing";

const letter: OwnPrompt = {
  id: "1",
  title: "Letter",
  text: "Write to {{name}}.",
  places: [{ name: "name", kind: "text", choices: [] }],
};

test("own prompts stand under / before those of servers, and what is filled in goes into the message", async () => {
  const { app, fake } = await startApp();
  fake.shared.begin();
  await app.shared.refresh();
  fake.prompts.own = [letter, { ...letter, id: "2", title: "Weekly plan", text: "Plan my week.", places: [] }];
  const titles = () => app.shared.suggestions(app.composer.text).map((one) => one.title);
  app.composer.changed("/week", 5);
  await until("the prompts", () => titles().length === 2);
  expect(titles()).toEqual(["Weekly plan", "Weekly review"]);
  app.shared.suggestions("/week")[0]?.choose();
  await until("the text", () => app.composer.text === "Plan my week.");

  app.composer.changed("/lett", 5);
  app.shared.suggestions("/lett")[0]?.choose();
  expect(app.prompts.filling).toEqual(letter);
  await app.prompts.fill(letter, { name: "Ada" });
  expect([app.composer.text, app.prompts.filling]).toEqual(["Write to Ada.", null]);
  expect(fake.given("Chats.Send")).toEqual([]);
  app.close();
});

test("a deleted prompt can be had back", async () => {
  const { app, fake } = await startApp();
  fake.prompts.own = [letter];
  await app.prompts.refresh();
  fake.prompts.Delete = async () => {
    fake.prompts.own = [];
    return { token: "t", sentence: "Deleted." };
  };
  fake.window.Undo = async () => void (fake.prompts.own = [letter]);
  await app.prompts.remove(letter);
  expect(app.prompts.own).toEqual([]);
  await app.undo();
  expect(app.prompts.own).toEqual([letter]);
  app.close();
});
