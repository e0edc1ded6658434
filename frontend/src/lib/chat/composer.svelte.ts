/**
 * The half-written message of one conversation. It is kept 300 ms after the last
 * change, so that it survives a crash, and what could not be sent stays in it.
 */
import { AppError, type Bridge } from "../bridge/calls";
import type { Draft, Media, Outgoing, Queued, Sent } from "../bridge/generated";
import { s } from "../strings";

/** Past this a paste is offered as a file. */
export const longPaste = 4000;
const maxBytes = 20 * 2 ** 20; // as app/limit has it
const saveAfter = 300;

/** Whether a model is given what a file says (app/turn): pictures, text, and documents and PDFs read for their text. */
export function readable(mimeType: string, name: string): boolean {
  return (
    /^(image|text)\//.test(mimeType) ||
    /^application\/(pdf|json|xml|yaml|toml|javascript|x-sh)$/.test(mimeType) ||
    /\.(pdf|docx|xlsx|pptx|odt|ods|odp)$/i.test(name)
  );
}

export interface Attachment {
  key: number;
  name: string;
  mimeType: string;
  /** Set once it is kept. */
  media: Media | null;
  /** Why it could not be. */
  problem: string;
}

export class Composer {
  text = $state("");
  cursor = 0;
  attachments = $state<Attachment[]>([]);
  /** A long text that was just pasted: it is in the text, and may become a file. */
  pasted = $state.raw<{ text: string; at: number } | null>(null);
  /** Messages that go out when the running answer is done. */
  queued = $state.raw<Queued[]>([]);
  sending = $state.raw(false);
  /** Offer no tools with the next message. */
  noTools = $state.raw(false);
  /** Model for a chat that the next message makes. */
  model = $state.raw("");

  readonly adding = $derived(this.attachments.some((a) => !a.media && !a.problem));
  readonly ready = $derived(
    !this.sending &&
      !this.adding &&
      this.attachments.every((a) => a.media) &&
      (this.text.trim() !== "" || this.attachments.length > 0),
  );

  #conversation = "";
  /** Counts the chats that were switched to: who came back is here anew. */
  #visit = 0;
  /** What goes out of the draft, which is kept without it meanwhile. */
  #leaving: Draft | null = null;
  #keys = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dirty = false;
  /** Something was written since the conversation was switched to, whether it is kept by now or not. */
  #written = false;
  #saving = Promise.resolve();
  #opening = Promise.resolve();

  constructor(
    private bridge: Bridge,
    private onerror: (error: AppError) => void,
    /** The model that is shown, which travels with the message. */
    private shown: () => string = () => this.model,
    /** The next message goes without the chat's council. */
    private skipsCouncil: () => boolean = () => false,
  ) {}

  /** Keeps what is being written and goes on with another conversation's draft. */
  switchTo(conversation: string): Promise<void> {
    return (this.#opening = this.#open(conversation));
  }

  async #open(conversation: string): Promise<void> {
    if (this.#leaving) this.#dirty = true; // it may be in the draft that was kept
    const saved = this.save();
    this.#visit++;
    this.#leaving = null;
    this.sending = false;
    this.#conversation = conversation;
    this.#written = false;
    this.text = "";
    this.attachments = [];
    this.queued = [];
    this.pasted = null;
    await saved;
    try {
      const draft = await this.bridge.chats.Draft(conversation);
      if (this.#conversation !== conversation || this.#written) return;
      this.#take(draft);
    } catch (cause) {
      this.onerror(AppError.of(cause));
    }
  }

  #take({ text, cursor, attachments, queued }: Draft): void {
    this.text = text;
    this.cursor = cursor;
    this.attachments = attachments.map((media) => this.#kept(media));
    this.queued = queued;
  }

  /** Something was typed. */
  changed(text: string, cursor: number): void {
    this.text = text;
    this.cursor = cursor;
    if (this.pasted && !text.includes(this.pasted.text)) this.pasted = null;
    this.#later();
  }

  #later(): void {
    this.#dirty = this.#written = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), saveAfter);
  }

  /** Keeps the draft now, if it changed; resolves once all drafts are kept, one after another. */
  save(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#dirty) return this.#saving;
    this.#dirty = false;
    const conversation = this.#conversation;
    const draft = this.#draft();
    this.#saving = this.#saving
      .then(() => this.bridge.chats.SaveDraft(conversation, draft))
      .catch((cause: unknown) => this.onerror(AppError.of(cause)));
    return this.#saving;
  }

  #media(): Media[] {
    return this.attachments.flatMap((a) => (a.media ? [a.media] : []));
  }

