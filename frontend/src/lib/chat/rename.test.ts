import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { inApp } from "../app.svelte";
import { startApp } from "../testing";
import RenameField from "./RenameField.svelte";

test("a title that is being written is kept when its field goes, and once", async () => {
  const { app, fake } = await startApp();
  for (const leave of [false, true]) {
    let over = 0;
    const field = mount(RenameField, {
      target: document.body,
      props: { chat: { id: "chat-1", title: "Lyon" }, ondone: () => over++ },
      context: inApp(app),
    });
    flushSync();
    const input = document.querySelector("input") as HTMLInputElement;
    input.value = "Lyon again";
    if (leave) input.blur();
    await unmount(field);
    expect(over).toBe(1);
  }
  const renamed = ["chat-1", "Lyon again"];
  expect(fake.given("Chats.Rename")).toEqual([renamed, renamed]);
  app.close();
});
