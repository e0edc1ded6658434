import { describe, expect, test } from "vitest";
import type { Entry, Pull } from "../bridge/generated";
import { startApp, until } from "../testing";
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
  test("streams an answer and says how it ended", async () => {
    const { app, fake } = await startApp();
    app.composer.changed("count with the tool", 19);
    await app.send();
    await until("the answer's end", () => app.status.startsWith("Answer finished"));
    expect(app.status).toBe("Answer finished, 5 words, one tool used");
    const last = app.chat?.last;
    expect(last?.head.state).toBe("complete");
    expect(last?.parts.map((p) => p.kind)).toEqual(["reasoning", "tool_call", "text"]);
    expect(last?.calls[0]?.state).toBe("done");
    expect(await fake.chats.Source(app.chat?.id ?? "", last?.seq ?? 0)).toContain("3");
    app.close();
  });

  test("holds exactly what the program has after any loss of notices", async () => {
    const { app, fake } = await startApp();
    const chat = app.chat;
    if (!chat) throw new Error("no chat is open");
    app.composer.changed("anything", 8);
    await app.send();
    await until("the answer's end", () => !chat.running && chat.last?.head.state === "complete");
    const held = chat.outline.map((seq) =>
      chat.entry(seq)?.parts.map((p) => p.blocks.map((b) => b.html)),
    );
    const whole = await fake.chats.Messages(chat.id, chat.outline);
    expect(held).toEqual(whole.map((e) => e.parts.map((p) => p.blocks.map((b) => b.html))));
    app.close();
  });

  test("opening 10,000 messages asks for thirty bodies, and brings more as they are needed", async () => {
    const { app, fake } = await startApp("long");
    const chat = app.chat;
    if (!chat) throw new Error("no chat is open");
    expect(chat.outline).toHaveLength(10_000);
    const held = () => chat.outline.filter((seq) => chat.entry(seq)).length;
    expect(held()).toBe(30);
    let asked = 0;
    const messages = fake.chats.Messages.bind(fake.chats);
    fake.chats.Messages = (id, seqs) => {
      asked++;
      return messages(id, seqs);
    };
    for (const seq of chat.outline.slice(100, 110)) chat.need(seq);
    await until("ten more bodies", () => held() === 40);
    expect(asked).toBe(1);
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

  test("an edit that answers again makes a version to go back to", async () => {
    const { app } = await startApp();
    const chat = app.chat;
    if (!chat) throw new Error("no chat is open");
    const before = [...chat.outline];
    await chat.edit(before[0] as number, "Another question about a tool", true);
    await until(
      "the new branch",
      () => chat.outline[0] !== before[0] && !chat.running && chat.outline.length === 2,
    );
    const seq = chat.outline[0] as number;
    expect(chat.entry(seq)?.head.siblings).toEqual([before[0], seq]);
    expect(chat.entry(seq)?.head.other_branch).toBe(4);
    await chat.switchVersion(seq, -1);
    await until("the old branch", () => chat.outline.length === before.length);
    expect(chat.outline).toEqual(before);
    app.close();
  });

  test("stop keeps what was said", async () => {
    const { app } = await startApp();
    app.composer.changed("slow", 4);
    await app.send();
    await until("a running turn", () => app.chat?.running ?? false);
    await app.chat?.stop();
    await until("the end", () => app.chat?.last?.head.state === "stopped");
    expect(app.status).toBe("Answer stopped");
    app.close();
  });
});
