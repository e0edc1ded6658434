import { flushSync, mount, unmount } from "svelte";
import { describe, expect, test, vi } from "vitest";
import { inApp } from "../app.svelte";
import type { Entry, Pull, Want } from "../bridge/generated";
import { escape } from "../shell/escape";
import { s } from "../strings";
import { startApp, until } from "../testing";
import EditMessage from "./EditMessage.svelte";
import FindBar from "./FindBar.svelte";
import type { Edit } from "./edits.svelte";
import { EntryView } from "./entry.svelte";

function entry(change: Partial<Entry>): Entry {
  return {
    seq: 1,
    whole: true,
    role: "assistant",
    turn: "",
    model: "M",
    state: "streaming",
    reason: "",
    error: null,
    created: "",
    ended: "",
    hidden: false,
    can_go_on: false,
    ms: 0,
    siblings: [],
    other_branch: 0,
    words: 0,
    usage: null,
    part_count: 1,
    parts: [],
    ...change,
  };
}

const text = (blocks: [number, string, boolean][], count = blocks.length) => ({
  index: 0,
  kind: "text" as const,
  ms: 0,
  done: false,
  call: null,
  media: null,
  block_count: count,
  blocks: blocks.map(([index, html, done]) => ({ index, html, keep: 0, done })),
});

describe("a streaming message", () => {
  test("a patch touches only the blocks it names", () => {
    const view = new EntryView(
      entry({
        parts: [
          text([
            [0, "<p>a</p>", true],
            [1, "<p>b", false],
          ]),
        ],
      }),
    );
    const first = view.parts[0]?.blocks[0];
    const fresh = view.take(
      entry({
        whole: false,
        parts: [
          text(
            [
              [1, "<p>bc</p>", true],
              [2, "<p>d", false],
            ],
            3,
          ),
        ],
      }),
    );
    expect(fresh).toBe(1);
    expect(view.parts[0]?.blocks[0]).toBe(first);
    expect(view.parts[0]?.blocks.map((b) => b.html)).toEqual(["<p>a</p>", "<p>bc</p>", "<p>d"]);
  });

  test("what is not pulled is asked for, and what it is added to must be there", () => {
    const view = new EntryView(entry({ parts: [text([[3, "<p>d", false]], 4)] }));
    expect(view.wants(0, 3)).toEqual([{ seq: 1, part: 0, from: 0, to: 3 }]);
    expect(view.wants(3, Infinity)).toEqual([]);
    const more = (index: number, html: string, keep: number, whole = false) =>
      view.take(entry({ whole, parts: [{ ...text([], 4), blocks: [{ index, html, keep, done: false }] }] }));
    more(3, "e", 4);
    more(2, "added", 4); // to something that is not here
    expect(view.parts[0]?.blocks.map((b) => b.html)).toEqual(["", "", "", "<p>de"]);
    // All may have changed, and is shown until it comes.
    more(2, "<p>c</p>", 0, true);
    expect(view.parts[0]?.blocks.map((b) => b.html)).toEqual(["", "", "<p>c</p>", "<p>de"]);
    expect(view.wants(2, Infinity)).toEqual([{ seq: 1, part: 0, from: 3, to: 4 }]);
    more(3, "<p>new</p>", 0);
    expect(view.wants(2, Infinity)).toEqual([]);
  });

  test("rows are where what was measured and guessed puts them", () => {
    const view = new EntryView(entry({ part_count: 2, parts: [text([[0, "a", true]], 3)] }));
    expect(view.rows).toBe(3);
    view.measure(1, [100, 20]);
    const [first, second] = [view.topOf(1), view.topOf(2)];
    expect(second - first).toBe(100);
    expect(view.height).toBe(second + 20);
    expect(view.rowAt(second - 1)).toBe(1);
    expect(view.rowAt(second)).toBe(2);
    expect(view.rowAt(1e9)).toBe(2);
    expect(view.rowOf({ part: 0, block: 2 })).toBe(2);
  });

  test("blocks and parts that are no longer there go away", () => {
    const view = new EntryView(
      entry({
        parts: [
          text([
            [0, "a", true],
            [1, "b", true],
          ]),
        ],
      }),
    );
    view.take(entry({ parts: [text([[0, "x", true]], 1)] }));
    expect(view.parts[0]?.blocks.map((b) => b.html)).toEqual(["x"]);
    view.take(entry({ part_count: 0 }));
    expect(view.parts).toHaveLength(0);
  });
});

