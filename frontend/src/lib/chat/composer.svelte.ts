/**
 * The half-written message of one conversation. It is saved 300 ms after the last
 * change, so that it survives a crash, and what could not be sent stays in it.
 */
import { AppError, type Bridge } from "../bridge/calls";
import type { Asking, Attached, Draft, Outgoing, Queued, Sent } from "../bridge/generated";
import { said } from "../models/asking";
import { s } from "../strings";

/** Past this a paste is offered as a file. */
export const longPaste = 4000;
const maxBytes = 20 * 2 ** 20; // as app/base/limit has it
const saveAfter = 300;

type Message = Pick<Outgoing, "text" | "attachments" | "no_tools">;

export interface Attachment {
  key: number;
  name: string;
  mimeType: string;
  /** Set once it is stored. */
  media: Attached | null;
  /** Why it could not be. */
  problem: string;
  /** The pasted text that it is made of; "" is a file. */
  pasted: string;
}

/** Puts something back where it was, whichever chat is open. */
export type Back = () => Promise<void>;

export class Composer {
  text = $state("");
  cursor = 0;
  /** Counts the drafts that came to where one may be typing: the caret is put back to the cursor. */
  taken = $state.raw(0);
  attachments = $state<Attachment[]>([]);
  /** A long text that was just pasted: it is in the text, and may become a file. */
  pasted = $state.raw<{ text: string; at: number } | null>(null);
  /** Messages that go out when the running answer is done. */
  queued = $state.raw<Queued[]>([]);
  sending = $state.raw(false);
  /** Offer no tools with the next message. */
  noTools = $state.raw(false);
  /** The text of a new chat came from a link, which had that many hidden characters; null = it did not. */
  linked = $state.raw<{ hidden: number } | null>(null);
  /** Model for a chat that the next message makes, how it is asked, its system text and its folder. */
  model = $state.raw("");
  asking = $state.raw<Asking>({});
  system = $state.raw("");
  project = $state.raw("");

  /** What the next press of Send sends; null where there is nothing. */
  get outgoing(): Message | null {
    const attachments = this.#media().map(({ id }) => id);
    return this.ready ? { text: this.text, attachments, no_tools: this.noTools } : null;
  }

  /** What a chat begins with that the next message makes. */
  get begins(): Pick<Outgoing, "asking" | "system" | "project"> {
    const { asking, system, project } = this;
    return { ...(said(asking) && { asking }), ...(system.trim() && { system }), ...(project && { project }) };
  }

  /** The chat is made: the next one begins with nothing chosen. */
  begun(): void {
    this.asking = {};
    this.system = this.project = "";
  }

  readonly adding = $derived(this.attachments.some((a) => !a.media && !a.problem));
  readonly ready = $derived(
    !this.sending && !this.adding && (this.text.trim() !== "" || this.attachments.some((a) => a.media)),
  );

  #conversation = "";
  /** Counts switches between chats, so that a late answer is not applied to a later visit. */
  #visit = 0;
  /** The part of the draft that is being sent; the draft is saved without it. */
  #leaving: Draft | null = null;
  /** The message that went out last; settled once its draft is without it, or has it again. */
  #going: Promise<Sent | null> = Promise.resolve(null);
  #keys = 0;
  /** Keys of the files that are being stored. */
  #coming = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dirty = false;
  /** The saved draft has arrived. Text typed before that must not replace it. */
  #came = true;
  #saving = Promise.resolve();
  #opening = Promise.resolve();

  constructor(
    private bridge: Bridge,
    private onerror: (error: AppError) => void,
    /** The model that is shown, which travels with the message. */
    private shown: () => string = () => this.model,
    /** The next message goes without the chat's council. */
    private skipsCouncil: () => boolean = () => false,
    /** Resolves once pending settings for the next message are saved. */
    private settled?: () => Promise<void>,
  ) {}

