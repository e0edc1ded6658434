/**
 * Notify, then pull: notices say that a thing has a newer revision, and the
 * state that shows the thing pulls until what it holds is as new. Nothing is
 * lost when a notice is: the next one, or the next pull, makes it right.
 */
import type { Bridge } from "./calls";
import type { Topic } from "./generated";

type Listener = (revision: number) => void;

/** Passes each notice to those who watch its thing. */
export class Notices {
  #watchers = new Map<string, Set<Listener>>();
  #off: () => void;

  constructor(bridge: Bridge) {
    this.#off = bridge.onnotices((notices) => {
      for (const n of notices) {
        for (const listener of this.#watchers.get(key(n.topic, n.id)) ?? []) listener(n.revision);
      }
    });
  }

  /** Calls back for notices of one thing; the function returned ends it. */
  watch(topic: Topic, id: string, listener: Listener): () => void {
    const k = key(topic, id);
    const listeners = this.#watchers.get(k) ?? new Set();
    this.#watchers.set(k, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#watchers.delete(k);
    };
  }

  close(): void {
    this.#off();
    this.#watchers.clear();
  }
}

function key(topic: Topic, id: string): string {
  return `${topic}\n${id}`;
}

/**
 * Keeps one thing as new as its notices: at most one pull runs at a time, and
 * notices that arrive during it cause one more, not one each.
 */
export class Puller {
  #wanted = 0;
  #running: Promise<void> | null = null;

  /**
   * held returns the revision that the page has. pull fetches what is newer and applies
   * it. onerror is called when a pull failed; the next notice tries again.
   */
  constructor(
    private held: () => number,
    private pull: () => Promise<void>,
    private onerror: (cause: unknown) => void = () => {},
  ) {}

  /** A notice came. */
  notice = (revision: number): void => {
    this.#wanted = Math.max(this.#wanted, revision);
    if (this.#wanted > this.held()) void this.#run();
  };

  /** Pulls now; resolves when it is taken in. Does not reject. */
  refresh(): Promise<void> {
    return this.#running ? this.#running.then(() => this.#run(true)) : this.#run(true);
  }

  #run(force = false): Promise<void> {
    this.#running ??= this.#loop(force).finally(() => (this.#running = null));
    return this.#running;
  }

  async #loop(force: boolean): Promise<void> {
    let again = force;
    while (again || this.#wanted > this.held()) {
      again = false;
      const before = this.held();
      const wanted = this.#wanted;
      try {
        await this.pull();
      } catch (cause) {
        this.onerror(cause);
        if (this.#wanted === wanted) return;
        continue;
      }
      // It may have been answered before what a notice told of meanwhile; if none came, the pull is
      // behind its notice, and waits for the next.
      if (this.held() <= before && this.#wanted === wanted) return;
    }
  }
}
