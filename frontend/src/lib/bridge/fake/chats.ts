/** The conversations of a scene, which a test may add to and change. */
import type * as t from "../generated";
import type { FakeBus } from "./bus";
import { sample, type Scene } from "./scene";

export interface Conversation {
  chat: t.Chat;
  entries: t.Entry[];
  status: t.TurnStatus | null;
  waiting: boolean;
  unread: boolean;
}

/** The words of HTML. */
const wordsOf = (html: string) => html.replace(/<[^>]+>/g, "");

/** The words of an entry. */
const source = (entry: t.Entry) =>
  entry.parts.flatMap((p) => (p.kind === "text" ? p.blocks.map((b) => wordsOf(b.html)) : [])).join("\n\n");

function excerptOf(entry: t.Entry, wanted: string): t.Excerpt | null {
  const text = source(entry);
  const at = wanted ? text.toLowerCase().indexOf(wanted) : -1;
  if (at < 0) return null;
  const end = at + wanted.length;
  const [before, match] = [text.slice(Math.max(0, at - 40), at), text.slice(at, end)];
  return { before, match, after: text.slice(end, end + 40) };
}

/** A text of these blocks. */
export function textPart(blocks: string[]): t.Part {
  const drawn = blocks.map((html, index) => ({ index, html, keep: 0, done: true }));
  return { ...sample().text, blocks: drawn, block_count: drawn.length };
}

export class FakeChats {
  all = new Map<string, Conversation>();
  drafts = new Map<string, t.Draft>();
  /** How much of the index is there, in percent. */
  searched = 100;

  constructor(
    private bus: FakeBus,
    private scene: Scene,
  ) {
    const rows = new Map(scene.of<t.ChatList>("Chats.List").rows.map((row) => [row.id, row]));
    const { requests } = scene.of<t.PermissionRequestList>("Permissions.Requests");
    for (const [id, { chat, entries, status }] of scene.all<t.Pull>("Chats.Pull")) {
      if (!chat) continue;
      const waiting = requests.some((request) => request.conversation === id);
      this.all.set(id, { chat, entries, status, waiting, unread: rows.get(id)?.unread ?? false });
    }
  }

  /** Adds a chat like those that were recorded. */
  add(title: string, updated: Date, change: Partial<t.Chat> = {}): Conversation {
    const models = this.scene.of<t.ModelList>("Models.List");
    const model = change.model ?? models.default;
    const chat: t.Chat = {
      ...sample().chat,
      id: `chat-${this.all.size + 1}`,
      title,
      model,
      model_title: models.models.find((m) => m.name === model)?.title ?? model,
      created: updated.toISOString(),
      updated: updated.toISOString(),
      ...change,
    };
    const made = { chat, entries: [], status: null, waiting: false, unread: false };
    this.all.set(chat.id, made);
    return made;
  }

  /** Adds an entry at the end. */
  say(c: Conversation, role: t.EntryRole, parts: t.Part[], change: Partial<t.Entry> = {}): t.Entry {
    const seq = c.entries.length + 1;
    const entry: t.Entry = {
      ...(role === "assistant" ? sample().answer : sample().question),
      seq,
      turn: `turn-${seq}`,
      part_count: parts.length,
      parts: parts.map((part, index) => ({ ...part, index })),
      ...change,
    };
    c.entries.push(entry);
    return entry;
  }

  /** Says what a running turn does. */
  busy(c: Conversation, phase: t.Phase, more: Partial<t.TurnStatus> = {}): void {
    const since = new Date().toISOString();
    const model = c.chat.model_title;
    c.status = { turn: "turn", phase, since, model, tool: "", note: "", ...more };
  }

  of(id: string): Conversation {
    const c = this.all.get(id);
    if (!c) throw new Error(`the scene has no chat ${id}`);
    return c;
  }

  async List(query: t.ChatQuery, offset: number, limit: number): Promise<t.ChatList> {
    const wanted = query.text.trim().toLowerCase();
    const excerpt = (c: Conversation) => c.entries.map((e) => excerptOf(e, wanted)).find((e) => e !== null) ?? null;
    const found = [...this.all.values()]
      .filter((c) => c.chat.archived === query.archived)
      .filter((c) => !wanted || c.chat.title.toLowerCase().includes(wanted) || excerpt(c))
      .sort(
        (a, b) =>
          Number(!wanted && b.chat.pinned) - Number(!wanted && a.chat.pinned) ||
          b.chat.updated.localeCompare(a.chat.updated),
      );
    const groups: t.ChatGroup[] = [];
    const week = new Date(Date.now() - 6 * 86_400_000).toISOString();
    for (const { chat } of found) {
      const when = chat.updated.slice(0, chat.updated > week ? 10 : 7);
      const key = wanted ? "found" : chat.pinned ? "pinned" : when;
      const last = groups.at(-1);
      if (last?.key === key) last.count++;
      else groups.push({ key, count: 1 });
    }
    return {
      revision: this.bus.revision("chats"),
      total: found.length,
      groups,
      offset,
      searched: wanted ? this.searched : 100,
      rows: found.slice(offset, offset + limit).map((c) => ({
        id: c.chat.id,
        title: c.chat.title,
        model: c.chat.model,
        messages: c.entries.length,
        created: c.chat.created,
        updated: c.chat.updated,
        pinned: c.chat.pinned,
        archived: c.chat.archived,
        demo: c.chat.demo,
        state: c.waiting ? "waiting" : c.status ? "running" : "idle",
        unread: c.unread,
        excerpt: excerpt(c),
        found_in: c.entries.find((e) => excerptOf(e, wanted))?.seq ?? 0,
      })),
    };
  }

  async Pull(id: string, since: number, wants: t.Want[]): Promise<t.Pull> {
    const { chat, entries, status } = this.of(id);
    const revision = this.bus.revision("chat", id);
    const pulled = since === revision ? [] : entries.slice(-30);
    return {
      conversation: id,
      revision,
      chat: { ...chat },
      outline: { from: 0, seqs: entries.map((e) => e.seq) },
      entries: entries
        .filter((e) => pulled.includes(e) || wants.some((want) => want.seq === e.seq))
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
    const words = wanted.trim().toLowerCase();
    const count = (html: string) => (words ? wordsOf(html).toLowerCase().split(words).length - 1 : 0);
    return this.of(id).entries.flatMap(({ seq, parts }) =>
      parts.flatMap(({ kind, index: part, blocks }) =>
        (kind === "text" ? blocks : []).flatMap(({ html }, block) =>
          Array.from({ length: count(html) }, (_, nth) => ({ seq, spot: { part, block }, nth })),
        ),
      ),
    );
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
    const wanted = (i: number) => wants.some((want) => want.part === part.index && i >= want.from && i < want.to);
    return { ...part, blocks: part.blocks.filter(({ index: i }) => near(i) || wanted(i)) };
  });
}
