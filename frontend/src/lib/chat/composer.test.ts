import { flushSync, mount, tick, unmount } from "svelte";
import { expect, test, vi } from "vitest";
import { inApp } from "../app.svelte";
import { AppError } from "../bridge/calls";
import { fakeBridge, type Fake } from "../bridge/fake";
import { s } from "../strings";
import { startApp, until } from "../testing";
import Box from "./Composer.svelte";
import { Composer, longPaste } from "./composer.svelte";

function make() {
  const fake = fakeBridge();
  const errors: AppError[] = [];
  return { fake, errors, composer: new Composer(fake, (error) => errors.push(error)) };
}

test("a draft is kept shortly after the last key, with its caret, and comes back", async () => {
  vi.useFakeTimers();
  const { fake, composer } = make();
  await composer.switchTo("chat-1");
  composer.changed("half a sen", 4);
  await vi.advanceTimersByTimeAsync(299);
  expect((await fake.chats.Draft("chat-1")).text).toBe("");
  await vi.advanceTimersByTimeAsync(1);
  expect(await fake.chats.Draft("chat-1")).toEqual({
    text: "half a sen",
    cursor: 4,
    attachments: [],
    queued: [],
  });
  await composer.switchTo("chat-2");
  expect(composer.text).toBe("");
  await composer.switchTo("chat-1");
  expect([composer.text, composer.cursor]).toEqual(["half a sen", 4]);
  vi.useRealTimers();
});

test("a draft that is still being kept is there when one comes back at once", async () => {
  const { fake, composer } = make();
  const keep = fake.chats.SaveDraft.bind(fake.chats);
  const nothing = () => {};
  let kept = nothing;
  fake.chats.SaveDraft = async (id, draft) => {
    await new Promise<void>((resolve) => (kept = resolve));
    await keep(id, draft);
  };
  await composer.switchTo("chat-1");
  composer.changed("half a thought", 4);
  const away = composer.switchTo("chat-2");
  const back = composer.switchTo("chat-1");
  await until("the draft to be kept", () => kept !== nothing);
  kept();
  await Promise.all([away, back]);
  expect(composer.text).toBe("half a thought");
});

test("what is typed while the draft before it is kept stays", async () => {
  const { fake, composer } = make();
  const keep = fake.chats.SaveDraft.bind(fake.chats);
  let kept = () => {};
  fake.chats.SaveDraft = async (id, draft) => {
    await new Promise<void>((resolve) => (kept = resolve));
    await keep(id, draft);
  };
  await composer.switchTo("chat-1");
  composer.changed("one", 3);
  const switched = composer.switchTo("");
  composer.changed("two", 3);
  await Promise.resolve(); // drafts are kept one after another
  kept();
  await switched;
  expect(composer.text).toBe("two");
  expect((await fake.chats.Draft("chat-1")).text).toBe("one");
});

/** Holds the drafts that are asked for until each is let go. */
function holdDraft(fake: Fake) {
  const draft = fake.chats.Draft.bind(fake.chats);
  const held: (() => void)[] = [];
  fake.chats.Draft = async (id) => {
    const kept = await draft(id);
    await new Promise<void>((resolve) => held.push(resolve));
    return kept;
  };
  return { held, draft };
}

test("what is typed before the draft has come stays before it, and its queue is kept", async () => {
  vi.useFakeTimers();
  const { fake, composer } = make();
  const map = await fake.chats.Attach("map.png", "");
  const queued = [{ text: "later", attachments: [], no_tools: false }];
  await fake.chats.SaveDraft("chat-1", { text: "kept", cursor: 2, attachments: [map], queued });
  const { held, draft } = holdDraft(fake);
  const switched = composer.switchTo("chat-1");
  composer.changed("quickly", 3);
  await vi.advanceTimersByTimeAsync(400);
  expect((await draft("chat-1")).text).toBe("kept"); // nothing takes its place meanwhile
  held.shift()?.();
  await switched;
  expect([composer.text, composer.cursor, composer.queued]).toEqual(["quickly\n\nkept", 3, queued]);
  await composer.save();
  expect(await draft("chat-1")).toEqual({
    text: "quickly\n\nkept",
    cursor: 3,
    attachments: [map],
    queued,
  });
  vi.useRealTimers();
});

