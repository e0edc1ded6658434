/** The questions of plugins that wait for an answer. What an answer may be is checked in the core. */
import { SvelteMap } from "svelte/reactivity";
import { AppError, type Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type { Action, Field, Question, Wrong } from "../bridge/generated";
import { Pulled } from "../bridge/pulled.svelte";

export type Value = string | boolean | string[];

/** What a person has done with the card of a question. */
interface Written {
  values: Record<string, Value>;
  wrong: Wrong[];
  /** The page to visit was opened. */
  opened: boolean;
}

export class QuestionsState extends Pulled {
  all = $state.raw<Question[]>([]);
  /** What is written in cards, by question: a card comes and goes with what is in view. */
  #written = new SvelteMap<string, Written>();

  constructor(
    private bridge: Bridge,
    notices: Notices,
    /** Hears of each question the first time it is seen. */
    private onasked: (question: Question) => void,
  ) {
    super(notices, "questions");
  }

  protected override async pull(): Promise<void> {
    const list = await this.bridge.questions.List();
    const known = new Set(this.all.map((q) => q.id));
    this.all = list.questions;
    const now = new Set(this.all.map((q) => q.id));
    for (const id of [...this.#written.keys()]) if (!now.has(id)) this.#written.delete(id);
    this.revision = Math.max(this.revision, list.revision);
    for (const question of list.questions) if (!known.has(question.id)) this.onasked(question);
  }

  /** The questions of a chat; of "" those that belong to none. */
  of(conversation: string): Question[] {
    return this.all.filter((q) => q.conversation === conversation);
  }

  written(question: Question): Written {
    return (
      this.#written.get(question.id) ?? {
        values: Object.fromEntries(question.fields.map((field) => [field.name, start(field)])),
        wrong: [],
        opened: false,
      }
    );
  }

  /** Notes what a person writes; what was wrong with that field is no longer said. */
  write(question: Question, name: string, value: Value): void {
    const now = this.written(question);
    const wrong = now.wrong.filter(({ field }) => field !== name);
    this.#written.set(question.id, { ...now, wrong, values: { ...now.values, [name]: value } });
  }

  /** Opens the page that a question is about in the browser; that is the answer, unless the plugin waits for the end. */
  async visit(question: Question): Promise<void> {
    await this.bridge.questions.OpenAddress(question.id);
    if (question.waits) this.#written.set(question.id, { ...this.written(question), opened: true });
    else await this.answer(question, "accept");
  }

  /** Answers a question. Returns false if values are wrong, which the card shows then. */
  async answer(question: Question, action: Action): Promise<boolean> {
    const now = this.written(question);
    try {
      const wrong = await this.bridge.questions.Answer(question.id, action, action === "accept" ? now.values : {});
      if (wrong.length) {
        this.#written.set(question.id, { ...now, wrong });
        return false;
      }
    } catch (cause) {
      const error = AppError.of(cause);
      if (error.kind !== "conflict") throw error;
    }
    await this.refresh();
    return true;
  }
}

/** What a field holds before anybody writes in it. */
export function start(field: Field): Value {
  const { default: value } = field;
  if (field.type === "choices") return Array.isArray(value) ? value.map(String) : [];
  if (field.type === "boolean") return value === true;
  return value === null || value === undefined ? "" : String(value as string | number);
}
