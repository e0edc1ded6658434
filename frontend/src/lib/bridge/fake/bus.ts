/** Revisions and notices, as the program makes them. */
import type { Notice, Topic } from "../generated";

export class FakeBus {
  #listeners = new Set<(notices: Notice[]) => void>();
  #revisions = new Map<string, number>();
  #waiting = new Map<string, Notice>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** frame is the time between two pushes, in ms. */
  constructor(private frame: number) {}

  revision(topic: Topic, id = ""): number {
    return this.#revisions.get(`${topic}\n${id}`) ?? 1; // a thing that exists has been made once
  }

  changed(topic: Topic, id = ""): number {
    const key = `${topic}\n${id}`;
    const revision = this.revision(topic, id) + 1;
    this.#revisions.set(key, revision);
    this.#waiting.set(key, { topic, id, revision });
    if (this.#timer === undefined)
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        const notices = [...this.#waiting.values()];
        this.#waiting.clear();
        for (const listener of this.#listeners) listener(notices);
      }, this.frame);
    return revision;
  }

  subscribe(listener: (notices: Notice[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
