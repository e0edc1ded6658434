/** Names, times and money of a council as a person reads them. */
import { commas, moment } from "../format";
import { s } from "../strings";
import { rough, took } from "./line";

export { took };
import type {
  Called,
  Council,
  Drawn,
  Estimate,
  Lane as LaneView,
  Member,
  RunHeader,
  RunState,
  Spending,
  Task as TaskView,
  TaskKind,
} from "../bridge/generated";

/** “17 s left”: until a time of the run; "" where there is none, or it is past. */
export function leftUntil(due: number, now: number): string {
  const seconds = Math.ceil((due - now) / 1000);
  if (due <= 0 || seconds <= 0) return "";
  return s.council.timeLeft(seconds < 60 ? s.units.seconds(seconds) : took(seconds * 1000));
}

/** “4 calls, about $0.04, about 12 s, cap $0.25” */
export function estimated(e: Estimate): string {
  const tools = e.tools > 0 ? [s.council.toolCalls(e.tools)] : [];
  return [
    s.council.calls(e.calls),
    ...tools,
    e.known ? (e.cost > 0 ? s.council.about(rough(e.cost)) : s.cost.none) : s.cost.unknown,
    ...(e.seconds > 0 ? [s.council.about(s.units.seconds(Math.max(1, Math.round(e.seconds))))] : []),
    ...(e.cap > 0 ? [s.council.cap(rough(e.cap))] : []),
  ].join(s.numbers.comma);
}

/**
 * “about $0.01 · about 8 s”: what a member’s own work may come to, as far as it is known. What it
 * has to do in one stage, it does at once.
 */
export function shareOf(e: Estimate | null, member: string): string {
  const own: Spending[] = [];
  const longest = new Map<string, number>(); // by stage
  for (const [task, spending] of Object.entries(e?.tasks ?? {})) {
    const [stage = "", of] = task.split("/");
    if (of !== member) continue;
    own.push(spending);
    longest.set(stage, Math.max(longest.get(stage) ?? 0, spending.ms));
  }
  const cost = own.reduce((sum, { cost }) => sum + cost, 0);
  const ms = [...longest.values()].reduce((sum, ms) => sum + ms, 0);
  return [
    ...(cost > 0 && own.every(({ known }) => known) ? [s.council.about(rough(cost))] : []),
    ...(ms > 0 ? [s.council.about(s.units.seconds(Math.max(1, Math.round(ms / 1000))))] : []),
  ].join(" · ");
}

/** “(estimated $0.01)”: what tasks were to cost together; "" where that is not known, or nothing. */
export function expected(tasks: readonly TaskView[]): string {
  const known = tasks.every((task) => task.expected.known);
  const cost = tasks.reduce((sum, task) => sum + task.expected.cost, 0);
  return known && cost > 0 ? s.council.estimatedAt(rough(cost)) : "";
}

/** What a task is doing, in one word or two. */
export function taskWord(task: TaskView): string {
  if (task.state === "done" && task.refused > 0) return s.council.butRefused(task.refused);
  if (task.state !== "working") return s.council.taskState[task.state];
  const call = task.calls.findLast((c) => c.end_ms === 0);
  if (task.phase === "using" || call)
    return call?.request ? s.council.waitsForYou : s.council.using(call?.title || task.title || task.tool);
  if (task.kind === "ballot" && task.phase === "writing") return s.council.voting;
  return task.phase ? s.council.phase[task.phase] : s.council.taskState.working;
}

/** “12.0 s, 10.0 s of it waiting for you”: how long a task took that ended. */
export function lasted(task: TaskView): string {
  const all = took(task.end_ms - task.start_ms);
  return task.asked_ms < 50 ? all : s.council.askedFor(all, took(task.asked_ms));
}

/** Whose the letters are in what was said of unsigned answers; "" where answers were signed. */
export function whose(kind: TaskKind, drawn: readonly Drawn[]): string {
  const unsigned = kind === "review" || kind === "ballot";
  if (!unsigned || drawn.length === 0) return "";
  return s.council.drawn(commas(drawn.map(({ letter, name }) => s.council.letterIs(letter, name))));
}

/** Names runs of a chat by when they began, to the second where two began in one minute. */
export function runLabels(runs: readonly Pick<RunHeader, "began" | "mode" | "members">[], now = new Date()): string[] {
  const labels = (seconds: boolean) =>
    runs.map(({ began, mode, members }) =>
      [moment(began, seconds, now), s.council.modes[mode], s.council.memberCount(members)].join(" · "),
    );
  const plain = labels(false);
  const exact = labels(true);
  return plain.map((label, i) => (plain.indexOf(label) === plain.lastIndexOf(label) ? label : (exact[i] ?? label)));
}

/**
 * The task that says how a lane stands: one that works, else one that failed, else the newest that
 * is not waiting. One that was stopped before it began, or had no answers of others to work on,
 * says nothing of a member that has answered.
 */
