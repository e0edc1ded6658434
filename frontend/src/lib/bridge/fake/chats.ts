/** Conversations with fixed content: every call is answered with what a scene put into them. */
import type * as t from "../generated";
import type { FakeBus } from "./bus";
import { words } from "./content";
import type { FakeModels } from "./models";

export interface Conversation {
  chat: t.Chat;
  entries: t.Entry[];
  status: t.TurnStatus | null;
  waiting: boolean;
  unread: boolean;
}

/** A part of an entry, of which only what counts is named. */
export function part(kind: t.PartKind, change: Partial<t.Part>): t.Part {
  const blocks = change.blocks ?? [];
  return {
    index: 0,
    kind,
    blocks,
    block_count: blocks.length,
    ms: 0,
    done: true,
    call: null,
    media: null,
    ...change,
  };
}

export const textPart = (blocks: string[], done = true): t.Part =>
  part("text", {
    blocks: blocks.map((html, index) => ({
      index,
      html,
      keep: 0,
      done: done || index < blocks.length - 1,
    })),
    done,
  });

/** The words of an entry, without marks. */
const source = (entry: t.Entry) =>
  entry.parts
    .flatMap((p) => (p.kind === "text" ? p.blocks.map((b) => b.html.replace(/<[^>]+>/g, "")) : []))
    .join("\n\n");

function excerptOf(entry: t.Entry, wanted: string): t.Excerpt | null {
  const text = source(entry);
  const at = wanted ? text.toLowerCase().indexOf(wanted) : -1;
  if (at < 0) return null;
  const end = at + wanted.length;
  const [before, match] = [text.slice(Math.max(0, at - 40), at), text.slice(at, end)];
  return { before, match, after: text.slice(end, end + 40) };
}

/** What an answer took. */
const used: t.Usage = {
  input_tokens: 412,
  output_tokens: 87,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost: 0.0021,
  known: true,
  priced: "2026-10-16",
};

export class FakeChats {
  all = new Map<string, Conversation>();
  details = new Map<string, t.CallDetail>();
  /** What hooks did, by the entry. */
  hooked = new Map<number, t.HookedThing[]>();
  drafts = new Map<string, t.Draft>();
  /** How much of the index is there, in percent. */
  searched = 100;

  constructor(
    private bus: FakeBus,
    private models: FakeModels,
  ) {}

  add(title: string, updated: Date, change: Partial<t.Chat> = {}): Conversation {
    const model = change.model ?? this.models.default;
    const chat: t.Chat = {
      id: `chat-${this.all.size + 1}`,
      title,
      model,
      model_title: this.models.title(model),
      vision: false,
      tools: true,
      system: "",
      project: "",
      pinned: false,
      archived: false,
      demo: model.startsWith("demo/"),
      spent: { ...used, input_tokens: 12_300, cost: 0.0371 },
      created: updated.toISOString(),
      updated: updated.toISOString(),
      ...change,
    };
    const c = { chat, entries: [], status: null, waiting: false, unread: false };
    this.all.set(chat.id, c);
    return c;
  }

  /** Adds an entry at the end. */
  say(c: Conversation, role: t.EntryRole, parts: t.Part[], change: Partial<t.Entry> = {}): t.Entry {
    const seq = c.entries.length + 1;
    const entry: t.Entry = {
      seq,
      whole: true,
      role,
      turn: `turn-${seq}`,
      model: role === "assistant" ? c.chat.model_title : "",
      state: "complete",
      reason: role === "assistant" ? "done" : "",
      error: null,
      created: new Date().toISOString(),
      ended: "",
      hidden: false,
      siblings: [],
      other_branch: 0,
      words: parts.reduce((n, p) => n + p.blocks.reduce((m, b) => m + words(b.html), 0), 0),
      usage: role === "assistant" ? { ...used } : null,
      part_count: parts.length,
      parts: parts.map((p, index) => ({ ...p, index })),
      ...change,
    };
    c.entries.push(entry);
    return entry;
  }

  /** Has an answer end with a part that calls a tool. */
  call(entry: t.Entry, call: t.Call): void {
    entry.parts.push({ ...part("tool_call", { call }), index: entry.parts.length });
    entry.part_count = entry.parts.length;
  }

  /** Says what a running turn does. */
  busy(c: Conversation, phase: t.Phase, more: Partial<t.TurnStatus> = {}): void {
    const model = c.chat.model_title;
    const since = new Date().toISOString();
    c.status = { turn: "turn", phase, since, model, tool: "", note: "", ...more };
  }

  of(id: string): Conversation {
    const c = this.all.get(id);
    if (!c) throw new Error(`the scene has no chat ${id}`);
    return c;
  }

