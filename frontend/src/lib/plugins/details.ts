/** A plugin's problem in words. */
import type { Plugin, Problem } from "../bridge/generated";

/** What a problem says, with its type in front unless the message begins with it. */
export function sentence({ type, message }: Problem): string {
  return !type || message === type || message.startsWith(`${type}:`) ? message : `${type}: ${message}`;
}

/** What “Copy details” copies: enough to ask somebody else. */
export function details(plugin: Plugin, problem: Problem): string {
  const place = problem.file ? `${problem.file}:${problem.line}:${problem.column}` : "";
  return [
    `${plugin.name} ${plugin.version} (${plugin.contract}, ${plugin.id})`,
    sentence(problem),
    place,
    problem.frame,
    problem.hint,
    problem.missing.length ? `missing: ${problem.missing.join(", ")}` : "",
    problem.stderr,
  ]
    .filter(Boolean)
    .join("\n");
}
