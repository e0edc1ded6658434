import { flushSync, mount, unmount } from "svelte";
import { expect, test, vi } from "vitest";
import { inApp } from "../app.svelte";
import { AppError } from "../bridge/calls";
import type { Fake } from "../bridge/fake";
import { Scene } from "../bridge/fake/scene";
import type { Connection, Model, ModelList } from "../bridge/generated";
import SidebarFoot from "../chat/SidebarFoot.svelte";
import { commands } from "../shell/commands";
import { s } from "../strings";
import { startApp, until } from "../testing";
import { bestGuess } from "./models.svelte";

const known = new Scene("chat").of<ModelList>("Models.List");

/** A connection like the recorded one. */
const connection = (name: string, change: Partial<Connection>) =>
  ({ ...known.connections.at(-1), name, ...change }) as Connection;

/** A model like the recorded one. */
const model = (connection: string, id: string, title: string, change: Partial<Model> = {}) => {
  const name = `${connection}/${id}`;
  return { ...known.models.at(-1), name, connection, id, title, ...change } as Model;
};

test("a setting holds at once, and goes back when it could not be kept", async () => {
  const { app, fake } = await startApp();
  const kept = app.settings.set({ theme: "dark" });
  expect(app.settings.tone).toBe("dark");
  await kept;
  fake.settings.Set = async () => {
    throw new AppError({ kind: "unavailable", message: "The disk is full." });
  };
  await app.settings.set({ theme: "light" });
  expect(app.settings.tone).toBe("dark");
  expect(app.toasts.list.at(-1)?.text).toBe("The disk is full.");
  app.close();
});

test("a setting stays as it was changed last, whatever was asked before is answered then", async () => {
  const { app, fake } = await startApp();
  const { Get, Set } = fake.settings;
  const answers: (() => void)[] = [];
  const later = () => new Promise<void>((answer) => answers.push(answer));
  fake.settings.Get = async () => {
    const then = await Get.call(fake.settings);
    await later();
    return then;
  };
  await app.settings.set({ dock_open: false });
  fake.bus.changed("settings"); // it is asked what is kept
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  await app.settings.set({ dock_open: true });
  answers[0]?.(); // with what was kept before
  await new Promise((over) => setTimeout(over));
  expect(app.settings.now.dock_open).toBe(true);

  const sent: object[] = [];
  fake.settings.Set = async (patch) => {
    sent.push(patch);
    await later();
    return Set.call(fake.settings, patch);
  };
  const changes = [
    app.settings.set({ dock_open: false }),
    app.settings.set({ dock_open: true }),
    app.settings.set({ theme: "dark" }),
  ];
  for (let i = 1; i <= changes.length; i++) {
    await vi.waitFor(() => expect(sent).toHaveLength(i)); // each behind the one before it
    expect([app.settings.now.dock_open, app.settings.tone]).toEqual([true, "dark"]);
    answers.at(-1)?.();
    await changes[i - 1];
  }
  expect((await Get.call(fake.settings)).dock_open).toBe(true);
  app.close();
});

test("high contrast keeps the system's tone", async () => {
  const { app } = await startApp();
  app.settings.systemDark = true;
  await app.settings.set({ theme: "contrast" });
  expect([app.settings.tone, app.settings.contrast]).toEqual(["dark", true]);
  app.close();
});

test("the provider is guessed from the most particular shape of a key, and several that fit alike are all said", async () => {
  const { app } = await startApp();
  const guessed = (key: string) => app.models.guesses(key).map((p) => p.id);
  expect(guessed("sk-ant-abc")).toEqual(["anthropic"]);
  expect(guessed(" sk-abc")).toEqual(["openai"]);
  expect(guessed("AIzaXYZ")).toEqual(["google"]);
  expect(guessed("hello")).toEqual([]);
  expect(guessed("")).toEqual([]);
  const [first, second] = app.models.providers;
  if (!first || !second) throw new Error("no providers");
  app.models.providers = [first, second].map((p) => ({ ...p, key_shapes: ["^sk-[0-9a-f]{32}$", "^sk-"] }));
  expect(guessed(`sk-${"0a".repeat(16)}`)).toEqual([first.id, second.id]);
  app.close();
});

/** A server that answers with models; a bad key is refused. */
function answering(fake: Fake) {
  const { models } = fake;
  models.Save = async (_existing, edit, anyway) => {
    const name = edit.title.toLowerCase();
    const refused = edit.key.includes("bad");
    const problem = { kind: "provider", message: "It did not accept the key.", hint: "", detail: "", ref: "" } as const;
    if (refused && !anyway) return { name: "", problem };
    models.connections = [...models.connections, connection(name, { state: refused ? "failed" : "ok" })];
    if (!refused)
      models.models = [
        ...models.models,
        model(name, "large", `${edit.title} Large`, { vision: true, context_tokens: 200_000 }),
        model(name, "small", `${edit.title} Small`),
      ];
    return { name, problem: null };
  };
  models.SetDefault = async (name) => void (models.default = name);
}

