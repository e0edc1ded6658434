/** Conversations in memory: a tree of entries each, and turns that stream scripted replies. */
import { AppError } from "../calls";
import type * as t from "../generated";
import type { FakeBus } from "./bus";
import { growing, paragraphs, reply, words, type Step } from "./content";
import type { FakePermissions } from "./permissions";

interface Node {
  seq: number;
  parent: number;
  entry: t.Entry;
  source: string;
  /** Revision at which it was made, and changed. */
  made: number;
  changed: number;
  /** Revision of each block: part → block → revision. */
  blocks: number[][];
  details: Map<string, t.CallDetail>;
}

interface Conversation {
  chat: t.Chat;
  nodes: Map<number, Node>;
  head: number;
  last: number;
  status: t.TurnStatus | null;
  draft: t.Draft;
  unread: boolean;
  waiting: number;
  chatRevision: number;
  pathRevision: number;
  path: number[];
  stop: (() => void) | null;
  gone: boolean;
}

export const noDraft: t.Draft = { text: "", cursor: 0, attachments: [], queued: [] };

export class FakeChats implements t.ChatsCalls {
  readonly all = new Map<string, Conversation>();
  #bus: FakeBus;
  #permissions: FakePermissions;
  #drafts = new Map<string, t.Draft>();
  #undo: (text: string, back: () => void) => t.Undo;
  #ids = 0;
  #calls = 0;
  #seen = "";
  /** Time between two pieces of a reply, in ms. */
  tick: number;
  modelTitle: (name: string) => string = (name) => name;
  defaultModel: () => string = () => "demo/guide";

  constructor(
    bus: FakeBus,
    permissions: FakePermissions,
    undo: (text: string, back: () => void) => t.Undo,
    tick: number,
  ) {
    this.#bus = bus;
    this.#permissions = permissions;
    this.#undo = undo;
    this.tick = tick;
  }

  /* ------------------------------------------------------------ seeds --- */

  add(title: string, updated: Date, change: Partial<t.Chat> = {}): Conversation {
    const id = `chat-${++this.#ids}`;
    const model = change.model ?? this.defaultModel();
    const chat: t.Chat = {
      id,
      title,
      model,
      model_title: this.modelTitle(model),
      vision: false,
      tools: true,
      system: "",
      pinned: false,
      archived: false,
      demo: model.startsWith("demo/"),
      created: updated.toISOString(),
      updated: updated.toISOString(),
      ...change,
    };
    const c: Conversation = {
      chat,
      nodes: new Map(),
      head: 0,
      last: 0,
      status: null,
      draft: noDraft,
      unread: false,
      waiting: 0,
      chatRevision: 1,
      pathRevision: 1,
      path: [],
      stop: null,
      gone: false,
    };
    this.all.set(id, c);
    return c;
  }

  /** Adds a finished entry at the head. */
  say(c: Conversation, role: t.EntryRole, blocks: string[], change: Partial<t.Entry> = {}): Node {
    const node = this.#node(c, role, c.head);
    node.entry.parts = [this.#text(blocks)];
    node.entry.part_count = 1;
    node.entry.words = blocks.reduce((n, b) => n + words(b), 0);
    node.blocks = [blocks.map(() => 1)];
    node.source = blocks.map((b) => b.replace(/<[^>]+>/g, "")).join("\n\n");
    node.made = node.changed = 1;
    Object.assign(
      node.entry,
      { state: "complete", reason: role === "assistant" ? "done" : "" },
      change,
    );
    node.entry.part_count = node.entry.parts.length;
    return node;
  }

  #node(c: Conversation, role: t.EntryRole, parent: number): Node {
    const seq = ++c.last;
    const revision = this.#bus.revision("chat", c.chat.id) + 1;
    const entry: t.Entry = {
      seq,
      whole: true,
      role,
      turn: `turn-${seq}`,
      model: role === "assistant" ? c.chat.model_title : "",
      state: "complete",
      reason: "",
      error: null,
      created: new Date().toISOString(),
      ended: "",
      hidden: false,
      siblings: [],
      other_branch: 0,
      words: 0,
      usage: null,
      part_count: 0,
      parts: [],
    };
    const node: Node = {
      seq,
      parent,
      entry,
      source: "",
      made: revision,
      changed: revision,
      blocks: [],
      details: new Map(),
    };
    c.nodes.set(seq, node);
    c.head = seq;
    c.path = [];
    c.pathRevision = revision;
    return node;
  }

