/**
 * Streams one reply into the window's own Message component, by the patches that
 * app/chat/render made of it, and the same text into streamdown. Each update is timed
 * on the main thread with layout forced.
 */
import { createElement } from "react";
import { flushSync as flushReact } from "react-dom";
import { createRoot } from "react-dom/client";
import { Streamdown } from "streamdown";
import { flushSync, mount, unmount } from "svelte";
import type { Block, Entry } from "../src/lib/bridge/generated";
import "../src/styles/base.css";
import "../src/styles/code.css";
import "../src/styles/prose.css";
import "../src/styles/tokens.css";
import { App } from "../src/lib/app.svelte";
import { fakeBridge } from "../src/lib/bridge/fake";
import { speak } from "../src/lib/strings";
import BenchMessage from "./BenchMessage.svelte";

interface Delta {
  patches: { block: number; html: string; keep?: number; done?: boolean }[];
}

const root = document.getElementById("root") as HTMLElement;

const created = new Date().toISOString();

function entry(whole: boolean, blocks: Block[], count: number): Entry {
  return {
    seq: 1,
    whole,
    role: "assistant",
    turn: "t",
    model: "Model",
    state: "streaming",
    reason: "",
    error: null,
    created,
    ended: "",
    hidden: false,
    siblings: [],
    other_branch: 0,
    words: 0,
    usage: null,
    part_count: 1,
    parts: [
      {
        index: 0,
        kind: "text",
        blocks,
        block_count: count,
        ms: 0,
        done: false,
        call: null,
        media: null,
      },
    ],
  };
}

async function measure(updates: number, update: (i: number) => void) {
  const times: number[] = [];
  for (let i = 0; i < updates; i++) {
    const began = performance.now();
    update(i);
    void root.offsetHeight; // layout is part of the cost
    times.push(performance.now() - began);
    if (i % 25 === 24) await new Promise((resolve) => setTimeout(resolve));
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (p: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;
  const total = times.reduce((a, b) => a + b, 0);
  const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const tenth = Math.ceil(updates / 10);
  return {
    updates,
    total,
    mean: total / updates,
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    // The last tenth of the updates, without the very last, beside the second; the first warms up.
    growth: mean(times.slice(-tenth - 1, -1)) / mean(times.slice(tenth, 2 * tenth)),
    html: root.innerHTML.length,
  };
}

async function ours(deltas: Delta[]) {
  await speak("en");
  const fake = fakeBridge({ scene: "bare" });
  const chat = fake.chats.add("bench", new Date());
  const app = new App(fake, fake.hello);
  await app.start();
  await app.openChat(chat.chat.id);
  const open = app.chat;
  if (!open) throw new Error("no chat is open");
  const status = {
    turn: "t",
    phase: "answering" as const,
    since: "",
    model: "Model",
    tool: "",
    note: "",
  };
  const base = { conversation: open.id, chat: null, status, reset: false };
  open.take({
    ...base,
    revision: 10,
    outline: { from: 0, seqs: [1] },
    entries: [entry(true, [], 0)],
  });
  const shown = mount(BenchMessage, { target: root, props: { app, chat: open } });
  flushSync();
  let count = 0;
  let tallest = 0;
  let shrinks = 0;
  let grown = 0;
  const result = await measure(deltas.length, (i) => {
    // What arrives is text: parsing it is part of the cost.
    const { patches } = JSON.parse(wire[i] as string) as Delta;
    for (const patch of patches) count = Math.max(count, patch.block + 1);
    const blocks = patches.map((p) => ({
      index: p.block,
      html: p.html,
      keep: p.keep ?? 0,
      done: p.done ?? p.block < count - 1,
    }));
    open.take({ ...base, revision: 11 + i, outline: null, entries: [entry(false, blocks, count)] });
    flushSync();
    // How long a page is in which code was folded while it came, or did not come.
    const { offsetHeight } = root;
    shrinks = Math.max(shrinks, tallest - offsetHeight);
    if (offsetHeight > tallest) grown++;
    tallest = Math.max(tallest, offsetHeight);
  });
  await unmount(shown);
  app.close();
  return { ...result, shrinks, grown };
}

let wire: string[] = [];

async function peer(text: string, chunk: number) {
  const react = createRoot(root);
  const result = await measure(Math.ceil(text.length / chunk), (i) => {
    flushReact(() => react.render(createElement(Streamdown, null, text.slice(0, (i + 1) * chunk))));
  });
  react.unmount();
  return result;
}

Object.assign(globalThis, {
  bench: {
    ours: (deltas: Delta[]) => {
      wire = deltas.map((delta) => JSON.stringify(delta));
      return ours(deltas);
    },
    peer,
  },
});
