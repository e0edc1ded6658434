/** The base of the page's states: each pulls again when a notice for its topic arrives. */
import { AppError } from "./calls";
import { Puller, type Notices } from "./events";
import type { Topic } from "./generated";

export abstract class Pulled {
  /** The first pull has arrived. */
  ready = $state.raw(false);
  error = $state.raw<AppError | null>(null);

  /** The revision held. */
  protected revision = 0;
  #puller = new Puller(
    () => this.revision,
    async () => {
      await this.pull();
      this.error = null;
      this.ready = true;
    },
    (cause) => this.failed(cause),
  );
  #off: () => void;

  /** A thing that has no revision is pulled at every notice. */
  constructor(notices: Notices, topic: Topic, id = "", revised = true) {
    this.#off = notices.watch(topic, id, revised ? this.#puller.notice : () => void this.refresh());
  }

  /** Brings what is newer than the revision held, and takes it in. */
  protected abstract pull(): Promise<void>;

  protected failed(cause: unknown): void {
    this.error = AppError.of(cause);
  }

  /** Pulls now; resolves when it is taken in. Does not reject. */
  protected refresh(): Promise<void> {
    return this.#puller.refresh();
  }

  open(): Promise<void> {
    return this.refresh();
  }

  close(): void {
    this.#off();
  }
}
