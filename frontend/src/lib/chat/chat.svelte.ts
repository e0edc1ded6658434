/**
 * The conversation that is open: its visible path, the messages that have been
 * looked at, and what its turn is doing. Bodies are pulled as they come into
 * view, so a chat of 10,000 messages opens like one of ten.
 */
import { SvelteMap } from "svelte/reactivity";
import { AppError, type Bridge } from "../bridge/calls";
import { Puller, type Notices } from "../bridge/events";
import type { Chat, Find, Pull, Sent, TurnStatus } from "../bridge/generated";
import { s } from "../strings";
import { EntryView } from "./entry.svelte";

/** How many bodies are kept; the ones asked for longest ago go first. */
const keepBodies = 600;
/** How many bodies on either side of one in view are asked for with it: a screen or more. */
const ahead = 15;
/** How many bodies one call may bring (Chats.Messages). */
const batch = 200;

export class OpenChat {
  readonly id: string;
  chat = $state.raw<Chat | null>(null);
  outline = $state.raw<number[]>([]);
  status = $state.raw<TurnStatus | null>(null);
  /** Set when it could not be opened. */
  error = $state.raw<AppError | null>(null);
  /** The first pull has arrived. */
  ready = $state.raw(false);
  /** Blocks that arrived while streaming, for the pill that counts paragraphs. */
  paragraphs = $state.raw(0);
  /** The message being edited in place, 0 = none. */
  editing = $state.raw(0);
  /** A message to bring into view and flash once; the transcript sets it back to 0. */
  target = $state.raw(0);
  /** The permission request of that message that is to be in view; "" = none. */
  targetRequest = "";
  /** The question just sent, which is placed at the top of the view; 0 = none. */
  asked = $state.raw(0);

  readonly running = $derived(this.status !== null);
  readonly empty = $derived(this.ready && this.outline.length === 0);

  #entries = new SvelteMap<number, EntryView>();
  #wanted = new Set<number>();
  #revision = 0;
  #puller: Puller;
  #off: () => void;

  constructor(
    private bridge: Bridge,
    notices: Notices,
    id: string,
    /** Says one sentence in the polite live region. */
    private announce: (sentence: string) => void,
    /** A turn has ended; well: it was neither stopped nor did it fail. */
    private onended: (well: boolean) => void = () => {},
  ) {
    this.id = id;
    this.#puller = new Puller(
      () => this.#revision,
      async () => this.take(await bridge.chats.Pull(id, this.#revision)),
      (cause) => {
        if (!this.ready) this.error = AppError.of(cause);
      },
    );
    this.#off = notices.watch("chat", id, this.#puller.notice);
  }

  open(): Promise<void> {
    this.error = null;
    return this.#puller.refresh();
  }

  close(): void {
    this.#off();
  }

  /** The message's body when it is held; asks for it when not. */
  entry(seq: number): EntryView | undefined {
    return this.#entries.get(seq);
  }

  /** A message has come into view: its body is wanted, and those a screen around it. */
  near(seq: number, index: number): void {
    this.need(seq);
    const from = Math.max(0, index - ahead);
    for (const other of this.outline.slice(from, index + ahead + 1)) this.need(other);
  }

  /** A body is wanted. Calls in one task are one question. */
  need(seq: number): void {
    if (this.#entries.has(seq) || this.#wanted.has(seq)) return;
    this.#wanted.add(seq);
    if (this.#wanted.size === 1) queueMicrotask(() => void this.#fetch());
  }

  async #fetch(): Promise<void> {
    const seqs = [...this.#wanted].slice(0, batch);
    try {
      const entries = await this.bridge.chats.Messages(this.id, seqs);
      for (const entry of entries) {
        if (!this.#entries.has(entry.seq)) this.#entries.set(entry.seq, new EntryView(entry));
      }
    } catch (cause) {
      this.error = AppError.of(cause);
    }
    for (const seq of seqs) this.#wanted.delete(seq);
    this.#evict();
    if (this.#wanted.size > 0) queueMicrotask(() => void this.#fetch());
  }

  #evict(): void {
    const newest = new Set(this.outline.slice(-40));
    for (const seq of this.#entries.keys()) {
      if (this.#entries.size <= keepBodies) return;
      if (!newest.has(seq)) this.#entries.delete(seq);
    }
  }

  /** Takes in what a pull brought. */
  take(pull: Pull): void {
    if (pull.revision < this.#revision && !pull.reset) return; // overtaken by a newer answer
    if (pull.reset) this.#entries.clear();
    this.#revision = pull.revision;
    if (pull.chat) this.chat = pull.chat;
    if (pull.outline) {
      this.outline = [...this.outline.slice(0, pull.outline.from), ...pull.outline.seqs];
    }
    let fresh = 0;
    for (const entry of pull.entries) {
      const held = this.#entries.get(entry.seq);
      if (held && !entry.whole) fresh += held.take(entry);
      else if (entry.whole) {
        if (held) fresh += held.take(entry);
        else this.#entries.set(entry.seq, new EntryView(entry));
      }
    }
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
    if (last.head.state === "failed")
      this.announce(s.status.failed(last.head.error?.message ?? ""));
    else if (last.head.state === "stopped") this.announce(s.status.stopped);
    else this.announce(s.status.finished(last.head.words, last.calls.length));
  }

  /** The last message of the path, when its body is held. */
  get last(): EntryView | undefined {
    const seq = this.outline.at(-1);
    return seq === undefined ? undefined : this.#entries.get(seq);
  }

  /** The last message that a person wrote, among the bodies held. */
  get lastQuestion(): EntryView | undefined {
    for (let i = this.outline.length - 1; i >= 0; i--) {
      const entry = this.#entries.get(this.outline[i] as number);
      if (entry?.head.role === "user") return entry;
    }
    return undefined;
  }

  stop = (): Promise<void> => this.bridge.chats.Stop(this.id);

  async regenerate(seq: number, model = ""): Promise<void> {
    await this.bridge.chats.Regenerate(this.id, seq, model);
  }

  async edit(seq: number, text: string, answerAgain: boolean): Promise<Sent> {
    const sent = await this.bridge.chats.Edit(this.id, seq, text, answerAgain);
    this.editing = 0;
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

  find = (words: string): Promise<Find[]> => this.bridge.chats.Find(this.id, words);
}