test("the caret stays where one types when the draft comes behind it", async () => {
  const { app, fake } = await startApp("chat");
  const other = fake.chats.add("Another", new Date()).chat.id;
  await fake.chats.SaveDraft(other, { text: "kept", cursor: 4, attachments: [], queued: [] });
  const target = document.createElement("div");
  document.body.append(target);
  const box = mount(Box, { target, context: inApp(app) });
  const { held } = holdDraft(fake);
  void app.composer.switchTo(other);
  flushSync();
  const area = target.querySelector("textarea") as HTMLTextAreaElement;
  await tick(); // what leads one to the composer as it is mounted
  area.focus();
  area.value = "quick";
  area.setSelectionRange(5, 5);
  area.dispatchEvent(new Event("input", { bubbles: true }));
  await until("the draft to be asked for", () => held.length > 0);
  held.shift()?.();
  await until("it to come", () => area.value === "quick\n\nkept");
  await tick();
  expect([area.selectionStart, area.selectionEnd]).toEqual([5, 5]);
  await unmount(box);
  app.close();
});

test("what is sent or left before the draft has come costs it nothing", async () => {
  const { fake, composer } = make();
  const queued = [{ text: "later", attachments: [], no_tools: false }];
  await fake.chats.SaveDraft("chat-1", { text: "kept", cursor: 4, attachments: [], queued });
  const { held, draft } = holdDraft(fake);
  const come = async (what: Promise<unknown>) => {
    await until("a draft to be asked for", () => held.length > 0);
    held.shift()?.();
    await what;
  };
  const first = composer.switchTo("chat-1");
  composer.changed("hello", 5);
  const sent = composer.send();
  await come(first);
  expect((await sent)?.conversation).toBe("chat-1");
  expect([composer.text, composer.queued]).toEqual(["kept", queued]);

  await come(composer.switchTo("chat-2"));
  const again = composer.switchTo("chat-1");
  composer.changed("more", 4);
  await until("it to be asked for", () => held.length > 0);
  const away = composer.switchTo("chat-2");
  held.shift()?.();
  await again;
  expect(composer.text).toBe("");
  await come(Promise.resolve()); // what was kept of the first, to be kept behind what was typed
  await come(away);
  expect(await draft("chat-1")).toEqual({
    text: "more\n\nkept",
    cursor: 4,
    attachments: [],
    queued,
  });
});

test("what is written behind an answer is kept, edited, removed and sent in order", async () => {
  const { fake, composer } = make();
  const sent: string[] = [];
  fake.chats.Send = async (conversation, out) => {
    sent.push(out.text);
    return { conversation, turn: "t", seq: sent.length };
  };
  await composer.switchTo("chat-1");
  for (const text of ["one", "two", "three"]) {
    composer.changed(text, text.length);
    await composer.queue();
  }
  expect([composer.text, composer.queued.map((q) => q.text)]).toEqual(["", ["one", "two", "three"]]);
  expect((await fake.chats.Draft("chat-1")).queued.length).toBe(3);
  await composer.switchTo("chat-2");
  expect(composer.queued).toEqual([]);
  await composer.switchTo("chat-1");
  await composer.unqueue(1);
  await composer.sendQueued();
  expect([sent, composer.queued.map((q) => q.text)]).toEqual([["one"], ["three"]]);
  composer.changed("and more", 8);
  await composer.editQueued(0);
  expect([composer.text, composer.cursor, composer.queued]).toEqual(["three\n\nand more", 5, []]);

  fake.chats.Send = async () => {
    throw new AppError({ kind: "provider", message: "No." });
  };
  await composer.queue();
  expect(await composer.sendQueued()).toBeNull();
  expect(composer.queued.map((q) => q.text)).toEqual(["three\n\nand more"]);
});

test("what could not be sent stays written", async () => {
  const { fake, composer, errors } = make();
  await composer.switchTo("");
  composer.changed("keep me", 7);
  fake.chats.Send = async () => {
    throw new AppError({ kind: "provider", message: "No." });
  };
  expect(await composer.send()).toBeNull();
  expect(composer.text).toBe("keep me");
  expect(errors.map((e) => e.message)).toEqual(["No."]);
});

test("an empty message is not sent, and a sent one empties the draft", async () => {
  const { fake, composer } = make();
  await composer.switchTo("");
  composer.changed("   ", 3);
  expect(await composer.send()).toBeNull();
  composer.changed("hello", 5);
  const sent = await composer.send();
  expect(sent?.conversation).not.toBe("");
  expect(composer.text).toBe("");
  expect((await fake.chats.Draft("")).text).toBe("");
});

