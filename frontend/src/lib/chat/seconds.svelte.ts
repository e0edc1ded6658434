/** Whole seconds since a time, ticking once a second while something shows them. */
import { createSubscriber } from "svelte/reactivity";

export class Seconds {
  #subscribe = createSubscriber((update) => {
    const timer = setInterval(update, 1000);
    return () => clearInterval(timer);
  });

  /** since gives the time counted from, "" for none. */
  constructor(private since: () => string) {}

  get value(): number {
    this.#subscribe();
    const since = this.since();
    return since ? Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 1000)) : 0;
  }
}