  /**
   * Keeps what is being written and goes on with another conversation's draft. One that is being made has none
   * yet; where it cannot be made, what is written belongs to a new chat.
   */
  switchTo(conversation: string | Promise<string>): Promise<void> {
    return (this.#opening = this.#open(conversation));
  }

  async #open(conversation: string | Promise<string>): Promise<void> {
    if (this.#leaving) this.#dirty = true; // it may be in the saved draft
    const saved = this.#keep();
    const visit = ++this.#visit;
    this.#leaving = null;
    this.sending = false;
    this.#conversation = typeof conversation === "string" ? conversation : "";
    this.#came = false;
    this.text = "";
    this.cursor = 0;
    this.attachments = [];
    this.queued = [];
    this.pasted = null;
    this.noTools = false; // it was said of the message that is left
    await saved;
    const id = await Promise.resolve(conversation).catch(() => "");
    if (visit !== this.#visit) return;
    this.#conversation = id;
    let kept: Draft | null = null;
    try {
      kept = await this.bridge.chats.Draft(id);
    } catch (cause) {
      this.onerror(AppError.of(cause));
    }
    if (visit !== this.#visit) return;
    this.#came = true;
    if (kept) this.#take(typedBefore(this.#all(), kept));
    if (this.#dirty) this.#later();
  }

  /** Shows a draft; files that are not stored yet, or failed, stay attached. */
  #take({ text, cursor, attachments, queued }: Draft): void {
    const held = this.attachments;
    this.text = text;
    this.cursor = cursor;
    this.attachments = [
      ...attachments.map((media) => held.find((a) => a.media === media) ?? this.#kept(media)),
      ...held.filter((a) => !a.media),
    ];
    this.queued = queued;
    this.taken++;
  }

  /** Something was typed. */
  changed(text: string, cursor: number): void {
    this.text = text;
    this.cursor = cursor;
    if (!text) this.linked = null;
    if (this.pasted && !text.includes(this.pasted.text)) this.pasted = null;
    this.#later();
  }

  /** Something was typed before the draft came: it goes before the draft. */
  begin(text: string, cursor: number): void {
    this.#take(typedBefore({ text, cursor, attachments: [], queued: [] }, this.#all()));
    this.#later();
  }

  #later(): void {
    this.#dirty = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), saveAfter);
  }

  /** Saves the draft now if it changed; resolves once all drafts are saved, one after another. */
  async save(): Promise<void> {
    while (this.#dirty && !this.#came) await this.#opening;
    await this.#keep();
  }

  /** The same. If the chat is left before its saved draft arrived, both are merged. */
  #keep(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#dirty) return this.#saving;
    this.#dirty = false;
    const conversation = this.#conversation;
    const draft = this.#draft();
    if (!this.#came) return this.#mend(conversation, (kept) => typedBefore(draft, kept));
    return this.#after(() => this.bridge.chats.SaveDraft(conversation, draft));
  }

  /** Changes the saved draft of a conversation. */
  #mend(conversation: string, change: (kept: Draft) => Draft): Promise<void> {
    const { chats } = this.bridge;
    return this.#after(async () => chats.SaveDraft(conversation, change(await chats.Draft(conversation))));
  }

  /** Runs an operation on saved drafts after the ones before it. */
  #after(act: () => Promise<void>): Promise<void> {
    this.#saving = this.#saving.then(act).catch((cause: unknown) => this.onerror(AppError.of(cause)));
    return this.#saving;
  }

  #media(): Attached[] {
    return this.attachments.flatMap((a) => (a.media ? [a.media] : []));
  }

  #all(): Draft {
    const { text, cursor, queued } = this;
    return { text, cursor, attachments: this.#media(), queued };
  }

  /** The text without the part that is being sent: what was typed after it. */
  #draft(): Draft {
    const all = this.#all();
    const out = this.#leaving;
    if (!out) return all;
    const { text, cursor, queued } = all;
    // Text that the window appends is separated by an empty line.
    const lines = out.text && text.startsWith(`${out.text}\n\n`) ? 2 : 0;
    const skips = text.startsWith(out.text) ? out.text.length + lines : 0;
    return {
      text: text.slice(skips),
      cursor: Math.max(0, cursor - skips),
      attachments: all.attachments.filter((m) => !out.attachments.includes(m)),
      queued: queued.filter((one) => !out.queued.includes(one)),
    };
  }

