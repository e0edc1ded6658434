import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { inApp } from "../app.svelte";
import { startApp } from "../testing";
import ConnectionForm from "./ConnectionForm.svelte";
import UnlockKeys from "./UnlockKeys.svelte";

function write(field: Element | undefined, value: string) {
  if (!(field instanceof HTMLInputElement)) throw new Error("no field");
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}

test("a passphrase is chosen by its rule, repeated, and said to be lost when forgotten", async () => {
  const { app } = await startApp();
  app.models.keysFresh = true;
  const form = mount(UnlockKeys, { target: document.body, context: inApp(app) });
  flushSync();
  const [first, again] = document.querySelectorAll("input[type=password]");
  const use = () => document.querySelector<HTMLButtonElement>(".btn.primary")?.disabled;
  expect(document.body.textContent).toMatch(/at least 8 characters/i);
  expect(document.body.textContent).toMatch(/no way to recover/i);
  write(first, "short");
  write(again, "short");
  expect(use()).toBe(true);
  write(first, "long enough");
  expect(document.querySelector("[role=status]")?.textContent).toBeTruthy();
  expect(use()).toBe(true);
  write(again, "long enough");
  expect(use()).toBe(false);
  await unmount(form);
  app.close();
});

test("the key's field keeps the focus while a passphrase appears beside it", async () => {
  const { app } = await startApp();
  app.models.locked = true;
  app.models.keysFresh = true;
  const provider = app.models.providers.find((p) => p.needs_key);
  if (!provider) throw new Error("no provider with a key");
  const form = mount(ConnectionForm, {
    target: document.body,
    props: { onclose: () => undefined },
    context: inApp(app),
  });
  flushSync();
  const key = [...document.querySelectorAll("input")].find((i) => i.id.endsWith("-key"));
  key?.focus();
  write(key, "sk-0123456789");
  expect(document.querySelectorAll("input[type=password]").length).toBeGreaterThan(1);
  expect(document.activeElement).toBe(key);
  await unmount(form);
  app.close();
});
