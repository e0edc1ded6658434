/**
 * The half-written message of one conversation. It is kept 300 ms after the last
 * change, so that it survives a crash, and what could not be sent stays in it.
 */
import { AppError, type Bridge } from "../bridge/calls";
import type { Media, Queued, Sent } from "../bridge/generated";
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
  #keys = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dirty = false;
  /** Something was written since the conversation was switched to, whether it is kept by now or not. */
  #written = false;
  #saving = Promise.resolve();

  constructor(
    private bridge: Bridge,
    private onerror: (error: AppError) => void,
    /** The model that is shown, which travels with the message. */
    private shown: () => string = () => this.model,
    /** The next message goes without the chat's council. */
    private skipsCouncil: () => boolean = () => false,
  ) {}

  /** Keeps what is being written and goes on with another conversation's draft. */
  async switchTo(conversation: string): Promise<void> {
    const saved = this.save();
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
      this.text = draft.text;
      this.cursor = draft.cursor;
      this.attachments = draft.attachments.map((media) => this.#kept(media));
      this.queued = draft.queued;
    } catch (cause) {
      this.onerror(AppError.of(cause));
    }
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
    const { text, cursor, queued } = this;
    const draft = { text, cursor, attachments: this.#media(), queued };
    this.#saving = this.#saving
      .then(() => this.bridge.chats.SaveDraft(conversation, draft))
      .catch((cause: unknown) => this.onerror(AppError.of(cause)));
    return this.#saving;
  }

  #media(): Media[] {
    return this.attachments.flatMap((a) => (a.media ? [a.media] : []));
  }

  /** Takes away what was sent or queued; what was written behind it meanwhile stays. */
  #clear(text = this.text): void {
    if (this.text.startsWith(text)) {
      this.text = this.text.slice(text.length);
      this.cursor = Math.max(0, this.cursor - text.length);
    }
    this.attachments = [];
    this.pasted = null;
    this.#dirty = this.#written = true;
  }

  /** Puts what is written behind the running answer. */
  async queue(): Promise<void> {
    if (!this.ready) return;
    this.queued = [
      ...this.queued,
      { text: this.text, attachments: this.#media(), no_tools: this.noTools },
    ];
    this.#clear();
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
    this.sending = true;
    try {
      const sent = await this.bridge.chats.Send(this.#conversation, {
        text: one.text,
        attachments: one.attachments.map((m) => m.id),
        model: this.shown(),
        no_tools: one.no_tools,
        council_skip: this.skipsCouncil(),
      });
      await this.unqueue(this.queued.indexOf(one));
      return sent;
    } catch (cause) {
      this.onerror(AppError.of(cause));
      return null;
    } finally {
      this.sending = false;
    }
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
    this.sending = true;
    try {
      const sent = await this.bridge.chats.Send(this.#conversation, {
        text,
        attachments: own ? this.#media().map((m) => m.id) : [],
        model: this.shown(),
        no_tools: this.noTools,
        council_skip: this.skipsCouncil(),
      });
      if (own) {
        this.#clear(text);
        await this.save();
      }
      return sent;
    } catch (cause) {
      this.onerror(AppError.of(cause));
      return null;
    } finally {
      this.sending = false;
    }
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
