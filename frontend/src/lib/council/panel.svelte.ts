/** What the panel shows of a chat's runs: which one, how far it is opened, and at what time of it. */
import { SvelteSet } from "svelte/reactivity";
import type { App } from "../app.svelte";
import { AppError } from "../bridge/calls";
import { Puller } from "../bridge/events";
import { s } from "../strings";
import { lengthOf } from "./lanes";
import { Replay } from "./replay.svelte";
import { RunState, type Lane } from "./run.svelte";
import type { Act, FileRun, RunHeader } from "../bridge/generated";
import { taskWord } from "./words";

/** States of a task that are said aloud. */
const spoken = ["done", "failed", "skipped", "capped"];

export class Panel {
  runs = $state.raw<RunHeader[]>([]);
  run = $state.raw<RunState | null>(null);
  /** The run that this one repeats, shown next to it. */
  compared = $state.raw<RunState | null>(null);
  error = $state.raw<AppError | null>(null);
  table = $state.raw(false);
  /** Members whose lanes are opened. */
  readonly open = new SvelteSet<string>();
  /** Whose context is looked at: a task. */
  seeing = $state.raw<{ member: string; task: string } | null>(null);
  /** The member to run again; "" lets the person choose, null closes the dialog. */
  again = $state.raw<string | null>(null);
  /** Whether what holds for a whole run is shown. */
  limits = $state(false);
  /** What is to be changed of what holds for a whole run: its field gets the focus. */
  changing = $state.raw<"cap" | "helper" | "">("");
  /** What checking the file found that the run was read from; null when it is the chat's own. */
  report = $state.raw<FileRun | null>(null);
  /** The point that was followed last, which is marked. */
  marked = $state.raw("");
  /** The lane that is to come into view, until it has; null is none. */
  laneWish = $state.raw<string | null>(null);
  /** The point that is to come into view with the focus, until it has; "" is none. */
  pointWish = $state.raw("");

  readonly replay: Replay;