  /** Takes away what was sent or queued. */
  #clear(out: Draft): void {
    this.#leaving = out;
    const { text, cursor, attachments, queued } = this.#draft();
    this.#leaving = null;
    this.text = text;
    this.cursor = cursor;
    // A file that was refused goes with the message that it was meant for.
    const sent = out.text !== "" || out.attachments.length > 0;
    this.attachments = this.attachments.filter((a) => (a.media ? attachments.includes(a.media) : !(sent && a.problem)));
    this.queued = queued;
    if (out.text || out.attachments.length > 0) this.pasted = null;
    if (out.queued.length === 0) this.noTools = false;
    if (!text) this.linked = null;
    this.#dirty = true;
  }

  /** Puts what is written behind the running answer. */
  async queue(): Promise<void> {
    if (!this.ready) return;
    const { text, cursor, noTools: no_tools } = this;
    const attachments = this.#media();
    this.#clear({ text, cursor, attachments, queued: [] });
    this.queued = [...this.queued, { text, attachments, no_tools }];
    await this.save();
  }

  /** Removes the queued message at a position. */
  async unqueue(at: number): Promise<Queued | undefined> {
    const one = this.queued[at];
    this.queued = this.queued.filter((_, i) => i !== at);
    this.#dirty = true;
    await this.save();
    return one;
  }

  /** The same; what is returned puts it back in its place. */
  async dropQueued(at: number): Promise<Back> {
    const conversation = this.#conversation;
    const one = await this.unqueue(at);
    return async () => {
      if (!one) return;
      await this.#change(conversation, (draft) => ({
        ...draft,
        queued: draft.queued.toSpliced(at, 0, one),
      }));
    };
  }

  /** Takes a queued message back to be written on, before what is written now. */
  async editQueued(at: number): Promise<void> {
    const one = await this.unqueue(at);
    if (!one) return;
    const { text, attachments } = one;
    this.#take(before({ text, cursor: text.length, attachments, queued: [] }, this.#all()));
    this.#later();
  }

  /** Sends a queued message. null when it was not sent; it then stays queued. */
  async sendQueued(at = 0): Promise<Sent | null> {
    if (!this.#came) await this.#opening;
    const one = this.queued[at];
    if (!one || this.sending) return null;
    const { text, attachments, no_tools } = one;
    return this.#sent(
      { text, attachments: attachments.map((m) => m.id), no_tools },
      { text: "", cursor: 0, attachments: [], queued: [one] },
    );
  }

  /** Sends what is queued first in a chat that is not open. null when there is nothing, or it was not sent. */
  async sendQueuedIn(conversation: string): Promise<Sent | null> {
    const { chats } = this.bridge;
    let sent: Sent | null = null;
    await this.#after(async () => {
      const kept = await chats.Draft(conversation);
      const [one, ...queued] = kept.queued;
      if (!one) return;
      const { text, no_tools } = one;
      const attachments = one.attachments.map((m) => m.id);
      let left = kept;
      try {
        // The model is the chat's, and so is its council.
        const how = { model: "", council_skip: false };
        sent = await chats.Send(conversation, { text, attachments, no_tools, ...how });
        left = { ...kept, queued };
      } finally {
        await chats.SaveDraft(conversation, left); // a message that is sent takes the draft along
      }
    });
    return sent;
  }

  #sent(message: Message, out: Draft): Promise<Sent | null> {
    return (this.#going = this.#send(message, out));
  }

  /** Sends a message, and takes out of the draft what went. null when it was not sent. */
  async #send(message: Message, out: Draft): Promise<Sent | null> {
    const conversation = this.#conversation;
    const visit = this.#visit;
    const here = () => visit === this.#visit;
    // Read now, for the chat it is sent in: by the time everything is saved another may be open.
    const how = conversation ? {} : this.begins;
    const asked = { ...message, model: this.shown(), ...how, council_skip: this.skipsCouncil() };
    this.sending = true;
    this.#leaving = out;
    try {
      if (this.settled) await this.settled();
      const sent = await this.bridge.chats.Send(conversation, asked);
      // If the chat was left, its draft was already saved without it.
      if (here()) {
        this.#clear(out);
        await this.save();
      }
      return sent;
    } catch (cause) {
      this.onerror(AppError.of(cause));
      if (here()) {
        this.#leaving = null;
        this.#later();
      } else await this.#giveBack(conversation, out);
      return null;
    } finally {
      if (here()) this.sending = false;
    }
  }

  /** Puts an unsent message back before the draft of its chat, which is no longer open. */
  #giveBack(conversation: string, out: Draft): Promise<void> {
    return this.#change(conversation, (kept) => before(out, kept));
  }

  /** Changes the draft of a chat, whether or not it is open. */
  async #change(conversation: string, change: (draft: Draft) => Draft): Promise<void> {
    // The chat is open again: until the sending has ended, the message is at the beginning of the draft.
    while (this.#conversation === conversation && (this.#leaving || !this.#came))
      await (this.#came ? this.#going : this.#opening);
    if (this.#conversation !== conversation) return this.#mend(conversation, change);
    this.#take(change(this.#all()));
    this.#later();
  }

  /** Text was pasted at a place of the text; a long one is offered as a file. */
  wasPasted(text: string, at: number): void {
    this.pasted = text.length > longPaste ? { text, at } : null;
  }

  keepPasted(): void {
    this.pasted = null;
  }

  async pastedToFile(): Promise<void> {
    const pasted = this.pasted;
    if (!pasted) return;
    this.pasted = null;
    this.text = this.text.replace(pasted.text, "");
    this.#later();
    const file = new File([pasted.text], s.composer.pasteName, { type: "text/plain" });
    await this.#add(file, pasted.text);
    this.#later();
  }

  /** Adds files that are stored already. */
  addKept(files: Attached[]): void {
    this.attachments.push(...files.map((media) => this.#kept(media)));
    this.#later();
  }

  /** Puts files that are stored in the place of others of the message; nothing is put where none of those is there. */
  replaceKept(old: string[], files: Attached[]): void {
    const at = this.attachments.findIndex((a) => a.media && old.includes(a.media.id));
    if (at < 0) return;
    const others = this.attachments.filter((a, i) => i === at || !a.media || !old.includes(a.media.id));
    this.attachments = others.toSpliced(at, 1, ...files.map((media) => this.#kept(media)));
    this.#later();
  }

  async attach(files: Iterable<File>): Promise<void> {
    await Promise.all([...files].map((file) => this.#add(file)));
    this.#later();
  }

  /** Adds a file, made of a pasted text where that is given, to the draft of the chat that is open now. */
  async #add(file: File, pasted = ""): Promise<void> {
    const key = ++this.#keys;
    const big = file.size > maxBytes;
    const conversation = this.#conversation;
    const visit = this.#visit;
    this.attachments.push({
      key,
      name: file.name,
      mimeType: file.type,
      media: null,
      problem: big ? s.composer.tooBig(file.name) : "",
      pasted,
    });
    if (big) return;
    this.#coming.add(key);
    let media: Attached | null = null;
    let wrong: AppError | null = null;
    try {
      media = await this.bridge.chats.Attach(file.name, await base64(file));
    } catch (cause) {
      wrong = AppError.of(cause);
    }
    if (!this.#coming.delete(key)) return; // it was removed by then
    const attachment = this.attachments.find((a) => a.key === key);
    if (attachment) {
      attachment.media = media;
      if (media) attachment.mimeType = media.mime_type;
      if (wrong) attachment.problem = `${wrong.message} ${wrong.hint}`.trim();
    } else if (visit !== this.#visit) {
      if (wrong) this.onerror(wrong);
      const text = wrong ? pasted : "";
      const attachments = media ? [media] : [];
      await this.#giveBack(conversation, { text, cursor: text.length, attachments, queued: [] });
    }
  }

  #kept(media: Attached): Attachment {
    const { name, mime_type: mimeType } = media;
    return { key: ++this.#keys, name, mimeType, media, problem: "", pasted: "" };
  }

  /**
   * Takes a file away. What is returned puts the file back, or the text that it was to be made of;
   * null: nothing was there.
   */
  removeAttachment(key: number): Back | null {
    const at = this.attachments.findIndex((a) => a.key === key);
    const conversation = this.#conversation;
    const { media, pasted } = this.attachments[at] ?? { media: null, pasted: "" };
    this.#coming.delete(key);
    this.attachments = this.attachments.filter((a) => a.key !== key);
    this.#later();
    if (media)
      return () =>
        this.#change(conversation, (draft) => ({
          ...draft,
          attachments: draft.attachments.toSpliced(at, 0, media),
        }));
    if (!pasted) return null;
    const text = { text: pasted, cursor: pasted.length, attachments: [], queued: [] };
    return () => this.#giveBack(conversation, text);
  }

  /** Puts a text in the place of what is written, with the caret behind it. */
  put(text: string): void {
    this.text = text;
    this.cursor = text.length;
    this.taken++;
    this.#later();
  }

  /** Puts text at the end on its own lines: a quote, or a suggestion. */
  insert(text: string): void {
    this.text = this.text.trim() ? `${this.text.trimEnd()}\n\n${text}` : text;
    this.cursor = this.text.length;
    this.#later();
  }

  /** Sends what is written, or the text given. null when nothing was sent; the draft then stays. */
  async send(text = this.text): Promise<Sent | null> {
    const own = text === this.text;
    if (this.sending || (own && !this.ready)) return null;
    const attachments = own ? this.#media() : [];
    return this.#sent(
      { text, attachments: attachments.map((m) => m.id), no_tools: this.noTools },
      { text: own ? text : "", cursor: this.cursor, attachments, queued: [] },
    );
  }
}

/** One draft before another, with the caret in the first that has a text. */
function before(first: Draft, then: Draft): Draft {
  return {
    text: [first.text, then.text].filter((text) => text.trim()).join("\n\n"),
    cursor: first.text ? first.cursor : then.cursor,
    attachments: [...first.attachments, ...then.attachments],
    queued: [...first.queued, ...then.queued],
  };
}

/** Puts typed text before the saved draft; the saved queue is older and stays first. */
function typedBefore(typed: Draft, kept: Draft): Draft {
  return { ...before(typed, kept), queued: [...kept.queued, ...typed.queued] };
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