  /** What is written, without what goes out: what was written behind that meanwhile. */
  #draft(): Draft {
    const { text, cursor, queued } = this;
    const all = { text, cursor, attachments: this.#media(), queued };
    const out = this.#leaving;
    if (!out) return all;
    const skips = text.startsWith(out.text) ? out.text.length : 0;
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
    this.attachments = this.attachments.filter((a) => !a.media || attachments.includes(a.media));
    this.queued = queued;
    if (out.text || out.attachments.length > 0) this.pasted = null;
    this.#dirty = this.#written = true;
  }

  /** Puts what is written behind the running answer. */
  async queue(): Promise<void> {
    if (!this.ready) return;
    const { text, cursor } = this;
    const attachments = this.#media();
    this.#clear({ text, cursor, attachments, queued: [] });
    this.queued = [...this.queued, { text, attachments, no_tools: this.noTools }];
    await this.save();
  }

  /** Takes a queued message away; its place in the list tells which. */
  async unqueue(at: number): Promise<Queued | undefined> {
    const one = this.queued[at];
    this.queued = this.queued.filter((_, i) => i !== at);
    this.#dirty = this.#written = true;
    await this.save();
    return one;
  }

  /** Takes a queued message back to be written on, before what is written now. */
  async editQueued(at: number): Promise<void> {
    const one = await this.unqueue(at);
    if (!one) return;
    this.text = [one.text, this.text].filter((t) => t.trim()).join("\n\n");
    this.cursor = one.text.length;
    this.attachments = [...one.attachments.map((m) => this.#kept(m)), ...this.attachments];
    this.#later();
  }

  /** Sends a queued message. null when it was not sent; it then stays queued. */
  async sendQueued(at = 0): Promise<Sent | null> {
    const one = this.queued[at];
    if (!one || this.sending) return null;
    const { text, attachments, no_tools } = one;
    return this.#send(
      { text, attachments: attachments.map((m) => m.id), no_tools },
      { text: "", cursor: 0, attachments: [], queued: [one] },
    );
  }

  /** Sends a message, and takes out of the draft what went. null when it was not sent. */
  async #send(
    message: Pick<Outgoing, "text" | "attachments" | "no_tools">,
    out: Draft,
  ): Promise<Sent | null> {
    const conversation = this.#conversation;
    const visit = this.#visit;
    const here = () => visit === this.#visit;
    this.sending = true;
    this.#leaving = out;
    try {
      const sent = await this.bridge.chats.Send(conversation, {
        ...message,
        model: this.shown(),
        council_skip: this.skipsCouncil(),
      });
      // Elsewhere the draft was kept without it when its chat was left.
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

  /** Puts what was not sent before what is written in its chat, which was left meanwhile. */
  async #giveBack(conversation: string, out: Draft): Promise<void> {
    const behind = (written: Draft): Draft => ({
      text: [out.text, written.text].filter((t) => t.trim()).join("\n\n"),
      cursor: out.text ? out.text.length : written.cursor,
      attachments: [...out.attachments, ...written.attachments],
      queued: [...out.queued, ...written.queued],
    });
    await this.#opening;
    if (this.#conversation === conversation) {
      this.#take(behind(this.#draft())); // one came back
      return this.#later();
    }
    this.#saving = this.#saving
      .then(() => this.bridge.chats.Draft(conversation))
      .then((kept) => this.bridge.chats.SaveDraft(conversation, behind(kept)))
      .catch((cause: unknown) => this.onerror(AppError.of(cause)));
    await this.#saving;
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
    await this.attach([new File([pasted.text], s.composer.pasteName, { type: "text/plain" })]);
  }

  async attach(files: Iterable<File>): Promise<void> {
    await Promise.all([...files].map((file) => this.#add(file)));
    this.#later();
  }

  async #add(file: File): Promise<void> {
    const key = ++this.#keys;
    const big = file.size > maxBytes;
    this.attachments.push({
      key,
      name: file.name,
      mimeType: file.type,
      media: null,
      problem: big ? s.composer.tooBig(file.name) : "",
    });
    if (big) return;
    const settle = (change: Partial<Attachment>) => {
      const attachment = this.attachments.find((a) => a.key === key);
      if (attachment) Object.assign(attachment, change);
    };
    try {
      settle({ media: await this.bridge.chats.Attach(file.name, file.type, await base64(file)) });
    } catch (cause) {
      const { message, hint } = AppError.of(cause);
      settle({ problem: `${message} ${hint}`.trim() });
    }
  }

  #kept(media: Media): Attachment {
    return { key: ++this.#keys, name: media.name, mimeType: media.mime_type, media, problem: "" };
  }

  removeAttachment(key: number): void {
    this.attachments = this.attachments.filter((a) => a.key !== key);
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
    return this.#send(
      { text, attachments: attachments.map((m) => m.id), no_tools: this.noTools },
      { text: own ? text : "", cursor: this.cursor, attachments, queued: [] },
    );
  }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
