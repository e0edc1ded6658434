/** What came out of a run so far, as far as a person has to decide about it. */
import type { Lane as LaneView, Run as RunView } from "../bridge/generated";
import { s } from "../strings";
import { whyOf } from "./words";

export interface Outcome {
  /** How many tasks failed. */
  failed: number;
  /** A task was stopped at the cap. */
  capped: boolean;
  /** The main model has written its answer. */
  answered: boolean;
  /** No member has a result. */
  allFailed: boolean;
  /** Why several members failed, if there is a single cause; else "". */
  cause: string;
  /** What went wrong, in a sentence. */
  stuck: string;
  nothing: string;
}

export function outcomeOf(run: Pick<RunView, "mode">, lanes: readonly LaneView[]): Outcome {
  const tasks = lanes.flatMap((lane) => lane.tasks);
  const failed = tasks.filter((t) => t.state === "failed");
  const done = tasks.filter((t) => t.state === "done");
  const results = done.some((t) => t.kind !== "summary" && t.kind !== "synthesis");
  const allFailed = failed.length > 0 && !results;
  const causes = new Set(failed.map(whyOf));
  const nothing = run.mode === "tools" ? s.council.toolsFailed : s.council.allFailed;
  return {
    failed: failed.length,
    capped: tasks.some((t) => t.state === "capped"),
    answered: done.some((t) => t.kind === "synthesis"),
    allFailed,
    cause: failed.length > 1 && causes.size === 1 ? ([...causes][0] ?? "") : "",
    stuck: allFailed ? nothing : s.council.someFailed(failed.length),
    nothing,
  };
}
