import { flushSync, mount, unmount } from "svelte";
import { afterEach, expect, test, vi } from "vitest";
import { App, inApp } from "../app.svelte";
import { AppError } from "../bridge/calls";
import { startApp, until } from "../testing";
import ChatRow from "./ChatRow.svelte";
import { newTemporary } from "./temporary";

afterEach(() => localStorage.clear());

test("50,000 chats are laid out from their groups, and rows come by page", async () => {
  const { app, fake } = await startApp("manychats");
  const { chats } = app;
  expect(chats.total).toBe(50_000);
  const rows = chats.lines.filter((line) => "row" in line).length;
  expect(rows).toBe(50_000);
  expect(chats.lines[0]).toMatchObject({ heading: "pinned" });
  expect(chats.row(30_000)).toBeUndefined();
  chats.need(30_000);
  await until("the page", () => chats.row(30_000) !== undefined);
  const asked = await fake.chats.List({ text: "", archived: false, projects: false }, 30_000, 1);
  expect(chats.row(30_000)?.id).toBe(asked.rows[0]?.id);
  app.close();
});

test("below the heading of a day rows have the time alone, elsewhere the day", async () => {
  const { app } = await startApp();
  const { chats } = app;
  chats.groups = [
    { key: "pinned", count: 1 },
    { key: "2026-11-27", count: 1 },
    { key: "2026-10", count: 1 },
  ];
  const days = chats.lines.flatMap((line) => ("row" in line ? [line.day] : []));
  expect(days).toEqual([false, true, false]);
  app.close();
});

test("a temporary chat takes along what was written, and who leaves it hears that it is deleted", async () => {
  const { app, fake } = await startApp();
  await app.newChat();
  const made = fake.chats.add("", new Date(), { temporary: true });
  fake.scene.acts["Transfer.Temporary"] = made.chat.id;
  app.composer.put("Between us: ");
  void newTemporary(app);
  await until("the chat", () => app.chat?.chat?.temporary === true && app.composer.text === "Between us: ");
  fake.chats.say(made, "user", []);
  fake.bus.changed("chat", made.chat.id);
  await until("the message", () => app.chat?.empty === false);
  await app.newChat();
  expect(app.composer.text).toBe("");
  expect(app.status).toBe("The temporary chat was deleted.");
  expect(fake.given("Chats.Seen").slice(-2)).toEqual([[made.chat.id], [""]]);
  app.close();
});

test("what is written and sent while a temporary chat is being made goes into it, and nowhere if it cannot be", async () => {
  const { app, fake } = await startApp();
  const before = app.chat?.id ?? "";
  const made = fake.chats.add("", new Date(), { temporary: true });
  const sends: unknown[] = [];
  const { Send } = fake.chats;
  fake.chats.Send = (to, message) => {
    sends.push([to, message.text]);
    return Send.call(fake.chats, to, message);
  };
  const asked: { resolve: (id: string) => void; reject: (why: Error) => void }[] = [];
  fake.transfer.Temporary = () => new Promise((resolve, reject) => asked.push({ resolve, reject }));
  void newTemporary(app);
  app.composer.changed("Between us", 10);
  const sent = app.send();
  await until("the call", () => asked.length === 1);
  asked[0]?.resolve(made.chat.id);
  await sent;
  expect(sends).toEqual([[made.chat.id, "Between us"]]);
  await until("the chat", () => app.chat?.id === made.chat.id);
  expect((await fake.chats.Draft(before)).text + (await fake.chats.Draft("")).text).not.toContain("Between us");

  await app.newChat();
  void newTemporary(app);
  app.composer.changed("Off the record", 14);
  const kept = app.send();
  await until("the second call", () => asked.length === 2);
  asked[1]?.reject(new AppError({ kind: "unavailable", message: "There is no model." }));
  await kept;
  await until("the sentence", () => app.toasts.list.some(({ text }) => text.includes("There is no model.")));
  expect(sends).toHaveLength(1);
  expect(app.composer.text).toBe("Off the record");
  app.close();
});

test("a second chat makes tabs, which are walked, closed and there at the next start, without chats that are gone", async () => {
  const { app, fake } = await startApp();
  const first = app.chat?.id ?? "";
  const [second = "", third = ""] = [...fake.chats.all.keys()].filter((id) => id !== first);
  const { tabs } = app;
  expect(tabs.ids).toEqual([]);
  tabs.open(second);
  tabs.open(second);
  expect([tabs.ids, app.chat?.id]).toEqual([[first, second], first]);
  expect(tabs.title(second)).toBe(fake.chats.of(second).chat.title);
  await tabs.walk(-1);
  expect(app.chat?.id).toBe(second);
  await app.openChat(third);
  expect(tabs.ids).toEqual([first, third]);
  tabs.open(second);
  app.close();

  const again = new App(fake, { ...fake.hello, open_chat: third });
  expect(again.tabs.ids).toEqual([first, third, second]);
  const draft = fake.chats.Draft.bind(fake.chats);
  fake.chats.Draft = async (id) => {
    if (id === second) throw new AppError({ kind: "not_found", message: "There is no such chat." });
    return draft(id);
  };
  await again.start();
  await again.settle();
  await until("the chat that is gone to leave", () => again.tabs.ids.length === 2);
  await again.tabs.close();
  expect([again.tabs.ids, again.chat?.id]).toEqual([[], first]);
  again.close();
});

test("a temporary chat leaves its tab when it is left", async () => {
  const { app, fake } = await startApp();
  const first = app.chat?.id ?? "";
  const made = fake.chats.add("", new Date(), { temporary: true });
  const [other = ""] = [...fake.chats.all.keys()].filter((id) => id !== first);
  app.tabs.open(other);
  await app.tabs.walk(1);
  await app.openChat(made.chat.id);
  expect(app.tabs.ids).toEqual([first, made.chat.id]);
  app.tabs.open(other);
  await app.tabs.walk(1);
  expect([app.tabs.ids, app.chat?.id]).toEqual([[first, other], other]);
  app.close();
});

