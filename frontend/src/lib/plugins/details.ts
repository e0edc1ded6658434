/** What “Copy details” copies: enough to ask somebody else. */
import type { Plugin, Problem } from "../bridge/types";

export function details(plugin: Plugin, problem: Problem): string {
  const place = problem.file ? `${problem.file}:${problem.line}:${problem.column}` : "";
  return [
    `${plugin.name} ${plugin.version} (${plugin.contract}, ${plugin.id})`,
    problem.type ? `${problem.type}: ${problem.message}` : problem.message,
    place,
    problem.frame,
    problem.hint,
    problem.missing.length ? `missing: ${problem.missing.join(", ")}` : "",
    problem.stderr,
  ]
    .filter(Boolean)
    .join("\n");
}