const edit = {
  kind: "openai",
  name: "",
  title: "Mine",
  url: "https://m.example.org/v1",
  key: "sk-1",
  models: [],
};

test("the first connection that answers becomes the default", async () => {
  const { app, fake } = await startApp("welcome");
  answering(fake);
  const bad = { ...edit, title: "Bad", key: "sk-bad" };
  expect((await app.models.save(bad)).problem?.message).toBe("It did not accept the key.");
  expect(app.models.connected).toBe(false); // what never worked is kept on request alone
  await app.models.save(bad, "", true);
  expect(fake.given("Models.Test")).toEqual([["bad"]]);
  expect(app.models.default).toBe("demo/guide");
  await app.models.save(edit);
  expect(app.models.default).toBe("mine/large");
  expect(app.models.connected).toBe(true);
  await app.models.save({ ...edit, title: "Other" });
  expect(app.models.default).toBe("mine/large");
  app.close();
});

test("the first default is a guess that is said, and never a model that is a trial or calls no tools", async () => {
  const { app, fake } = await startApp("welcome");
  answering(fake);
  const m = (id: string, change = {}) => model("c", id, id, { tools: true, ...change });
  expect(bestGuess([])).toBeUndefined();
  expect(
    bestGuess([m("a-base", { tools: false }), m("b-preview"), m("c-nano"), m("d", { vision: true }), m("e")])?.id,
  ).toBe("d");
  expect(bestGuess([m("x", { context_tokens: 8000 }), m("y", { context_tokens: 200_000 })])?.id).toBe("y");
  await app.models.save(edit);
  const toast = app.toasts.list.at(-1);
  expect(toast?.text).toBe("New chats now use Mine Large.");
  toast?.action?.run();
  expect(app.page).toBe("models");
  app.close();
});

test("a person corrects what a model can do", async () => {
  const { app, fake } = await startApp();
  const small = app.models.models.find((m) => m.id === "maple-small");
  if (!small) throw new Error("no model");
  await app.models.setFeatures(small, { vision: true });
  expect(fake.given("Models.SetFeatures")).toEqual([["lab/maple-small", true, true, false]]);
  app.close();
});

test("the foot of the chats tells of the model that the open chat asks, and how its server is", async () => {
  const { app, fake } = await startApp();
  fake.models.models = [...fake.models.models, model("home", "talker", "Talker")];
  fake.models.connections = [...fake.models.connections, connection("home", { state: "failed" })];
  await app.models.open();
  app.keys.commands = commands(app);
  const target = document.body.appendChild(document.createElement("div"));
  const foot = mount(SidebarFoot, { target, context: inApp(app) });
  const says = () => target.querySelector(".server")?.textContent?.trim();
  const dot = () => target.querySelector<HTMLElement>(".dot")?.dataset.state;
  await until("the default model", () => says() === s.sidebar.modelOk("Maple Large"));

  const chat = app.chat?.id ?? "";
  fake.chats.of(chat).chat.model = "home/talker";
  fake.bus.changed("chat", chat);
  await until("the chat's model", () => app.chat?.chat?.model === "home/talker");
  flushSync();
  expect([says(), dot()]).toEqual([s.sidebar.modelFailed("Talker"), "failed"]);
  await app.newChat();
  flushSync();
  expect([says(), dot()]).toEqual([s.sidebar.modelOk("Maple Large"), "ok"]);
  app.composer.model = "home/talker";
  flushSync();
  expect(says()).toBe(s.sidebar.modelFailed("Talker"));
  await unmount(foot);
  target.remove();
  app.close();
});

test("a file of keys is opened by its passphrase, and a wrong one is said", async () => {
  const { app, fake } = await startApp("welcome");
  fake.models.locked = true;
  fake.models.Unlock = async (passphrase) => {
    if (passphrase === "wrong") throw new AppError({ kind: "not_allowed", message: "No." });
    fake.models.locked = false;
  };
  await app.models.open();
  expect(app.models.locked).toBe(true);
  await expect(app.models.unlock("wrong")).rejects.toMatchObject({ kind: "not_allowed" });
  expect(app.models.locked).toBe(true);
  await app.models.unlock("right");
  expect(app.models.locked).toBe(false);
  app.close();
});

test("local servers are looked for only when asked, and one press uses one", async () => {
  const { app, fake } = await startApp("welcome");
  answering(fake);
  expect(app.models.local).toBeNull();
  await app.models.scan();
  const server = app.models.local?.[0];
  if (!server) throw new Error("no server");
  await app.models.use(server);
  expect(app.models.local?.[0]?.connection).toBe("ollama");
  expect(app.models.default).toBe("ollama/large");
  app.close();
});