test("a search that was overtaken does not show", async () => {
  const { app } = await startApp();
  const first = app.chats.search("tomatoes");
  const second = app.chats.search("Lyon");
  await Promise.all([first, second]);
  await until("the second result", () => app.chats.row(0)?.title === "Trip to Lyon");
  expect(app.chats.total).toBe(1);
  app.close();
});

test("a search asks once, and the rows before it stay until its answer is there", async () => {
  const { app, fake } = await startApp();
  const list = vi.spyOn(fake.chats, "List");
  const before = app.chats.row(0)?.title;
  const search = app.chats.search("Lyon");
  app.chats.need(0);
  expect(app.chats.row(0)?.title).toBe(before);
  await search;
  expect(app.chats.row(0)?.title).toBe("Trip to Lyon");
  expect(list).toHaveBeenCalledOnce();
  app.close();
});

test("a list that a newer one overtook is asked for again", async () => {
  const { app, fake } = await startApp("manychats");
  const list = fake.chats.List.bind(fake.chats);
  let old = false;
  fake.chats.List = async (...of) => {
    const now = await list(...of);
    const [revision, rows] = old ? [7, []] : [8, now.rows];
    old = false;
    return { ...now, revision, rows };
  };
  await app.chats.open();
  old = true;
  app.chats.need(30_000);
  await until("its row", () => app.chats.row(30_000) !== undefined);
  app.close();
});

test("who writes elsewhere while a chat opens is left there", async () => {
  const { app, fake } = await startApp();
  const draft = fake.chats.Draft.bind(fake.chats);
  let go = () => {};
  fake.chats.Draft = async (id) => {
    await new Promise<void>((resolve) => (go = resolve));
    return draft(id);
  };
  const title = document.createElement("input");
  document.body.append(title);
  const [first = "", second = ""] = [...fake.chats.all.keys()].filter((id) => id !== app.chat?.id);
  const opened = async (id: string, meanwhile: () => void) => {
    const [before, nothing] = [app.wish.composer, (go = () => {})];
    const opening = app.openChat(id);
    await until("the draft to be asked for", () => go !== nothing);
    meanwhile();
    go();
    await opening;
    return app.wish.composer - before;
  };
  expect(await opened(first, () => title.focus())).toBe(0);
  title.blur();
  expect(await opened(second, () => {})).toBe(1);
  title.remove();
  app.close();
});

test("a search says how far it has come, and its answer is renewed by itself", async () => {
  const { app, fake } = await startApp();
  fake.chats.searched = 40;
  await app.chats.search("nobody wrote this");
  expect(app.chats.total).toBe(0);
  expect(app.chats.searched).toBe(40);
  const [found] = fake.chats.all.values();
  if (!found) throw new Error("no chat");
  found.chat.title = "nobody wrote this until now";
  fake.chats.searched = 100;
  fake.bus.changed("chats", "");
  await until("the new answer", () => app.chats.total === 1);
  expect(app.chats.searched).toBe(100);
  app.close();
});

test("the menu of a chat closes when another chat moves into its row", async () => {
  const { app, fake } = await startApp();
  const row = mount(ChatRow, { target: document.body, props: { index: 0, day: true }, context: inApp(app) });
  flushSync();
  document.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click();
  await until("the menu", () => document.querySelector("[role=menu]") !== null);
  fake.chats.all.delete(app.chats.row(0)?.id ?? "");
  fake.bus.changed("chats");
  await until("no menu", () => document.querySelector("[role=menu]") === null);
  expect(document.querySelector("[aria-expanded=true]")).toBeNull();
  await unmount(row);
  app.close();
});

test("a chat that is archived comes back with undo, and one that cannot be stays open", async () => {
  const { app, fake } = await startApp();
  const id = app.chat?.id ?? "";
  const { total } = app.chats;
  fake.chats.SetArchived = () => Promise.reject(new Error("The store is read-only."));
  await app.archiveChat(id, true);
  expect(app.chat?.id).toBe(id);
  expect(app.canUndo).toBe(false);
  fake.chats.SetArchived = async (of, archived) => {
    const { chat } = fake.chats.of(of);
    if (chat) chat.archived = archived;
    fake.bus.changed("chats");
  };
  await app.archiveChat(id, true);
  await until("one fewer", () => app.chats.total === total - 1);
  await app.undo();
  await until("all again", () => app.chats.total === total);
  await app.archiveChat(id, false);
  await app.undo();
  await until("one fewer again", () => app.chats.total === total - 1);
  app.close();
});

test("a deleted chat leaves the list at once and comes back with undo", async () => {
  const { app, fake } = await startApp();
  const before = app.chats.total;
  const id = app.chat?.id ?? "";
  const chat = fake.chats.of(id);
  fake.chats.Delete = async () => {
    fake.chats.all.delete(id);
    fake.bus.changed("chats");
    return { token: "back", sentence: "It was deleted." };
  };
  fake.window.Undo = async (token) => {
    expect(token).toBe("back");
    fake.chats.all.set(id, chat);
    fake.bus.changed("chats");
  };
  await app.deleteChat(id);
  expect(app.chat).toBeNull();
  await until("one fewer", () => app.chats.total === before - 1);
  expect(app.toasts.list.at(-1)?.text).toContain("was deleted");
  await app.undo();
  await until("all again", () => app.chats.total === before);
  expect(app.canUndo).toBe(false);
  app.close();
});
