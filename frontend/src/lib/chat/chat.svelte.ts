/**
 * The conversation that is open: its visible path, the messages that have been
 * looked at, and what its turn is doing. What is shown is pulled as it comes near
 * the view, so a chat of 10,000 messages opens like one of ten.
 */
import type { Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type { Chat, Find, Pull, Sent, Spot, TurnStatus, Want } from "../bridge/generated";
import { Pulled } from "../bridge/pulled.svelte";
import { s } from "../strings";
import { Edits } from "./edits.svelte";
import { EntryView } from "./entry.svelte";

/** How much HTML is held, in characters; the messages pulled longest ago are dropped first. */
const keepSize = 6_000_000;

/** What is to be brought into view; seq 0 is nothing. */
export interface Target {
  seq: number;
  /** The permission request whose card is to be in view. */
  request?: string;
  spot?: Spot;
  /** The words looked for are to be in view, those before which so many stand in that block. */
  nth?: number;
  /** The message gets the keyboard too. */
  focus?: boolean;
}

export class OpenChat extends Pulled {
  readonly id: string;
  chat = $state.raw<Chat | null>(null);
  outline = $state.raw<number[]>([]);
  status = $state.raw<TurnStatus | null>(null);
  /** How many pulls were taken in. */
  pulls = $state.raw(0);
  /** Blocks that arrived while streaming, for the pill that counts paragraphs. */
  paragraphs = $state.raw(0);
  /** A message to bring into view and flash once; the transcript sets it back. */
  target = $state.raw<Target>({ seq: 0 });
  /** The question just sent, which is placed at the top of the view; 0 = none. */
  asked = $state.raw(0);

  /** The first entry that came while nobody looked, below a line; 0 = none. */
  unread = $state.raw(0);

  /** The messages that are chosen to be copied, quoted or removed; null while none can be. */
  picked = $state.raw<ReadonlySet<number> | null>(null);
  #pickedLast = 0;

  /** Chooses a message or leaves it; with all, those between it and the one before, too. */
  pick(seq: number, all = false): void {
    const picked = new Set(this.picked);
    const [a, b] = [this.outline.indexOf(this.#pickedLast), this.outline.indexOf(seq)];
    if (all && a >= 0) for (const one of this.outline.slice(Math.min(a, b), Math.max(a, b) + 1)) picked.add(one);
    else if (!picked.delete(seq)) picked.add(seq);
    this.#pickedLast = seq;
    this.picked = picked;
  }

  /** The message being edited in place; null is none. */
  readonly edited = $derived.by(() => this.edits.of(this.id));
  /** Which one that is, 0 = none. */
  readonly editing = $derived(this.edited?.seq ?? 0);
  readonly running = $derived(this.status !== null);
  readonly empty = $derived(this.ready && this.outline.length === 0);

  #entries = new Map<number, EntryView>();
  /** Changes when entries come or go. */
  #bodies = $state.raw(0);
  #wants: Want[] = [];
  #asks = false;
  #futile = 0; // the revision at which nothing came of what was wanted
  #size = 0; // of the HTML that came, and may be held

  constructor(
    private bridge: Bridge,
    notices: Notices,
    id: string,
    /** Says one sentence in the polite live region. */
    private announce: (sentence: string) => void,
    /** A turn has ended; well: it was neither stopped nor did it fail. */
    private onended: (well: boolean) => void = () => {},
    /** What is edited in each chat, whichever is open. */
    private edits = new Edits(),
  ) {
    super(notices, "chat", id);
    this.id = id;
  }

  protected override async pull(): Promise<void> {
    const wants = this.#wants.filter((want) => this.#lacks(want)); // some may have come
    this.#wants = [];
    const pull = await this.bridge.chats.Pull(this.id, this.revision, wants);
    this.take(pull);
    if (wants.length > 0 && pull.entries.length === 0) this.#futile = this.revision;
  }

  protected override failed(cause: unknown): void {
    if (!this.ready || this.#asks) super.failed(cause);
  }

  override open(): Promise<void> {
    this.error = null;
    return super.open();
  }

  /** The message when it is held. */
  entry(seq: number): EntryView | undefined {
    void this.#bodies;
    return this.#entries.get(seq);
  }

  /** The same, for callers that need not be updated when it appears or disappears. */
  held = (seq: number): EntryView | undefined => this.#entries.get(seq);

  /** Requests what is wanted. Messages in shown are on the page and stay loaded. */
  want(wants: Want[], shown: { seq: number }[]): void {
    this.#wants = this.#futile === this.revision ? [] : wants;
    if (this.#size > keepSize) this.#evict(shown);
    if (!this.#asks && this.#wants.length > 0) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asks = true;
    while (this.#wants.length > 0 && !this.error) await this.refresh();
    this.#asks = false;
  }

  #lacks({ seq, part, from, to }: Want): boolean {
    const blocks = this.held(seq)?.parts[part];
    if (to === 0 || !blocks) return !this.held(seq);
    for (let i = from; i < to; i++) if (blocks.block(i).lacks) return true;
    return false;
  }

  #evict(shown: { seq: number }[]): void {
    const kept = new Set([...shown.map(({ seq }) => seq), ...this.outline.slice(-2)]);
    this.#size = 0;
    for (const [seq, entry] of [...this.#entries].reverse()) {
      if (this.#size > keepSize / 2 && !kept.has(seq)) this.#entries.delete(seq);
      else this.#size += entry.size;
    }
    this.#bodies++;
  }

  /** Takes in what a pull brought. */
  take(pull: Pull): void {
    if (pull.revision < this.revision && !pull.reset) return; // overtaken by a newer answer
    if (pull.reset) this.#entries.clear();
    let came = pull.reset;
    this.revision = pull.revision;
    if (pull.chat) this.chat = pull.chat;
    if (pull.outline) {
      this.outline = [...this.outline.slice(0, pull.outline.from), ...pull.outline.seqs];
    }
    let fresh = 0;
    for (const entry of pull.entries) {
      for (const part of entry.parts) for (const { html } of part.blocks) this.#size += html.length;
      const held = this.#entries.get(entry.seq);
      if (held) fresh += held.take(entry);
      else if (entry.whole) {
        this.#entries.set(entry.seq, new EntryView(entry));
        came = true;
      }
    }
    if (came) this.#bodies++;
    this.pulls++;
    if (this.ready) this.paragraphs += fresh;
    const before = this.status;
    if (JSON.stringify(before) !== JSON.stringify(pull.status)) this.status = pull.status;
    if (this.ready) this.#say(before, pull.status);
    this.ready = true;
  }

  #say(before: TurnStatus | null, now: TurnStatus | null): void {
    if (!before && now) this.announce(s.status.started);
    if (!before || now) return;
    const last = this.last;
    this.onended(last?.head.state === "complete");
    if (!last) return;
    if (last.head.state === "failed") this.announce(s.status.failed(last.head.error?.message ?? ""));
    else if (last.head.state === "stopped") this.announce(s.status.stopped);
    else this.announce(s.status.finished(last.head.words, last.calls.length));
  }

  /** The last message of the path, when its body is held. */
  get last(): EntryView | undefined {
    const seq = this.outline.at(-1);
    return seq === undefined ? undefined : this.entry(seq);
  }

  /** The last message that a person wrote, among the bodies held. */
  get lastQuestion(): EntryView | undefined {
    for (let i = this.outline.length - 1; i >= 0; i--) {
      const entry = this.entry(this.outline[i] as number);
      if (entry?.head.role === "user") return entry;
    }
    return undefined;
  }

  stop = (): Promise<void> => this.bridge.chats.Stop(this.id);

  async regenerate(seq: number, model = ""): Promise<void> {
    await this.bridge.chats.Regenerate(this.id, seq, model);
  }

  /** The last entry that a person who looks away now has read. */
  get read(): number {
    return this.outline.at(this.running && this.outline.length > 1 ? -2 : -1) ?? 0;
  }

  /** Draws the line above what followed the entry read. */
  markUnread(read: number): void {
    const at = this.outline.indexOf(read);
    const seq = at < 0 ? undefined : this.outline[at + 1];
    if (seq && this.entry(seq)?.head.role !== "user") this.unread = seq;
  }

  /** Has the model go on with an answer that was cut off. */
  async goOn(seq: number): Promise<void> {
    await this.bridge.branches.GoOn(this.id, seq);
  }

  /** Begins to edit a message in place, or goes on with it. */
  beginEdit(seq: number): void {
    this.edits.begin(this.id, seq);
  }

  /** Goes from the message that is edited; what was typed is there when it is edited again. */
  leaveEdit(): void {
    this.edits.leave(this.id);
  }

  /** Leaves the message as it was. */
  endEdit(): void {
    this.edits.drop(this.id, this.editing);
  }

  async edit(seq: number, text: string, answerAgain: boolean): Promise<Sent> {
    const sent = await this.bridge.chats.Edit(this.id, seq, text, answerAgain);
    this.edits.drop(this.id, seq);
    return sent;
  }

  /** Shows the version `step` places from the one shown; nothing at either end. */
  async switchVersion(seq: number, step: number): Promise<void> {
    const siblings = this.entry(seq)?.head.siblings ?? [];
    const other = siblings[siblings.indexOf(seq) + step];
    if (other !== undefined) await this.bridge.chats.SwitchVersion(this.id, other);
  }

  setHidden = (seq: number, hidden: boolean) => this.bridge.chats.SetHidden(this.id, seq, hidden);

  source = (seq: number): Promise<string> => this.bridge.chats.Source(this.id, seq);

  /** The place of a permission request's card in a message. */
  spotOf(seq: number, request: string): Spot {
    const parts = this.held(seq)?.parts ?? [];
    const part = parts.findIndex(({ call }) => call?.request === request);
    return { part: part < 0 ? parts.length : part, block: 0 };
  }

  find = (words: string): Promise<Find[]> => this.bridge.chats.Find(this.id, words);
}
