/** Helpers for tests of state: the app on the fake program, and a way to wait. */
import { App } from "./app.svelte";
import { fakeBridge, type Fake } from "./bridge/fake";

/** A started app on a scene. close it when done. */
export async function startApp(scene = "chat"): Promise<{ app: App; fake: Fake }> {
  const fake = fakeBridge({ scene });
  const app = new App(fake, await fake.window.Hello());
  await app.start();
  await app.settle();
  return { app, fake };
}

/** How long anything is waited for, in ms: only a hang ends a wait. */
const patience = 120_000;

/** Resolves once what is asked holds; rejects after two minutes with what it was waited for. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + patience;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`waited ${patience} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
