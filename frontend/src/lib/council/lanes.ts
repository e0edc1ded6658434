/**
 * A run on a time axis: where its tasks stand, in how many rows, and how it stood at
 * one moment of it. Nothing here is drawn and nothing is remembered.
 */
import type { Lane as LaneView, Run as RunView, Spending, Task as TaskView } from "../bridge/generated";

/** Times between the marks of an axis, in ms. */
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 20_000, 30_000],
  ...[60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000],
];

/** The time between marks: at most six after the one at 0. */
function stepOf(ms: number): number {
  return steps.find((step) => ms <= 6 * step) ?? Math.ceil(ms / 6 / 3_600_000) * 3_600_000;
}

/** The axis of a run of so many ms: to the first mark that leaves a little room behind it. */
export function axisOf(ms: number): number {
  const room = Math.max(1, ms * 1.02);
  const step = stepOf(room);
  return Math.ceil(room / step) * step;
}

/** Where an axis is marked, in ms; the first mark is at 0, the last at its end. */
export function marks(axis: number): number[] {
  const step = stepOf(axis);
  return Array.from({ length: Math.floor(axis / step) + 1 }, (_, i) => i * step);
}

/** One task on the axis. */
export interface Bar {
  task: TaskView;
  /** From 0: tasks that overlap stand below one another. */
  row: number;
  /** Of the axis, 0 to 1. */
  from: number;
  to: number;
}

/** Places the started tasks of a lane on its axis. now is the working time of the run so far. */
export function bars(tasks: readonly TaskView[], axis: number, now: number): Bar[] {
  const ends: number[] = [];
  return tasks
    .filter((task) => begun(task))
    .toSorted((a, b) => a.start_ms - b.start_ms)
    .map((task) => {
      const end = over(task) ? task.end_ms : Math.max(now, task.start_ms);
      let row = ends.findIndex((e) => e <= task.start_ms);
      if (row < 0) row = ends.length;
      ends[row] = end;
      const part = (ms: number) => Math.min(1, Math.max(0, ms / axis));
      return {
        task,
        row,
        from: part(task.start_ms),
        to: Math.max(part(end), part(task.start_ms) + 0.004),
      };
    });
}

const begun = (task: TaskView) => task.attempt > 0;

/** It ended: what was taken over from another run did as this one began, at 0. */
const over = (task: TaskView) => task.state !== "working" && task.state !== "waiting";

/** What nothing used and cost. */
export const nothing: Spending = {
  input_tokens: 0,
  output_tokens: 0,
  ms: 0,
  cost: 0,
  known: true,
};

/** The tasks of a lane as they stood at a time of the run: what one used is known when it ends. */
export function at(tasks: readonly TaskView[], ms: number): TaskView[] {
  return tasks.map((task): TaskView => {
    const under = { ...task, why: "", hint: "", end_ms: 0, spent: nothing };
    if (!begun(task) || ms < task.start_ms) return { ...under, state: "waiting", attempt: 0, calls: [], refused: 0 };
    if (over(task) && ms >= task.end_ms) return task;
    const calls = task.calls
      .filter((call) => call.start_ms <= ms)
      .map((call) => (call.end_ms && call.end_ms <= ms ? call : { ...call, end_ms: 0 }));
    return { ...under, state: "working", calls };
  });
}

/** What tasks used and cost. */
export function spentBy(tasks: readonly TaskView[]): Spending {
  const sum = { ...nothing };
  for (const { spent } of tasks) {
    sum.input_tokens += spent.input_tokens;
    sum.output_tokens += spent.output_tokens;
    sum.ms += spent.ms;
    sum.cost += spent.cost;
    sum.known &&= spent.known;
  }
  return sum;
}

/** The times at which something happens in a run, in order: what a step goes to. */
export function moments(lanes: readonly LaneView[], ms: number): number[] {
  const all = lanes.flatMap((lane) =>
    lane.tasks.flatMap((task) =>
      begun(task) ? [task.start_ms, task.end_ms, ...task.calls.flatMap((c) => [c.start_ms, c.end_ms])] : [],
    ),
  );
  return [...new Set([0, ...all, ms])].filter((m) => m <= ms).sort((a, b) => a - b);
}

/** How long a run is: to the end of its last task, or of the answer. */
export function lengthOf(run: Pick<RunView, "ms">, lanes: readonly LaneView[]): number {
  return Math.max(run.ms, ...lanes.flatMap((lane) => lane.tasks.map((task) => task.end_ms)));
}