describe("an open chat", () => {
  const opened = async (scene: string) => {
    const { app, fake } = await startApp(scene);
    if (!app.chat) throw new Error("no chat is open");
    const there = fake.chats.of(app.chat.id);
    const answer = there.entries.at(-1);
    if (!answer) throw new Error("the scene has no answer");
    const changed = () => fake.bus.changed("chat", there.chat.id);
    return { app, fake, chat: app.chat, there, answer, changed };
  };

  test("says how an answer ended", async () => {
    const { app, chat, there, answer, changed } = await opened("streaming");
    there.status = null;
    changed();
    await until("nothing to run", () => !chat.running);
    for (const [state, status] of [
      ["complete", "Answer finished, 5 words"],
      ["stopped", "Answer stopped"],
    ] as const) {
      there.status = { turn: "t", phase: "answering", since: "", model: "M", tool: "", note: "" };
      changed();
      await until("the beginning", () => app.status === "Answer started");
      there.status = null;
      Object.assign(answer, { state, words: 5 });
      changed();
      await until("the end", () => app.status === status);
    }
    app.close();
  });

  test("an answer that came while nobody looked is below a line, until one writes or leaves", async () => {
    const { app, chat, answer } = await opened("streaming");
    app.looks(false); // while it is written
    app.looks(true);
    expect(chat.unread).toBe(answer.seq);
    app.looks(false);
    expect(chat.unread).toBe(0);
    await app.newChat();
    await app.openChat(chat.id);
    expect(app.chat?.unread).toBe(answer.seq);
    app.close();
  });

  test("holds what the program has after any loss of notices", async () => {
    const { app, fake, chat, answer, changed } = await opened("streaming");
    answer.parts = [text([[0, "<p>lost</p>", true]])];
    const off = vi.spyOn(fake.bus, "changed").mockReturnValue(2);
    changed();
    off.mockRestore();
    answer.parts = [text([[0, "<p>told</p>", true]])];
    changed();
    const held = () => chat.last?.parts.map((p) => p.blocks.map((b) => b.html)).join();
    await until("what was told", () => held() === "<p>told</p>");
    app.close();
  });

  test("opening 10,000 messages brings thirty, and more as they are wanted, asked for once", async () => {
    const { app, fake } = await startApp("long");
    const chat = app.chat;
    if (!chat) throw new Error("no chat is open");
    expect(chat.outline).toHaveLength(10_000);
    const held = () => chat.outline.filter((seq) => chat.entry(seq)).length;
    expect(held()).toBe(30);
    const asked: Want[] = [];
    const pull = fake.chats.Pull.bind(fake.chats);
    fake.chats.Pull = (id, since, wants) => {
      asked.push(...wants);
      return pull(id, since, wants);
    };
    const wants = chat.outline.slice(100, 110).map((seq) => ({ seq, part: 0, from: 0, to: 0 }));
    chat.want(wants.slice(0, 5), []);
    chat.want(wants, []);
    await until("ten more", () => held() === 40);
    expect(asked).toEqual(wants);
    app.close();
  });

  test("a splice replaces the path from its index on", async () => {
    const { app } = await startApp();
    const chat = app.chat;
    if (!chat) throw new Error("no chat is open");
    const pull: Pull = {
      conversation: chat.id,
      revision: 99,
      chat: null,
      outline: { from: 2, seqs: [7, 8] },
      entries: [],
      status: null,
      reset: false,
    };
    chat.take(pull);
    expect(chat.outline).toEqual([1, 2, 7, 8]);
    chat.take({ ...pull, revision: 50, outline: { from: 0, seqs: [] } });
    expect(chat.outline).toEqual([1, 2, 7, 8]); // an answer that was overtaken is dropped
    app.close();
  });

  test("versions are gone through one by one, and a change is what was asked for", async () => {
    const { app, fake, chat, answer } = await opened("versions");
    await chat.switchVersion(answer.seq, 1);
    expect(fake.given("Chats.SwitchVersion")).toEqual([]);
    await chat.switchVersion(answer.seq, -1);
    expect(fake.given("Chats.SwitchVersion")).toEqual([[chat.id, answer.siblings[0]]]);
    await chat.edit(answer.seq - 1, "Another question", true);
    expect(fake.given("Chats.Edit")).toEqual([[chat.id, answer.seq - 1, "Another question", true]]);
    await chat.stop();
    expect(fake.given("Chats.Stop")).toEqual([[chat.id]]);
    app.close();
  });
});

test("a message that is edited is so still when one comes back to its chat", async () => {
  const { app, fake } = await startApp("chat");
  const from = app.chat?.id ?? "";
  const seq = app.chat?.lastQuestion?.seq ?? 0;
  app.chat?.beginEdit(seq);
  if (app.chat?.edited) app.chat.edited.text = "asked better";
  await app.openChat(fake.chats.add("Another", new Date()).chat.id);
  expect(app.chat?.edited).toBeNull();
  await app.openChat(from);
  expect([app.chat?.edited?.text, app.chat?.target.seq]).toEqual(["asked better", seq]);
  await app.chat?.edit(seq, "asked better", false);
  expect(app.chat?.editing).toBe(0);
  app.close();
});

