/** How one lane of a run stands, now or at the time that is replayed, and what can be done about it. */
import ChevronRight from "@lucide/svelte/icons/chevron-right";
import Eye from "@lucide/svelte/icons/eye";
import Megaphone from "@lucide/svelte/icons/megaphone";
import RotateCw from "@lucide/svelte/icons/rotate-cw";
import SkipForward from "@lucide/svelte/icons/skip-forward";
import type { App } from "../app.svelte";
import { s } from "../strings";
import type { MenuItem } from "../ui/menu";
import { at, bars, spentBy } from "./lanes";
import { toneOf } from "./palette";
import type { Panel } from "./panel.svelte";
import type { Lane, RunState } from "./run.svelte";
import { expected, laneDid, laneWhy, laneWord, leading, leftUntil, whyOf } from "./words";

/** What a lane is drawn from. */
export interface LaneInput {
  panel: Panel;
  run: RunState;
  lane: Lane;
  place: number;
  axis: number;
  now: number;
  /** The time of the run that is shown; Infinity is its end. */
  time: number;
  /** A sentence that stands above the lanes and is not repeated in each. */
  said?: string;
}

export class LaneState {
  /** The person is writing a hint for the member. */
  nudging = $state.raw(false);

  readonly view = $derived.by(() => this.input.lane.view);
  readonly chair = $derived.by(() => this.input.lane.key === "");
  readonly name = $derived.by(() => this.view.name || s.council.chair);
  readonly tone = $derived.by(() => (this.chair ? 0 : toneOf(this.view.color, this.input.place)));
  readonly replayed = $derived.by(() => this.input.time !== Infinity);
  readonly tasks = $derived.by(() => (this.replayed ? at(this.view.tasks, this.input.time) : this.view.tasks));
  readonly task = $derived.by(() => leading(this.tasks));
  /** The run was cut off, so nobody works on what was under way. */
  readonly cut = $derived.by(() => this.input.run.leftOff(this.task, this.input.time));
  readonly standing = $derived.by(() =>
    this.view.in ? (this.cut ? "stopped" : (this.task?.state ?? "waiting")) : "skipped",
  );
  readonly live = $derived.by(() => this.input.run.head?.live === true && !this.replayed);
  readonly working = $derived.by(() => this.live && this.standing === "working");
  readonly open = $derived.by(() => this.input.panel.open.has(this.input.lane.key));
  /** The permission requests of its calls. */
  readonly asked = $derived.by(() => {
    if (!this.working) return [];
    const ids = this.tasks.flatMap((t) => t.calls).map((call) => call.request);
    return this.app.permissions.calls.filter((r) => r.id !== "" && ids.includes(r.id));
  });
  /** A call of it waits for the person. The cards of the chair's calls stand in the chat. */
  readonly waits = $derived.by(
    () => this.asked.length > 0 || (this.working && this.chair && this.input.panel.chairWaits),
  );
  readonly bars = $derived.by(() => {
    const { axis, time, now } = this.input;
    return bars(this.tasks, axis, this.replayed ? time : now);
  });
  readonly word = $derived.by(() => {
    if (this.waits) return s.council.waitsForYou;
    if (this.cut) return s.council.cutOff;
    return laneWord(this.view, this.tasks, this.input.run.head?.state ?? "over");
  });
  /** It is done, but some of its calls were refused. */
  readonly partly = $derived.by(() => this.standing === "done" && this.tasks.some((t) => t.refused > 0));
  readonly left = $derived.by(() => leftUntil(this.task?.due_ms ?? 0, this.input.now));
  /** What it did and how long, once it has ended: “Write berth · 79 ms”. */
  readonly did = $derived.by(() => laneDid(["waiting", "working"].includes(this.standing) ? [] : this.tasks));
  /** Why it stands so; an open lane shows that in its task. */
  readonly why = $derived.by(() => {
    const words = laneWhy(this.view, this.tasks);
    const elsewhere =
      words === this.input.said ||
      words === this.input.run.head?.early ||
      (this.open && this.tasks.some((t) => whyOf(t) === words));
    return elsewhere ? "" : words;
  });
  readonly spent = $derived.by(() => (this.replayed ? spentBy(this.tasks) : this.view.spent));
  readonly tokens = $derived.by(() => this.spent.input_tokens + this.spent.output_tokens);
  readonly spentNote = $derived.by(() =>
    [s.council.tokensInOut(this.spent.input_tokens, this.spent.output_tokens), expected(this.view.tasks)]
      .filter(Boolean)
      .join(" "),
  );
  /** The run is over and this member has no result, so it can be asked again. */
  readonly runsAgain = $derived.by(
    () =>
      this.input.run.over &&
      !this.input.panel.ofFile &&
      !this.chair &&
      this.view.in &&
      ["failed", "skipped", "stopped", "capped"].includes(this.standing),
  );

  constructor(
    private app: App,
    private input: LaneInput,
  ) {}

  toggle = (): void => {
    const { panel, lane } = this.input;
    if (!panel.open.delete(lane.key)) panel.open.add(lane.key);
  };

  readonly menu = $derived.by((): MenuItem[] => {
    const { panel, run, lane } = this.input;
    const { head } = run;
    const { standing } = this;
    const seen = this.view.tasks.findLast((t) => t.sent > 0);
    // Once the answer is made, or about to be, members can no longer contribute to it.
    const counts = head?.live && !this.chair && (head.state === "running" || head.state === "asking");
    const failed = this.view.tasks.some((t) => t.state === "failed" || t.state === "skipped");
    const item = (shown: unknown, one: MenuItem) => (shown ? [one] : []);
    return [
      {
        label: this.open ? s.council.closeLane : s.council.openLane,
        icon: ChevronRight,
        run: this.toggle,
      },
      ...item(seen, {
        label: s.council.see(this.name),
        icon: Eye,
        takesFocus: true,
        run: () => seen && (panel.seeing = { member: lane.key, task: seen.id }),
      }),
      ...item(this.runsAgain, {
        label: s.council.runMember,
        icon: RotateCw,
        takesFocus: true,
        run: () => (panel.again = lane.key),
      }),
      ...item(counts && standing === "working", {
        label: s.council.nudge,
        icon: Megaphone,
        takesFocus: true,
        run: () => (this.nudging = true),
      }),
      ...item(counts && (standing === "working" || standing === "waiting"), {
        label: s.council.skip,
        icon: SkipForward,
        run: () => panel.act("skip", lane),
      }),
      ...item(counts && failed && head?.early === "", {
        label: s.council.retry,
        icon: RotateCw,
        run: () => panel.act("retry", lane),
      }),
    ];
  });
}
