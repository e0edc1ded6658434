/** Revisions and notices, as the program makes them. */
import type { Notice, Topic } from "../generated";

export class FakeBus {
  listeners = new Set<(notices: Notice[]) => void>();
  revisions = new Map<string, number>();

  revision(topic: Topic, id = ""): number {
    return this.revisions.get(`${topic}\n${id}`) ?? 1; // a thing that exists has been made once
  }

  changed(topic: Topic, id = ""): number {
    const revision = this.revision(topic, id) + 1;
    this.revisions.set(`${topic}\n${id}`, revision);
    setTimeout(() => {
      for (const listener of this.listeners) listener([{ topic, id, revision }]);
    });
    return revision;
  }

  subscribe(listener: (notices: Notice[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