test("what is typed while a message goes out stays", async () => {
  const { fake, composer } = make();
  const send = fake.chats.Send.bind(fake.chats);
  let go = () => {};
  fake.chats.Send = async (conversation, message) => {
    await new Promise<void>((resolve) => (go = resolve));
    return send(conversation, message);
  };
  await composer.switchTo("");
  composer.changed("hello", 5);
  const sent = composer.send();
  composer.changed("hello and more", 14);
  go();
  await sent;
  expect([composer.text, composer.cursor]).toEqual([" and more", 9]);
});

test("a message goes out once what was changed for it is kept", async () => {
  const { fake } = make();
  const held = holdSend(fake);
  let kept = () => {};
  const settled = () => new Promise<void>((resolve) => (kept = resolve));
  const composer = new Composer(fake, () => {}, undefined, undefined, settled);
  await composer.switchTo("");
  composer.changed("hello", 5);
  const sent = composer.send();
  expect([held.sent, composer.sending]).toEqual([0, true]);
  kept();
  await vi.waitFor(() => expect(held.sent).toBe(1));
  held.go();
  expect(await sent).not.toBeNull();
});

test("a message goes to the model of its chat, and without the council, whichever chat is open by then", async () => {
  const { app, fake } = await startApp("chat");
  const from = app.chat?.id ?? "";
  const model = app.model;
  const other = fake.chats.add("Another", new Date(), { model: "other/cloud" }).chat.id;
  let kept = () => {};
  vi.spyOn(app.council, "saved").mockImplementation(() => new Promise<void>((resolve) => (kept = resolve)));
  const sent = vi.spyOn(fake.chats, "Send");
  app.composer.changed("for this chat", 13);
  app.council.skip = true;
  const going = app.send();
  await app.openChat(other);
  await until("the other chat", () => app.model === "other/cloud" && !app.council.skip);
  kept();
  await going;
  const [chat, message] = sent.mock.calls[0] ?? [];
  expect([chat, message?.model, message?.council_skip]).toEqual([from, model, true]);
  app.close();
});

/** Holds what goes out until it is let go, or fails. */
function holdSend(fake: Fake) {
  const send = fake.chats.Send.bind(fake.chats);
  const held = { sent: 0, go: () => {}, fail: () => {} };
  fake.chats.Send = async (conversation, message) => {
    held.sent++;
    await new Promise<void>((resolve, reject) => {
      held.go = resolve;
      held.fail = () => reject(new AppError({ kind: "provider", message: "No." }));
    });
    return send(conversation, message);
  };
  return held;
}

test("who goes to another chat while a message goes out stays there, and keeps its draft", async () => {
  const { app, fake } = await startApp("chat");
  const from = app.chat?.id ?? "";
  const other = fake.chats.add("Another", new Date()).chat.id;
  const map = await fake.chats.Attach("map.png", "");
  const theirs = { text: "", cursor: 0, attachments: [map], queued: [] };
  await fake.chats.SaveDraft(other, theirs);
  const held = holdSend(fake);
  app.composer.changed("goes out", 8);
  await app.composer.save();
  const sent = app.send();
  app.composer.changed("goes out and more", 17);
  await app.openChat(other);
  expect(app.composer.ready).toBe(true);
  held.go();
  await sent;
  expect(app.chat?.id).toBe(other);
  expect(app.composer.attachments.map((a) => a.name)).toEqual(["map.png"]);
  await app.composer.save();
  expect(await fake.chats.Draft(other)).toEqual(theirs);
  expect((await fake.chats.Draft(from)).text).toBe(" and more");
  app.close();
});

/** The app on another chat, while the first message of the welcome page goes out. */
async function leaveWelcome() {
  const { app, fake } = await startApp("chat");
  const other = app.chat?.id ?? "";
  await app.newChat();
  const held = holdSend(fake);
  app.composer.changed("hello", 5);
  const sent = app.send();
  await app.openChat(other);
  return { app, fake, other, held, sent };
}

test("who leaves the welcome page while the first message goes out is not called back", async () => {
  const { app, fake, other, held, sent } = await leaveWelcome();
  held.go();
  await sent;
  expect(app.chat?.id).toBe(other);
  expect((await fake.chats.Draft("")).text).toBe("");
  app.close();
});

test("who comes back to the welcome page while the first message goes out is not called away from it", async () => {
  const { app, held, sent } = await leaveWelcome();
  await app.newChat();
  app.composer.changed("something else", 9);
  held.go();
  await sent;
  expect([app.chat, app.composer.text]).toEqual([null, "something else"]);
  app.close();
});