  #chat = "";
  #off: () => void = () => {};
  #puller = new Puller(
    () => 0, // runs have no revision: each notice has them pulled
    () => this.#pull(),
    (cause) => (this.error = AppError.of(cause)),
  );

  constructor(private app: App) {
    this.replay = new Replay(() => {
      const run = this.run;
      return run?.head
        ? lengthOf(
            run.head,
            run.lanes.map((lane) => lane.view),
          )
        : 0;
    });
  }

  /** Shows the runs of a chat, the newest first. */
  async switchTo(chat: string): Promise<void> {
    this.#off();
    this.#chat = chat;
    this.runs = [];
    this.error = null;
    this.#show("");
    const offs = chat
      ? [
          this.app.notices.watch("councils", chat, () => void this.refresh()),
          this.app.notices.watch("chat", chat, () => void this.#look()),
        ]
      : [];
    this.#off = () => offs.forEach((off) => off());
    if (chat) await this.refresh();
  }

  close(): void {
    this.#off();
    this.#show("");
  }

  refresh(): Promise<void> {
    return this.#puller.refresh();
  }

  async #pull(): Promise<void> {
    const chat = this.#chat;
    const runs = await this.app.bridge.council.Runs(chat);
    if (chat !== this.#chat) return;
    const newest = runs.at(-1)?.run ?? "";
    const fresh = newest !== (this.runs.at(-1)?.run ?? "");
    this.runs = runs;
    this.error = null;
    if (!this.heed() && (fresh || !this.run)) this.choose(newest);
  }

  /** The model that writes the answer of this run has called what waits for the person. */
  get chairWaits(): boolean {
    const { head } = this.run ?? {};
    if (!head?.live || head.state !== "answering") return false;
    const chat = this.app.chat?.id;
    return this.app.permissions.calls.some((r) => r.caller === "main" && r.conversation === chat);
  }

  /** Shows the run that something outside the panel named, once it is known: its wish is met then. */
  heed(): boolean {
    const { council } = this.app;
    const wanted = council.shown === "" ? this.runs.at(-1)?.run : council.shown;
    if (!wanted || !this.runs.some((run) => run.run === wanted)) return false;
    council.shown = null;
    this.choose(wanted);
    return true;
  }

  /** Loads the run again once its chat has changed; while an answer streams, the chat changes all the time. */
  async #look(): Promise<void> {
    if (this.app.chat?.running || this.ofFile) return;
    await this.run?.look().catch(() => {}); // the panel goes on with what it knew
  }

  /** Has the question of the run shown answered again. */
  ask(): Promise<boolean> {
    const seq = this.run?.head?.question ?? 0;
    return this.app.attempt(async () => {
      await this.app.council.saved(); // by what is set now
      await this.app.chat?.regenerate(seq, "");
    });
  }

  /** Asks the council the question again: as it is set now, or as in this run if it is off. */
  askCouncil(): Promise<boolean> {
    if (this.app.council.works) return this.ask();
    const id = this.run?.id ?? "";
    return this.app.attempt(() =>
      this.app.bridge.council.Again(id, {
        member: "",
        model: null,
        role: null,
        context: null,
        tools: null,
      }),
    );
  }

  /** Goes to what holds for a whole run. */
  change(what: "cap" | "helper"): void {
    this.limits = true;
    this.changing = what;
  }

  choose(run: string): void {
    if (run !== this.run?.id) this.#show(run);
    this.follow();
  }

  /** Whether the run is a file's, and so of no chat here. */
  get ofFile(): boolean {
    return this.report !== null;
  }

  /** Shows a run that was read from a file. */
  async openFile(text: string): Promise<void> {
    const opened = await this.app.bridge.council.Open(text);
    this.#show(opened.view.run);
    this.run?.take(opened.view);
    this.report = opened.report;
  }

  /** Shows the newest run of the chat again. */
  closeFile(): void {
    this.#show(this.runs.at(-1)?.run ?? "");
  }

  #show(id: string): void {
    this.replay.end();
    this.run?.close();
    this.compared?.close();
    this.compared = null;
    this.open.clear();
    this.marked = "";
    this.laneWish = null;
    this.pointWish = "";
    this.seeing = null; // what is open over the panel is of the run that goes
    this.again = null;
    this.report = null;
    if (!id) {
      this.run = null;
      return;
    }
    const run = this.#state(id);
    this.run = run;
    void run.open().then(() => {
      if (run === this.run) this.follow();
    });
  }

  #state(id: string): RunState {
    // Tasks that end in one pull are announced together: a screen reader would read only the last of several sentences.
    let said: string[] = [];
    return new RunState(this.app.bridge, this.app.notices, id, (lane, task) => {
      if (!spoken.includes(task.state)) return;
      const words = s.council.said(lane.name || s.council.chair, taskWord(task));
      if (said.push(words) > 1) return;
      queueMicrotask(() => {
        this.app.status = said.join(s.numbers.comma);
        said = [];
      });
    });
  }

  /** Shows the run that this one repeats next to it, or hides it. */
  async compare(): Promise<void> {
    const { run } = this;
    const before = run?.head?.again;
    if (this.compared || !before) {
      this.compared?.close();
      this.compared = null;
      return;
    }
    const compared = this.#state(before);
    await compared.open();
    if (run !== this.run || this.compared)
      compared.close(); // another was chosen by then
    else this.compared = compared;
  }

  act(act: Act, lane?: Lane, text = "", tasks: string[] = []): Promise<boolean> {
    const id = this.run?.id ?? "";
    return this.app.attempt(() => this.app.bridge.council.Act(id, act, lane?.key ?? "", tasks, text));
  }

  /** Goes on with a run that was cut off; with finish it answers with what there is. */
  resume(finish = false): Promise<boolean> {
    const id = this.run?.id ?? "";
    return this.app.attempt(() => this.app.bridge.council.Resume(id, finish));
  }

  /** Goes to the point that something outside the panel named. */
  follow(): void {
    const { point } = this.app.council;
    if (!point || !this.run?.head) return;
    this.app.council.point = "";
    this.goTo(point);
  }

  /** Opens the lane of a member's words and marks the point. */
  goTo(point: string): void {
    const lane = this.run?.laneOf(point);
    if (!lane) return;
    this.replay.end();
    this.table = false;
    this.open.add(lane.key);
    this.marked = point;
    this.laneWish = lane.key;
    this.pointWish = point;
  }
}