  async List(query: t.ChatQuery, offset: number, limit: number): Promise<t.ChatList> {
    const wanted = query.text.trim().toLowerCase();
    const excerpt = (c: Conversation) =>
      c.entries.map((e) => excerptOf(e, wanted)).find((e) => e !== null) ?? null;
    const rows = [...this.all.values()]
      .filter((c) => c.chat.archived === query.archived)
      .filter((c) => !wanted || c.chat.title.toLowerCase().includes(wanted) || excerpt(c))
      .sort(
        (a, b) =>
          Number(!wanted && b.chat.pinned) - Number(!wanted && a.chat.pinned) ||
          b.chat.updated.localeCompare(a.chat.updated),
      );
    const groups: t.ChatGroup[] = [];
    const week = Date.now() - 6 * 86_400_000;
    for (const { chat } of rows) {
      const day = new Date(chat.updated);
      const month = `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}`;
      const date = `${month}-${String(day.getDate()).padStart(2, "0")}`;
      const when = day.getTime() > week ? date : month;
      const key = wanted ? "found" : chat.pinned ? "pinned" : when;
      const last = groups.at(-1);
      if (last?.key === key) last.count++;
      else groups.push({ key, count: 1 });
    }
    return {
      revision: this.bus.revision("chats"),
      total: rows.length,
      groups,
      offset,
      searched: wanted ? this.searched : 100,
      rows: rows.slice(offset, offset + limit).map((c) => ({
        id: c.chat.id,
        title: c.chat.title,
        updated: c.chat.updated,
        pinned: c.chat.pinned,
        archived: c.chat.archived,
        demo: c.chat.demo,
        state: c.waiting ? "waiting" : c.status ? "running" : "idle",
        unread: c.unread,
        excerpt: excerpt(c),
      })),
    };
  }

  async Pull(id: string, since: number, wants: t.Want[]): Promise<t.Pull> {
    const { chat, entries, status } = this.of(id);
    const revision = this.bus.revision("chat", id);
    const pulled = since === revision ? [] : entries.slice(-30);
    const seqs = wants.map((want) => want.seq);
    return {
      conversation: id,
      revision,
      chat: { ...chat },
      outline: { from: 0, seqs: entries.map((e) => e.seq) },
      entries: entries
        .filter((e) => pulled.includes(e) || seqs.includes(e.seq))
        .map((e) => {
          const mine = wants.filter((want) => want.seq === e.seq);
          const whole = pulled.includes(e) || mine.some((want) => want.to === 0);
          return { ...structuredClone(e), whole, parts: some(e.parts, whole, mine) };
        }),
      status,
      reset: false,
    };
  }

  async Source(id: string, seq: number): Promise<string> {
    return this.of(id)
      .entries.filter((e) => e.seq === seq)
      .map(source)
      .join("");
  }

  async Find(id: string, wanted: string): Promise<t.Find[]> {
    return this.of(id).entries.flatMap((e, index) => {
      const excerpt = excerptOf(e, wanted.trim().toLowerCase());
      return excerpt ? [{ seq: e.seq, index, excerpt }] : [];
    });
  }

  async Info(id: string, seq: number): Promise<t.MessageInfo> {
    const { chat, entries } = this.of(id);
    const usage = { ...used };
    const messages = entries
      .filter((e) => e.seq < seq)
      .map((e) => ({ role: e.role, content: source(e) }));
    const body = JSON.stringify({ model: chat.model, messages, tools: ["word_count"] }, null, 2);
    const request = {
      model: chat.model,
      sent: chat.updated,
      ms: 1240,
      body,
      rebuilt: false,
      usage,
    };
    return { requests: [request], usage, ms: 1310 };
  }

  async Hooks(_id: string, seq: number): Promise<t.HookedThing[]> {
    return this.hooked.get(seq) ?? [];
  }

  async Call(_id: string, call: string): Promise<t.CallDetail> {
    const detail = this.details.get(call);
    if (!detail) throw new Error(`the scene tells nothing of call ${call}`);
    return detail;
  }

  async Place(id: string, seq: number, words: string): Promise<t.Spot> {
    for (const { index, blocks } of this.of(id).entries.find((e) => e.seq === seq)?.parts ?? []) {
      const block = blocks.findIndex(({ html }) =>
        html
          .replace(/<[^>]+>/g, "")
          .toLowerCase()
          .includes(words.toLowerCase()),
      );
      if (block >= 0) return { part: index, block };
    }
    return { part: 0, block: 0 };
  }

  async Draft(id: string): Promise<t.Draft> {
    return this.drafts.get(id) ?? { text: "", cursor: 0, attachments: [], queued: [] };
  }

  async SaveDraft(id: string, draft: t.Draft): Promise<void> {
    this.drafts.set(id, JSON.parse(JSON.stringify(draft)) as t.Draft); // as it goes over the wire
  }

  async Attach(name: string, data: string): Promise<t.Attached> {
    const mime_type = /\.(png|jpe?g)$/.test(name) ? "image/png" : "text/plain";
    return { id: `media-${name}`, name, mime_type, size: Math.floor(data.length * 0.75), lost: "" };
  }

  async Send(id: string, { model }: t.Outgoing): Promise<t.Sent> {
    const made = () => this.add("", new Date(), model ? { model } : {}).chat.id;
    return { conversation: id || made(), turn: "", seq: 0 };
  }
}

/** Parts with those of their blocks that a pull brings: where a message begins and ends, and what is wanted. */
function some(parts: t.Part[], whole: boolean, wants: t.Want[]): t.Part[] {
  return structuredClone(parts).map((part) => {
    const near = (i: number) => whole && (i < 10 || i >= part.block_count - 30);
    const wanted = (i: number) =>
      wants.some((want) => want.part === part.index && i >= want.from && i < want.to);
    return { ...part, blocks: part.blocks.filter(({ index: i }) => near(i) || wanted(i)) };
  });
}