test("a queued message that goes out while its chat is left goes out once", async () => {
  const { fake, composer } = make();
  await composer.switchTo("chat-1");
  for (const text of ["one", "two"]) {
    composer.changed(text, text.length);
    await composer.queue();
  }
  const held = holdSend(fake);
  const sent = composer.sendQueued();
  await composer.switchTo("chat-2");
  await composer.switchTo("chat-1");
  expect(composer.queued.map((q) => q.text)).toEqual(["two"]);
  held.go();
  await sent;
  expect(composer.queued.map((q) => q.text)).toEqual(["two"]);
  expect((await fake.chats.Draft("chat-1")).queued.map((q) => q.text)).toEqual(["two"]);
});

test("what could not be sent is in its draft again, wherever one is by then", async () => {
  const { fake, composer, errors } = make();
  const held = holdSend(fake);
  for (const back of [false, true]) {
    await composer.switchTo("chat-1");
    composer.changed("keep me", 7);
    const sent = composer.send();
    composer.changed("keep me, and me", 15);
    await composer.switchTo("chat-2");
    if (back) await composer.switchTo("chat-1");
    held.fail();
    expect(await sent).toBeNull();
    await composer.save();
    expect((await fake.chats.Draft("chat-1")).text).toBe("keep me\n\n, and me");
    expect(composer.text).toBe(back ? "keep me\n\n, and me" : "");
  }
  expect([held.sent, errors.length]).toEqual([2, 2]);
});

test("a queued message that could not be sent is queued again, and the caret stays where one writes", async () => {
  const { fake, composer } = make();
  await composer.switchTo("chat-1");
  composer.changed("one", 3);
  await composer.queue();
  const held = holdSend(fake);
  const sent = composer.sendQueued();
  await composer.switchTo("chat-2");
  await composer.switchTo("chat-1");
  composer.changed("and more", 4);
  held.fail();
  expect(await sent).toBeNull();
  expect(composer.queued.map((q) => q.text)).toEqual(["one"]);
  expect([composer.text, composer.cursor]).toEqual(["and more", 4]);
});

test("of two messages that could not be sent both are in the draft again, and a file that still comes", async () => {
  const { fake, composer } = make();
  await composer.switchTo("chat-1");
  composer.changed("first", 5);
  const first = holdSend(fake);
  const one = composer.send();
  await composer.switchTo("chat-2");
  await composer.switchTo("chat-1");
  composer.changed("second", 6);
  const second = holdSend(fake);
  const two = composer.send();
  const attach = fake.chats.Attach.bind(fake.chats);
  let come = () => {};
  fake.chats.Attach = async (...file) => {
    await new Promise<void>((resolve) => (come = resolve));
    return attach(...file);
  };
  const nothing = come;
  const attached = composer.attach([new File(["x"], "late.txt", { type: "text/plain" })]);
  await until("the file to be on its way", () => come !== nothing);
  first.fail();
  second.fail();
  expect([await one, await two]).toEqual([null, null]);
  expect(composer.text).toBe("first\n\nsecond");
  come();
  await attached;
  expect(composer.attachments.map((a) => a.media?.name)).toEqual(["late.txt"]);
  await composer.save();
  const kept = await fake.chats.Draft("chat-1");
  expect([kept.text, kept.attachments.length]).toEqual(["first\n\nsecond", 1]);
});

test("a long paste may become a file, a short one is left alone", async () => {
  const { composer } = make();
  await composer.switchTo("");
  composer.changed("short", 5);
  composer.wasPasted("short", 0);
  expect(composer.pasted).toBeNull();
  const long = "x".repeat(longPaste + 1);
  composer.changed(`before ${long}`, 0);
  composer.wasPasted(long, 7);
  await composer.pastedToFile();
  expect(composer.text).toBe("before ");
  expect(composer.attachments.map((a) => a.media?.name)).toEqual(["pasted text.txt"]);
});

test("a refused file says why, holds nothing back, and goes with the message", async () => {
  const { composer, fake } = make();
  fake.chats.Attach = async (name) => {
    throw new AppError({ kind: "invalid", message: `${name} is a program.` });
  };
  await composer.switchTo("");
  await composer.attach([new File(["x"], "setup.exe")]);
  await until("the refusal", () => composer.attachments[0]?.problem !== "");
  expect(composer.attachments[0]?.problem).toContain("setup.exe");
  expect(composer.ready).toBe(false); // there is nothing else to send
  composer.changed("look", 4);
  expect(composer.ready).toBe(true);
  expect(await composer.send()).not.toBeNull();
  expect(composer.attachments).toEqual([]);
});