test("what was typed in a message is there when it is edited again, after Esc elsewhere or another edit", async () => {
  const { app, fake } = await startApp("chat");
  const { chat } = app;
  const [one = 0, two = 0] = chat?.outline ?? [];
  const typed = (seq: number) => {
    chat?.beginEdit(seq);
    return chat?.edited?.text ?? null;
  };
  chat?.beginEdit(one);
  chat?.edited?.begin("as it was");
  expect(chat?.edited?.changed).toBe(false);
  if (chat?.edited) chat.edited.text = "asked better";
  expect([typed(two), typed(one)]).toEqual([null, "asked better"]);
  escape(app);
  expect(chat?.edited).toBeNull();
  expect(typed(one)).toBe("asked better");
  // What is taken back, or kept, is not there again; nor is what nobody has typed.
  chat?.endEdit();
  expect(typed(one)).toBeNull();
  chat?.edited?.begin("as it was");
  expect([typed(two), typed(one)]).toEqual([null, null]);
  if (chat?.edited) chat.edited.text = "asked best";
  const kept = fake.chats.Edit.bind(fake.chats);
  fake.chats.Edit = (...edit) => {
    chat?.beginEdit(two);
    return kept(...edit);
  };
  await chat?.edit(one, "asked best", false);
  expect([chat?.editing, typed(one)]).toEqual([two, null]);
  app.close();
});

test("Esc in the field of a message that is edited keeps what was typed, as it does elsewhere", async () => {
  const { app } = await startApp("chat");
  const { chat } = app;
  const seq = chat?.lastQuestion?.seq ?? 0;
  chat?.beginEdit(seq);
  const entry = chat?.entry(seq);
  const edit = chat?.edited;
  if (!chat || !entry || !edit) throw new Error("nothing is edited");
  edit.begin("as it was");
  const target = document.body.appendChild(document.createElement("div"));
  const field = mount(EditMessage, { target, props: { chat, entry, edit }, context: inApp(app) });
  flushSync();
  edit.text = "asked better";
  flushSync();
  target.querySelector("textarea")?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  expect(chat.editing).toBe(0);
  chat.beginEdit(seq);
  expect(chat.edited?.text).toBe("asked better");
  await unmount(field);
  target.remove();
  app.close();
});

test("a message is saved once, however often that is pressed; when it could not be, again", async () => {
  const { app, fake } = await startApp("chat");
  const { chat } = app;
  const entry = chat?.lastQuestion;
  if (!chat || !entry) throw new Error("the scene has no question");
  chat.beginEdit(entry.seq);
  const edit = chat.edited;
  if (edit) edit.text = "asked better";
  const field = mount(EditMessage, {
    target: document.body,
    props: { chat, entry, edit: edit as Edit },
    context: inApp(app),
  });
  flushSync();
  let fail = () => {};
  const asked: unknown[] = [];
  fake.chats.Edit = (...edit) => {
    asked.push(edit);
    return new Promise((_, reject) => (fail = () => reject(new Error("It is locked."))));
  };
  const button = [...document.querySelectorAll("button")].find((one) => one.textContent === s.message.saveAnswer);
  button?.click();
  button?.click();
  expect(asked).toEqual([[chat.id, entry.seq, "asked better", true]]);
  fail();
  await until("it to have failed", () => edit?.saving === false);
  flushSync();
  button?.click();
  expect(asked.length).toBe(2);
  expect(chat.edited?.text).toBe("asked better");
  fail();
  await unmount(field);
  app.close();
});

test("what was typed to be found is not looked for once the bar is closed", async () => {
  const { app, fake } = await startApp("chat");
  const target = document.body.appendChild(document.createElement("div"));
  const bar = mount(FindBar, { target, context: inApp(app) });
  flushSync();
  vi.useFakeTimers();
  let looked = 0;
  const find = fake.chats.Find.bind(fake.chats);
  fake.chats.Find = (...what) => (looked++, find(...what));
  const input = target.querySelector("input") as HTMLInputElement;
  input.value = "count";
  input.dispatchEvent(new Event("input", { bubbles: true }));
  app.find.close();
  await unmount(bar);
  await vi.advanceTimersByTimeAsync(1000);
  expect([looked, app.find.words]).toEqual([0, ""]);
  vi.useRealTimers();
  target.remove();
  app.close();
});
