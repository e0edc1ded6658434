import { expect, test, vi } from "vitest";
import { App } from "./lib/app.svelte";
import { fakeBridge } from "./lib/bridge/fake";

test("the window is mounted after the list and the open chat, and asks for the rest once it is drawn", async () => {
  const fake = fakeBridge({ scene: "chat" });
  const rest = [
    vi.spyOn(fake.plugins, "List"),
    vi.spyOn(fake.tools, "List"),
    vi.spyOn(fake.permissions, "Requests"),
    vi.spyOn(fake.models, "List"),
  ];
  const list = vi.spyOn(fake.chats, "List");
  const app = new App(fake, await fake.window.Hello());
  await app.start();
  expect(list).toHaveBeenCalled();
  expect(app.chat?.outline.length).toBeGreaterThan(0);
  for (const call of rest) expect(call).not.toHaveBeenCalled();
  await app.settle();
  for (const call of rest) expect(call).toHaveBeenCalled();
  expect(app.tools.tools.length).toBeGreaterThan(0);
  app.close();
});