test("the shown model travels with the message", async () => {
  const { app, fake } = await startApp("welcome");
  const sent: string[] = [];
  const send = fake.chats.Send.bind(fake.chats);
  fake.chats.Send = (conversation, message) => {
    sent.push(message.model);
    return send(conversation, message);
  };
  const shown = app.model;
  expect(shown).toBe(app.models.default);
  // Another default is chosen elsewhere, and the window has not heard of it yet.
  fake.models.default = "other/model";
  await app.send("Hello");
  expect(sent).toEqual([shown]);
  await app.send("And again");
  expect(sent[1]).toBe(app.chat?.chat?.model);
  app.close();
});

test("a file is what the program found in it, whatever the browser took it for", async () => {
  const { fake, composer } = make();
  const lost = "scan.pdf is not read: it has no text, only pictures such as scanned pages.";
  fake.chats.Attach = async (name) => ({
    id: "m1",
    name,
    mime_type: "application/pdf",
    size: 4,
    lost,
  });
  await composer.attach([new File(["%PDF"], "scan.pdf", { type: "image/png" })]);
  expect(composer.attachments[0]?.mimeType).toBe("application/pdf");
  expect(composer.attachments[0]?.media?.lost).toBe(lost);
});

test("a message taken out of the queue comes back to its place, also from another chat", async () => {
  const { app, fake } = await startApp("chat");
  const { composer } = app;
  const from = app.chat?.id ?? "";
  const other = fake.chats.add("Another", new Date()).chat.id;
  for (const text of ["one", "two"]) {
    composer.changed(text, text.length);
    await composer.queue();
  }
  const texts = () => composer.queued.map((q) => q.text);
  await app.unqueue(0);
  expect([texts(), app.toasts.list.at(-1)?.text]).toEqual([["two"], s.composer.unqueued("one")]);
  app.toasts.list.at(-1)?.action?.run();
  await until("it to be back", () => texts().length === 2);
  expect(texts()).toEqual(["one", "two"]);
  await app.unqueue(0);
  await app.openChat(other);
  await app.undo();
  expect([texts(), app.canUndo]).toEqual([[], false]);
  await app.openChat(from);
  expect(texts()).toEqual(["one", "two"]);
  app.close();
});

test("a file that was taken away comes back", async () => {
  const { app } = await startApp("chat");
  const { composer } = app;
  const long = "x".repeat(longPaste + 1);
  composer.changed(long, 0);
  composer.wasPasted(long, 0);
  await composer.pastedToFile();
  const [file] = composer.attachments;
  app.detach(file?.key ?? 0, file?.name ?? "");
  expect([composer.text, composer.attachments.length]).toEqual(["", 0]);
  await app.undo();
  expect(composer.attachments.map((a) => a.media?.name)).toEqual([file?.name]);
  app.close();
});

/** Holds what is attached until it is let go. */
function holdAttach(fake: Fake) {
  const attach = fake.chats.Attach.bind(fake.chats);
  const held: { come: () => void; fail: () => void }[] = [];
  fake.chats.Attach = async (...file) => {
    await new Promise<void>((resolve, reject) =>
      held.push({
        come: resolve,
        fail: () => reject(new AppError({ kind: "unavailable", message: "The disk is full." })),
      }),
    );
    return attach(...file);
  };
  return held;
}

test("a file that is being added comes to the chat it was added in, left or left and come back to", async () => {
  const { fake, composer } = make();
  const held = holdAttach(fake);
  for (const [n, back] of [false, true].entries()) {
    await composer.switchTo("chat-1");
    const added = composer.attach([new File(["x"], `${n}.txt`, { type: "text/plain" })]);
    await until("the file to be on its way", () => held.length === n + 1);
    await composer.switchTo("chat-2");
    if (back) await composer.switchTo("chat-1");
    held[n]?.come();
    await added;
    await composer.save();
    expect(composer.attachments.length).toBe(back ? 2 : 0);
    expect((await fake.chats.Draft("chat-1")).attachments.length).toBe(n + 1);
  }
  expect((await fake.chats.Draft("chat-2")).attachments).toEqual([]);
});

