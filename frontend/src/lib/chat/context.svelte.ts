/** How the next request of the chat that is open fills the context of its model, as the program counts it. */
import type { App } from "../app.svelte";
import type { Fill, Outgoing } from "../bridge/generated";
import { s } from "../strings";

/** How long nothing changes before the program counts again, in ms: each time, and the first time in a chat. */
const rest = 400;
const first = 150;

/** A part of the context, with its share of the whole in percent. */
export interface FillPart {
  key: keyof typeof s.context.parts;
  tokens: number;
  share: number;
}

export class ContextState {
  fill = $state.raw<Fill | null>(null);
  /** The chats whose beginning is being summed up. */
  summing = $state.raw<string[]>([]);

  /** The most that the parts can have together; 0 is not known. */
  readonly most = $derived(this.fill?.window ?? 0);
  /** How full the context is, in percent; null where the model's size is not known. */
  readonly percent = $derived(this.fill && this.most ? Math.round((this.fill.used / this.most) * 100) : null);
  /** Not even the newest message fits. */
  readonly tooLong = $derived(this.fill !== null && this.most > 0 && this.fill.used > this.most);
  /** The parts that are there, as they follow one another in a request. */
  readonly parts = $derived.by((): FillPart[] => {
    const { fill } = this;
    if (!fill) return [];
    const whole = this.most || fill.used || 1;
    const keys = ["system", "tools", "council", "summary", "turns", "draft"] as const;
    return keys
      .map((key) => ({ key, tokens: fill[key], share: (fill[key] / whole) * 100 }))
      .filter(({ tokens }) => tokens > 0);
  });

  /** The chat that fill is of. */
  #of = "";
  #message: Outgoing | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(private app: App) {}

  /** Counts, soon, what is sent next in a chat; "" is one that is not begun. */
  measure(chat: string, message: Outgoing): void {
    if (chat !== this.#of) this.fill = null;
    this.#of = chat;
    this.#message = message;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(), this.fill ? rest : first);
  }

  async #ask(): Promise<void> {
    const mine = ++this.#asked;
    const of = this.#of;
    try {
      const fill = await this.app.bridge.context.Fill(of, this.#message as Outgoing);
      if (mine === this.#asked && of === this.#of) this.fill = fill;
    } catch {
      // A model that is gone, or whose keys are locked, says so when it is asked.
      if (mine === this.#asked && of === this.#of) this.fill = null;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** The beginning of the open chat is being summed up. */
  get sums(): boolean {
    return this.summing.includes(this.#of);
  }

  /** Has the chat's model sum up what would be left out. */
  async sumUp(): Promise<void> {
    const chat = this.#of;
    if (!chat || this.sums || !this.#message) return;
    this.summing = [...this.summing, chat];
    const before = this.fill?.from;
    await this.app.attempt(() => this.app.bridge.context.Summarize(chat, this.#message as Outgoing));
    this.summing = this.summing.filter((one) => one !== chat);
    if (chat !== this.#of) return;
    await this.#ask();
    if (this.fill?.summed && this.fill.from !== before) this.show();
  }

  stop(): Promise<boolean> {
    return this.app.attempt(() => this.app.bridge.context.Stop(this.#of));
  }

  /** Sends again what the summary stands for. */
  async forget(): Promise<void> {
    const { summed } = this.fill ?? {};
    if (!summed) return;
    await this.app.undoable(() => this.app.bridge.context.Forget(this.#of, summed.upto));
    await this.#ask();
  }

  /** The first message of a chat that is sent as it is; 0 where that is the first of all. */
  begins(chat: string): number {
    return chat === this.#of ? (this.fill?.from ?? 0) : 0;
  }

  /** Brings the place into view from which on the chat is sent. */
  show(): void {
    const { chat } = this.app;
    if (chat && this.fill?.from) chat.target = { seq: this.fill.from };
  }
}