  #text(blocks: string[]): t.Part {
    return {
      index: 0,
      kind: "text",
      blocks: blocks.map((html, index) => ({ index, html, keep: 0, done: true })),
      block_count: blocks.length,
      ms: 0,
      done: true,
      call: null,
      media: null,
    };
  }

  /* ------------------------------------------------------------ reads --- */

  #get(id: string): Conversation {
    const c = this.all.get(id);
    if (!c || c.gone) {
      throw new AppError({
        kind: "not_found",
        message: "This chat no longer exists.",
        hint: "Choose another one.",
        ref: "",
      });
    }
    return c;
  }

  #path(c: Conversation): number[] {
    if (c.path.length === 0) {
      for (let at = c.head; at; at = c.nodes.get(at)?.parent ?? 0) c.path.push(at);
      c.path.reverse();
    }
    return c.path;
  }

  #siblings(c: Conversation, node: Node): number[] {
    const all = [...c.nodes.values()].filter((n) => n.parent === node.parent).map((n) => n.seq);
    return all.length > 1 ? all : [];
  }

  #touch(c: Conversation): number {
    return this.#bus.changed("chat", c.chat.id);
  }

  /** How much of the index is there, in percent. */
  searched = 100;

  async List(query: t.ChatQuery, offset: number, limit: number): Promise<t.ChatList> {
    const words = query.text.trim().toLowerCase();
    const rows = [...this.all.values()]
      .filter((c) => !c.gone && c.chat.archived === query.archived)
      .filter(
        (c) => !words || c.chat.title.toLowerCase().includes(words) || this.#excerpt(c, words),
      )
      .sort(
        (a, b) =>
          Number(!words && b.chat.pinned) - Number(!words && a.chat.pinned) ||
          b.chat.updated.localeCompare(a.chat.updated),
      );
    const groups: t.ChatGroup[] = [];
    const week = Date.now() - 6 * 86_400_000;
    for (const { chat } of rows) {
      const day = new Date(chat.updated);
      const local = `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}`;
      const key = words
        ? "found"
        : chat.pinned
          ? "pinned"
          : day.getTime() > week
            ? `${local}-${String(day.getDate()).padStart(2, "0")}`
            : local;
      const last = groups.at(-1);
      if (last?.key === key) last.count++;
      else groups.push({ key, count: 1 });
    }
    return {
      revision: this.#bus.revision("chats"),
      total: rows.length,
      groups,
      offset,
      searched: words ? this.searched : 100,
      rows: rows.slice(offset, offset + limit).map((c) => ({
        id: c.chat.id,
        title: c.chat.title,
        updated: c.chat.updated,
        pinned: c.chat.pinned,
        archived: c.chat.archived,
        demo: c.chat.demo,
        state: c.waiting ? "waiting" : c.status ? "running" : "idle",
        unread: c.unread,
        excerpt: words ? this.#excerpt(c, words) : null,
      })),
    };
  }

  #excerpt(c: Conversation, words: string): t.Excerpt | null {
    for (const node of c.nodes.values()) {
      const excerpt = excerptOf(node.source, words);
      if (excerpt) return excerpt;
    }
    return null;
  }

  async Pull(id: string, since: number): Promise<t.Pull> {
    const c = this.#get(id);
    const path = this.#path(c);
    const revision = this.#bus.revision("chat", id);
    const held =
      since === 0
        ? path.slice(-30)
        : path.filter((seq) => (c.nodes.get(seq)?.changed ?? 0) > since);
    return {
      conversation: id,
      revision,
      chat: since === 0 || c.chatRevision > since ? { ...c.chat } : null,
      outline: since === 0 || c.pathRevision > since ? { from: 0, seqs: [...path] } : null,
      entries: held.map((seq) => this.#entry(c, c.nodes.get(seq) as Node, since)),
      status: c.status ? { ...c.status } : null,
      reset: false,
    };
  }

  #entry(c: Conversation, node: Node, since: number): t.Entry {
    const entry = structuredClone(node.entry);
    entry.siblings = this.#siblings(c, node);
    entry.part_count = node.entry.parts.length;
    if (since === 0 || node.made > since) return { ...entry, whole: true };
    for (const part of entry.parts) {
      part.blocks = part.blocks.filter((b) => (node.blocks[part.index]?.[b.index] ?? 0) > since);
    }
    return { ...entry, whole: false };
  }

  async Messages(id: string, seqs: number[]): Promise<t.Entry[]> {
    const c = this.#get(id);
    return seqs.flatMap((seq) => {
      const node = c.nodes.get(seq);
      return node ? [this.#entry(c, node, 0)] : [];
    });
  }

  async Source(id: string, seq: number): Promise<string> {
    return this.#get(id).nodes.get(seq)?.source ?? "";
  }

  async Info(id: string, seq: number): Promise<t.MessageInfo> {
    const c = this.#get(id);
    const node = c.nodes.get(seq);
    const usage = {
      input_tokens: 412,
      output_tokens: node?.entry.words ?? 0,
      cached_tokens: 0,
      reasoning_tokens: 0,
      cost: 0.0021,
    };
    const body = {
      model: c.chat.model,
      messages: this.#path(c)
        .filter((s) => s < seq)
        .map((s) => ({ role: c.nodes.get(s)?.entry.role, content: c.nodes.get(s)?.source })),
      tools: ["word_count", "write_note"],
    };
    return {
      requests: [
        {
          model: c.chat.model,
          sent: node?.entry.created ?? "",
          ms: 1240,
          body: JSON.stringify(body, null, 2),
          usage,
        },
      ],
      usage,
      ms: 1310,
    };
  }

  async Call(id: string, call: string): Promise<t.CallDetail> {
    for (const node of this.#get(id).nodes.values()) {
      const detail = node.details.get(call);
      if (detail) return detail;
    }
    throw new AppError({
      kind: "not_found",
      message: "This call is not on record.",
      hint: "",
      ref: "",
    });
  }

  async Find(id: string, text: string): Promise<t.Find[]> {
    const c = this.#get(id);
    return this.#path(c)
      .flatMap((seq, index) => {
        const excerpt = excerptOf(c.nodes.get(seq)?.source ?? "", text.trim().toLowerCase());
        return excerpt ? [{ seq, index, excerpt }] : [];
      })
      .slice(0, 1000);
  }

  async Draft(id: string): Promise<t.Draft> {
    return this.#drafts.get(id) ?? this.all.get(id)?.draft ?? noDraft;
  }

  /* ---------------------------------------------------------- changes --- */

  async SaveDraft(id: string, draft: t.Draft): Promise<void> {
    this.#drafts.set(id, structuredClone(draft));
  }

  async Attach(name: string, mimeType: string, data: string): Promise<t.Media> {
    if (name.endsWith(".exe")) {
      throw new AppError({
        kind: "invalid",
        message: `${name} is a program, which models cannot read.`,
        hint: "Attach text or a picture.",
        ref: "",
      });
    }
    return {
      id: `media-${++this.#ids}`,
      name,
      mime_type: mimeType,
      size: Math.floor(data.length * 0.75),
    };
  }

  #change(id: string, change: Partial<t.Chat>): void {
    const c = this.#get(id);
    Object.assign(c.chat, change);
    c.chatRevision = this.#touch(c);
    this.#bus.changed("chats");
  }

  Rename = async (id: string, title: string) => this.#change(id, { title });
  SetPinned = async (id: string, pinned: boolean) => this.#change(id, { pinned });
  SetArchived = async (id: string, archived: boolean) => this.#change(id, { archived });
  SetSystem = async (id: string, system: string) => this.#change(id, { system });
  SetModel = async (id: string, model: string) =>
    this.#change(id, { model, model_title: this.modelTitle(model) });

  async Seen(id: string): Promise<void> {
    this.#seen = id;
    const c = this.all.get(id);
    if (c?.unread) {
      c.unread = false;
      this.#bus.changed("chats");
    }
  }

  async Delete(id: string): Promise<t.Undo> {
    const c = this.#get(id);
    c.stop?.();
    c.gone = true;
    this.#bus.changed("chats");
    return this.#undo(`“${c.chat.title || "New chat"}” was deleted.`, () => {
      c.gone = false;
      this.#bus.changed("chats");
    });
  }

  async DeleteDemo(): Promise<t.Undo> {
    const demo = [...this.all.values()].filter((c) => c.chat.demo && !c.gone);
    for (const c of demo) c.gone = true;
    this.#bus.changed("chats");
    return this.#undo(`${demo.length} demo chats were removed.`, () => {
      for (const c of demo) c.gone = false;
      this.#bus.changed("chats");
    });
  }

  async SetHidden(id: string, seq: number, hidden: boolean): Promise<void> {
    const c = this.#get(id);
    const node = c.nodes.get(seq);
    if (!node) return;
    node.entry.hidden = hidden;
    node.changed = this.#touch(c);
  }

  async SwitchVersion(id: string, seq: number): Promise<void> {
    const c = this.#get(id);
    let head = seq;
    for (const node of c.nodes.values()) if (node.parent === head) head = node.seq;
    c.head = head;
    c.path = [];
    c.pathRevision = this.#touch(c);
    for (const at of this.#path(c)) (c.nodes.get(at) as Node).made = c.pathRevision;
    for (const at of this.#path(c)) (c.nodes.get(at) as Node).changed = c.pathRevision;
  }

  async Edit(id: string, seq: number, text: string, answerAgain: boolean): Promise<t.Sent> {
    const c = this.#get(id);
    const node = c.nodes.get(seq);
    if (!node)
      throw new AppError({
        kind: "not_found",
        message: "This message is gone.",
        hint: "",
        ref: "",
      });
    if (!answerAgain) {
      const blocks = paragraphs(text);
      node.entry.parts = [this.#text(blocks)];
      node.source = text;
      node.made = node.changed = this.#touch(c);
      return { conversation: id, turn: "", seq };
    }
    const after = this.#path(c).length - this.#path(c).indexOf(seq);
    return this.#ask(c, text, node.parent, after);
  }

  async Send(id: string, message: t.Outgoing): Promise<t.Sent> {
    const c = id
      ? this.#get(id)
      : this.add("", new Date(), message.model ? { model: message.model } : {});
    if (c.status) {
      throw new AppError({
        kind: "conflict",
        message: "An answer is still being written.",
        hint: "Stop it, or wait for its end.",
        ref: "",
      });
    }
    if (!c.chat.title) c.chat.title = message.text.slice(0, 60);
    return this.#ask(c, message.text, c.head, 0);
  }

  #ask(c: Conversation, text: string, parent: number, otherBranch: number): t.Sent {
    const node = this.#node(c, "user", parent);
    const blocks = paragraphs(text);
    node.entry.parts = [this.#text(blocks)];
    node.entry.other_branch = otherBranch;
    node.blocks = [blocks.map(() => node.made)];
    node.source = text;
    c.chat.updated = new Date().toISOString();
    this.#start(c, text);
    return { conversation: c.chat.id, turn: node.entry.turn, seq: node.seq };
  }

  async Regenerate(id: string, seq: number, model: string): Promise<t.Sent> {
    const c = this.#get(id);
    const node = c.nodes.get(seq);
    const question = c.nodes.get(node?.parent ?? 0);
    if (!node || !question)
      throw new AppError({ kind: "not_found", message: "This answer is gone.", hint: "", ref: "" });
    if (model) await this.SetModel(id, model);
    c.head = question.seq;
    this.#start(c, question.source.replace(/fail/gi, "tool"));
    for (const s of this.#siblings(c, node)) {
      const sibling = c.nodes.get(s);
      if (sibling) sibling.changed = this.#bus.revision("chat", id) + 1;
    }
    return { conversation: id, turn: "again", seq: question.seq };
  }

  async Stop(id: string): Promise<void> {
    this.all.get(id)?.stop?.();
  }

  /* ------------------------------------------------------------ turns --- */

  #start(c: Conversation, text: string): void {
    const node = this.#node(c, "assistant", c.head);
    node.entry.state = "streaming";
    let stopped = false;
    const stopping = new Promise<void>((resolve) => {
      c.stop = () => {
        stopped = true;
        resolve();
      };
    });
    c.status = {
      turn: node.entry.turn,
      phase: "waiting",
      since: new Date().toISOString(),
      model: c.chat.model_title,
      tool: "",
      note: "",
    };
    const changed = () => (node.changed = this.#touch(c));
    changed();
    this.#bus.changed("chats");
    const sleep = (ms: number) =>
      Promise.race([new Promise<void>((r) => setTimeout(r, ms)), stopping]);
    const phase = (p: t.TurnStatus["phase"], more: Partial<t.TurnStatus> = {}) => {
      if (c.status?.phase !== p || more.note) {
        c.status = {
          ...(c.status as t.TurnStatus),
          phase: p,
          since: new Date().toISOString(),
          tool: "",
          note: "",
          ...more,
        };
      }
    };
    const run = async () => {
      await sleep(this.tick * 4);
      const steps = reply(text);
      for (let i = 0; i < steps.length && !stopped; i++) {
        const step = steps[i] as Step;
        if ("wait" in step) {
          phase(step.retrying ? "retrying" : "waiting", { note: step.retrying ?? "" });
          changed();
          await sleep(step.wait);
        } else if ("think" in step) {
          phase("thinking");
          await this.#stream(
            node,
            "reasoning",
            [`<p>${step.think}</p>`],
            changed,
            sleep,
            () => stopped,
          );
        } else if ("say" in step) {
          phase("answering");
          await this.#stream(node, "text", growing(step.say), changed, sleep, () => stopped);
        } else if ("fail" in step) {
          node.entry.state = "failed";
          node.entry.error = step.fail;
          break;
        } else {
          // Calls that stand together run together.
          const calls = [step];
          while (i + 1 < steps.length && "call" in (steps[i + 1] as Step)) {
            calls.push(steps[++i] as typeof step);
          }
          await Promise.all(
            calls.map((call) => this.#call(c, node, call, changed, sleep, phase, stopping)),
          );
        }
      }
      if (node.entry.state === "streaming") {
        node.entry.state = stopped ? "stopped" : "complete";
        node.entry.reason = stopped ? "stopped" : "done";
      }
      node.entry.ended = new Date().toISOString();
      for (const part of node.entry.parts) part.done = true;
      node.entry.words = node.entry.parts
        .filter((p) => p.kind === "text")
        .reduce((n, p) => n + p.blocks.reduce((m, b) => m + words(b.html), 0), 0);
      node.source = node.entry.parts
        .flatMap((p) =>
          p.kind === "text" ? p.blocks.map((b) => b.html.replace(/<[^>]+>/g, "")) : [],
        )
        .join("\n\n");
      c.status = null;
      c.stop = null;
      c.unread = this.#seen !== c.chat.id;
      changed();
      this.#bus.changed("chats");
    };
    void run();
  }

  async #stream(
    node: Node,
    kind: "text" | "reasoning",
    steps: string[],
    changed: () => number,
    sleep: (ms: number) => Promise<void>,
    over: () => boolean,
  ): Promise<void> {
    let part = node.entry.parts.at(-1);
    if (!part || part.kind !== kind) {
      for (const p of node.entry.parts) p.done = true;
      part = {
        index: node.entry.parts.length,
        kind,
        blocks: [],
        block_count: 0,
        ms: 0,
        done: false,
        call: null,
        media: null,
      };
      node.entry.parts.push(part);
      node.blocks.push([]);
    }
    const index = part.blocks.length;
    const began = Date.now();
    for (const html of steps) {
      if (over()) return;
      part.blocks[index] = { index, html, keep: 0, done: false };
      part.block_count = part.blocks.length;
      part.ms = Date.now() - began;
      (node.blocks[part.index] as number[])[index] = changed();
      await sleep(this.tick);
    }
    const block = part.blocks[index];
    if (block) block.done = true;
    (node.blocks[part.index] as number[])[index] = changed();
  }

  async #call(
    c: Conversation,
    node: Node,
    step: Extract<Step, { call: unknown }>,
    changed: () => number,
    sleep: (ms: number) => Promise<void>,
    phase: (p: t.TurnStatus["phase"], more?: Partial<t.TurnStatus>) => void,
    stopping: Promise<void>,
  ): Promise<void> {
    const id = String(++this.#calls);
    const args = JSON.stringify(step.call.args, null, 2);
    const summary = Object.entries(step.call.args as object)
      .map(([k, v]) => `${k}: ${String(v).split("\n")[0] ?? ""}`)
      .join(", ");
    const call: t.Call = {
      id,
      tool: step.call.tool,
      title: step.call.title,
      doing: step.call.doing ?? `use “${step.call.title}”`,
      did: step.call.did ?? `Used “${step.call.title}”`,
      plugin: step.call.plugin,
      summary: summary.slice(0, 120),
      state: "running",
      problem: "",
      started: new Date().toISOString(),
      ms: 0,
      progress: "",
      request: "",
      decision: "Allowed: it only computes",
      by_person: step.ask,
      grant: "",
    };
    const part: t.Part = {
      index: node.entry.parts.length,
      kind: "tool_call",
      blocks: [],
      block_count: 0,
      ms: 0,
      done: true,
      call,
      media: null,
    };
    node.entry.parts.push(part);
    node.blocks.push([]);
    const set = (change: Partial<t.Call>) => {
      part.call = { ...(part.call as t.Call), ...change };
      changed();
    };
    let allowed = true;
    if (step.ask) {
      phase("permission", { tool: call.title });
      const asked = this.#permissions.ask(c.chat.id, node.seq, call, args);
      c.waiting++;
      set({ state: "waiting", request: asked.id, decision: "" });
      this.#bus.changed("chats");
      const answer = await Promise.race([asked.answered, stopping.then(() => null)]);
      c.waiting--;
      this.#permissions.settle(asked.id);
      this.#bus.changed("chats");
      allowed = answer?.effect === "allow";
      const at = new Date().toTimeString().slice(0, 5);
      if (!answer) set({ state: "stopped", request: "", decision: "" });
      else if (!allowed)
        set({
          state: "refused",
          request: "",
          decision: `You did not allow it${answer.reason ? `: ${answer.reason}` : ""} (${at})`,
        });
      else {
        const grant = answer.scope === "once" ? "" : this.#permissions.grant(call, answer.scope);
        set({
          state: "running",
          request: "",
          grant,
          decision: `Allowed ${answer.scope.replace("-", " ")} by you at ${at}`,
        });
      }
    }
    if (allowed) {
      phase("tool", { tool: call.title });
      changed();
      await sleep(Math.max(this.tick * 6, step.ms ?? 1));
      set({
        state: step.problem ? "failed" : "done",
        problem: step.problem ?? "",
        ms: step.ms ?? 1,
      });
    }
    node.details.set(id, this.#detail(id, step, args, part.call as t.Call));
  }

  #detail(
    id: string,
    step: Extract<Step, { call: unknown }>,
    args: string,
    call: t.Call,
  ): t.CallDetail {
    return {
      id,
      arguments: args,
      raw_arguments: "",
      result: step.result,
      result_json: step.result.startsWith("{")
        ? JSON.stringify(JSON.parse(step.result), null, 2)
        : "",
      result_cut: 0,
      hidden_removed: step.hidden ?? 0,
      result_marked: step.hidden ? `3‹U+200B›‹U+200B›‹U+202E›` : "",
      media: [],
      error: step.problem ?? "",
      error_type: step.problem ? "TypeError" : "",
      traceback: step.problem
        ? `Traceback (most recent call last):\n  File "text_tools.py", line 12, in word_count\nTypeError: ${step.problem}`
        : "",
      printed: "",
      started: call.started,
      ended: new Date().toISOString(),
      ms: call.ms,
      caller: "main",
      digest: "9f2c41aa03d7",
      why: call.decision
        ? [call.decision, "No rule refuses it.", "The plugin’s files are the approved ones."]
        : [],
    };
  }
}

function excerptOf(text: string, words: string): t.Excerpt | null {
  const at = words ? text.toLowerCase().indexOf(words) : -1;
  if (at < 0) return null;
  return {
    before: text.slice(Math.max(0, at - 40), at),
    match: text.slice(at, at + words.length),
    after: text.slice(at + words.length, at + words.length + 40),
  };
}