test("a paste that could not become a file is in the text of its chat again", async () => {
  const { fake, composer, errors } = make();
  const held = holdAttach(fake);
  const long = "x".repeat(longPaste + 1);
  await composer.switchTo("chat-1");
  composer.changed(long, 0);
  composer.wasPasted(long, 0);
  const made = composer.pastedToFile();
  await until("the file to be on its way", () => held.length === 1);
  await composer.switchTo("chat-2");
  held[0]?.fail();
  await made;
  expect((await fake.chats.Draft("chat-1")).text).toBe(long);
  expect(errors.map((e) => e.message)).toEqual(["The disk is full."]);
  // In the chat that is open the file says what is wrong, and its text comes back with it.
  composer.changed(long, 0);
  composer.wasPasted(long, 0);
  const again = composer.pastedToFile();
  await until("the file to be on its way", () => held.length === 2);
  held[1]?.fail();
  await again;
  const [file] = composer.attachments;
  expect([file?.problem.trim(), composer.text]).toEqual(["The disk is full.", ""]);
  await composer.removeAttachment(file?.key ?? 0)?.();
  expect([composer.attachments.length, composer.text]).toEqual([0, long]);
});

test("that a message is to go without tools is said of it alone", async () => {
  const { fake, composer } = make();
  const sent: boolean[] = [];
  fake.chats.Send = async (conversation, out) => {
    sent.push(out.no_tools);
    return { conversation, turn: "t", seq: 1 };
  };
  await composer.switchTo("chat-1");
  composer.noTools = true;
  composer.changed("one", 3);
  await composer.queue();
  expect(composer.noTools).toBe(false);
  composer.noTools = true;
  await composer.sendQueued();
  expect(composer.noTools).toBe(true); // of the one that is written
  composer.changed("two", 3);
  await composer.send();
  composer.changed("three", 5);
  await composer.send();
  expect(sent).toEqual([true, true, false]);
  composer.noTools = true;
  await composer.switchTo("chat-2");
  expect(composer.noTools).toBe(false);
});

/** A chat whose answer is being written, with messages queued behind it, and another chat. */
async function queuedBehind(...texts: string[]) {
  const { app, fake } = await startApp("streaming");
  const from = app.chat?.id ?? "";
  const there = fake.chats.of(from);
  const other = fake.chats.add("Another", new Date()).chat.id;
  const sent: string[] = [];
  fake.chats.Send = async (conversation, { text }) => {
    sent.push(`${conversation === from} ${text}`);
    await fake.chats.SaveDraft(conversation, { text: "", cursor: 0, attachments: [], queued: [] });
    fake.chats.busy(there, "answering");
    fake.bus.changed("chat", from);
    return { conversation, turn: "t", seq: sent.length };
  };
  for (const text of texts) {
    app.composer.changed(text, text.length);
    await app.composer.queue();
  }
  app.composer.changed("half a thought", 4);
  const ends = (state: "complete" | "stopped") => {
    Object.assign(there.entries.at(-1) ?? {}, { state });
    there.status = null;
    fake.bus.changed("chat", from);
  };
  return { app, fake, from, other, sent, ends };
}

test("what is queued is sent when its answer is done, whichever chat is open by then", async () => {
  const { app, fake, from, other, sent, ends } = await queuedBehind("one", "two", "three");
  await app.openChat(other);
  const status = app.status;
  for (const n of [1, 2]) {
    ends("complete");
    await until("a message to be sent", () => sent.length === n);
    await until("the rest to be kept", () => fake.chats.drafts.get(from)?.queued.length === 3 - n);
    await new Promise((resolve) => setTimeout(resolve)); // the notice of the turn that it began
    await new Promise((resolve) => setTimeout(resolve));
  }
  expect(sent).toEqual(["true one", "true two"]);
  expect(fake.chats.drafts.get(from)?.text).toBe("half a thought");
  expect([app.chat?.id, app.status]).toEqual([other, status]);
  // Who comes back has the last one sent as ever.
  await app.openChat(from);
  await until("the answer to run", () => app.chat?.running ?? false);
  ends("complete");
  await until("the last one to be sent", () => sent.length === 3);
  expect(app.composer.text).toBe("half a thought");
  app.close();
});

test("what is queued behind an answer that was stopped meanwhile waits for its person", async () => {
  const { app, from, other, sent, ends } = await queuedBehind("one");
  await app.openChat(other);
  const left = app.bridge.chats.Pull.bind(app.bridge.chats);
  let pulled = 0;
  app.bridge.chats.Pull = async (...what) => {
    const pull = await left(...what);
    if (what[0] === from) pulled++;
    return pull;
  };
  ends("stopped");
  await until("the end to be heard of", () => pulled > 0);
  await app.openChat(from);
  expect([sent, app.composer.queued.map((q) => q.text)]).toEqual([[], ["one"]]);
  app.close();
});
