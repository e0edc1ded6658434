/**
 * One run as the panel holds it. What changes seldom is state, lane by lane; the words
 * that stream bypass it and go straight to the components, so that a piece of one lane
 * costs no other anything.
 */
import type { Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import { Pulled } from "../bridge/pulled.svelte";
import type { Lane as LaneView, Run as RunView, Said, Task as TaskView } from "../bridge/generated";
import { nothing } from "./lanes";

/** Listens to the words of a task: gets all of them so far, then each piece. */
export type Hearer = (piece: string, whole: boolean) => void;

/** The words of the tasks that are worked on. */
class Words {
  #of = new Map<string, string>();
  #hearers = new Map<string, Set<Hearer>>();

  /** Takes in words that begin at offset; false when those before them are missing. */
  take(task: string, text: string, offset: number): boolean {
    const held = this.#of.get(task) ?? "";
    if (offset > held.length) return false;
    const kept = held.slice(0, offset);
    this.#of.set(task, kept + text);
    const goesOn = kept.length === held.length;
    if (goesOn && text === "") return true;
    for (const hear of this.#hearers.get(task) ?? [])
      if (goesOn) hear(text, false);
      else hear(kept + text, true);
    return true;
  }

  held(task: string): string {
    return this.#of.get(task) ?? "";
  }

  /** Calls back with the words so far and then with each piece; the function returned ends it. */
  hear(task: string, hearer: Hearer): () => void {
    const hearers = this.#hearers.get(task) ?? new Set();
    this.#hearers.set(task, hearers.add(hearer));
    hearer(this.held(task), true);
    return () => hearers.delete(hearer);
  }
}

/** One lane. */
export class Lane {
  view = $state.raw<LaneView>(nobody);
  readonly key: string;

  constructor(view: LaneView) {
    this.key = view.member;
    this.view = view;
  }
}

const nobody: LaneView = {
  member: "",
  name: "",
  role: "",
  letter: "",
  color: "",
  avatar: "",
  model: "",
  in: true,
  why: "",
  roll: null,
  chance: 100,
  context: { policy: "", system: false, memory: false, others: false, files: false },
  tools: [],
  tasks: [],
  spent: nothing,
  drawn: [],
  ratings: [],
};

/** A run that is stored, or under way, or was read from a file. */
export class RunState extends Pulled {
  /** All but the lanes. */
  head = $state.raw<RunView | null>(null);
  lanes = $state.raw<Lane[]>([]);
  readonly words = new Words();
  /** When the newest view arrived, on the page's clock; the run goes on from there. */
  seen = 0;

  readonly over = $derived(this.head?.state === "over");
  /** It was cut off and is not running. */
  readonly unfinished = $derived(this.head !== null && !this.head.live && !this.over);

  /** A task was under way when the run was cut off; at another time than now it was at work. */
  leftOff(task: TaskView | undefined, time: number): boolean {
    return this.unfinished && time === Infinity && task?.state === "working";
  }

  #said = new Map<string, Promise<Said>>();

  constructor(
    private bridge: Bridge,
    notices: Notices,
    readonly id: string,
    /** Hears of a task's new state, for those who listen. */
    private onstate: (lane: LaneView, task: TaskView) => void = () => {},
  ) {
    super(notices, "council", id);
  }

  protected override async pull(): Promise<void> {
    this.take(await this.bridge.council.Run(this.id, this.revision));
  }

  /** Looks whether the chat was changed since: of a run that is over, nothing else changes with it. */
  async look(): Promise<void> {
    const { head } = this;
    if (!head || head.live) return;
    const { edited } = await this.bridge.council.Run(this.id, 0);
    if (this.head === head && edited !== head.edited) this.head = { ...head, edited };
  }

  take(view: RunView): void {
    if (view.reset) this.lanes = [];
    this.revision = view.reset ? view.revision : Math.max(this.revision, view.revision);
    this.seen = performance.now();
    const known = new Map(this.lanes.map((lane) => [lane.key, lane]));
    let more = false;
    for (const next of view.lanes) {
      for (const task of next.tasks) {
        if (task.state !== "working") continue;
        // Where a piece is missing, the next pull brings all of it.
        if (!this.words.take(task.id, task.text, task.offset)) this.revision = 0;
      }
      const lane = known.get(next.member);
      if (!lane) {
        known.set(next.member, new Lane(next));
        more = true;
        continue;
      }
      const before = lane.view;
      if (same(before, next)) continue;
      lane.view = next;
      for (const task of next.tasks) {
        const was = before.tasks.find((t) => t.id === task.id);
        if (was?.state === task.state && was.attempt === task.attempt) continue;
        this.#said.delete(task.id);
        this.onstate(next, task);
      }
    }
    // The chair's lane is the last, whenever it comes.
    if (more) {
      const order = [...known.values()];
      this.lanes = [...order.filter((l) => l.key !== ""), ...order.filter((l) => l.key === "")];
    }
    if (!this.head || !sameHead(this.head, view)) this.head = view;
    else this.head.ms = view.ms;
  }

  /** How long the run has taken, now. */
  now(): number {
    const head = this.head;
    if (!head) return 0;
    return head.live ? head.ms + (performance.now() - this.seen) : head.ms;
  }

  lane(member: string): Lane | undefined {
    return this.lanes.find((lane) => lane.key === member);
  }

  /** The lane of those words that “a2” names. */
  laneOf(point: string): Lane | undefined {
    const letter = point.replace(/\d+$/, "").toLowerCase();
    return this.lanes.find((lane) => lane.view.letter.toLowerCase() === letter);
  }

  /** What a member said in a task that ended. Asked once. */
  said(task: string): Promise<Said> {
    let said = this.#said.get(task);
    if (!said) {
      said = this.bridge.council.Said(this.id, task);
      said.catch(() => this.#said.delete(task));
      this.#said.set(task, said);
    }
    return said;
  }
}

/** Whether two views of a lane are drawn the same, but for the words that stream. */
function same(a: LaneView, b: LaneView): boolean {
  return plain(a) === plain(b);
}

const plain = (lane: LaneView) =>
  JSON.stringify(lane, (key, value: unknown) =>
    key === "text" || key === "offset" || key === "bytes" ? undefined : value,
  );

function sameHead(a: RunView, b: RunView): boolean {
  const head = (v: RunView) => JSON.stringify({ ...v, revision: 0, ms: 0, lanes: null, reset: false });
  return head(a) === head(b);
}