export function leading(all: readonly TaskView[]): TaskView | undefined {
  const answered = all.some((t) => t.state === "done");
  const tasks = all.filter((t) => !answered || !((t.state === "stopped" && !t.attempt) || moot(t)));
  return (
    tasks.findLast((t) => t.state === "working") ??
    tasks.findLast((t) => t.state === "waiting" && tasks.some((o) => o.state === "done")) ??
    tasks.findLast((t) => t.state === "failed") ??
    tasks.findLast((t) => t.state !== "waiting") ??
    tasks[0]
  );
}

/** It was skipped automatically, with a hint. */
const moot = (t: TaskView) => t.state === "skipped" && t.kind !== "tool" && t.hint !== "";

/** What a lane's state is called. */
export function laneWord(lane: Pick<LaneView, "in">, tasks: readonly TaskView[], run: RunState): string {
  if (!lane.in) return s.council.satOut;
  const task = leading(tasks);
  if (!task) return run === "answering" ? s.council.phase.writing : s.council.taskState.waiting;
  // All of them count, whichever of its tasks says how it stands.
  return taskWord({ ...task, refused: tasks.reduce((sum, { refused }) => sum + refused, 0) });
}

/** The sentence that goes with it: why it failed, was skipped or sits out; what it waits for, or has to do without. */
export function laneWhy(lane: Pick<LaneView, "in" | "why">, tasks: readonly TaskView[]): string {
  if (!lane.in) return lane.why;
  const task = leading(tasks);
  if (!task) return lane.why;
  if (task.state === "working") return task.note || lane.why;
  return task.state === "done" || task.state === "waiting" ? lane.why : whyOf(task);
}

/** Why a task came to nothing, and what to do about it. */
export function whyOf({ why, hint }: Pick<TaskView, "why" | "hint">): string {
  return [why, hint].filter(Boolean).join(" ");
}

/** “Write berth”, “79 ms”: the tools that were a member’s work, and how long it was at work. */
export function laneDid(tasks: readonly TaskView[]): { what: string; long: string } {
  const ended = tasks.filter((t) => t.attempt > 0 && t.end_ms > 0);
  const used = [...new Set(ended.filter((t) => t.kind === "tool").map(titleOf))];
  let [ms, until] = [0, 0]; // what ran at once is counted once
  for (const { start_ms, end_ms } of ended.toSorted((a, b) => a.start_ms - b.start_ms)) {
    ms += Math.max(0, end_ms - Math.max(start_ms, until));
    until = Math.max(until, end_ms);
  }
  return {
    what: used.length > 1 ? s.council.toolCount(used.length) : (used[0] ?? ""),
    long: ms > 0 ? took(ms) : "", // what another run took over took no time of this one
  };
}

/** What a task is called: by the tool that it is, or by its kind. */
export function titleOf(task: Pick<TaskView, "kind" | "title" | "tool">): string {
  return task.title || task.tool || s.council.kind[task.kind];
}

/** Describes how much of the chat a member sees; a policy that follows the mode is resolved. */
export function policyOf({ context }: Member, set: Council | null): string {
  const { policy, last = 0 } = context;
  if (policy === "turns") return s.council.context.lastTurns(last);
  if (policy === "messages") return s.council.context.lastMessages(last);
  if (policy) return s.council.context.spans[policy];
  const messages = set?.mode === "tools" ? set.toolsSettings.sidecarContextWindow : 0;
  return messages > 0 ? s.council.context.lastMessages(messages) : s.council.context.spans.all;
}

/** A mark of the time axis: short, as there is little room for it. */
export function axisTime(ms: number): string {
  if (ms > 0 && ms < 1000) return s.units.milliseconds(ms);
  if (ms < 60_000) return s.units.seconds(ms / 1000);
  if (ms % 60_000 === 0) return s.units.minutes(ms / 60_000);
  return `${Math.floor(ms / 60_000)}:${String((ms % 60_000) / 1000).padStart(2, "0")}`;
}

/** The letter of a place at the table: A to Z, then AA. */
export function letterAt(place: number): string {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : letterAt(Math.floor(place / 26) - 1) + last;
}

/** “4,000 tokens, 30 s, $0.05”: what a member may take; "" where nothing is set. */
export function limitsOf(member: Member): string {
  const { tokens, seconds, money: dollars } = member.limits;
  return [
    tokens ? s.council.tokens(tokens) : "",
    seconds ? s.units.seconds(seconds) : "",
    dollars ? rough(dollars) : "",
  ]
    .filter(Boolean)
    .map((limit) => s.council.atMost(limit))
    .join(s.numbers.comma);
}

/** “Done · 1.2 s”: how a call of a task ended, and after what time where the task does not say that itself. */
export function callFacts(call: Called, task: TaskView): string {
  const state = s.tool.state[call.state as keyof typeof s.tool.state] ?? call.state;
  if (!call.end_ms) return state;
  const time = took(call.end_ms - call.start_ms);
  const said = task.kind === "tool" && task.calls.length === 1;
  return said && time === took(task.end_ms - task.start_ms) ? state : `${state} · ${time}`;
}

/** The calls that a task lists. The one call of a task that is a tool is the task, whose title names it. */
export function listed(task: TaskView): Called[] {
  return task.kind === "tool" && task.calls.length === 1
    ? task.calls.map((call) => ({ ...call, title: s.council.theCall }))
    : task.calls;
}
