/** A plugin's problem in words. */
import type { LogLine, Plugin, Problem } from "../bridge/generated";

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

/** How many lines of its log a diagnosis has. */
const lastLines = 50;

/** What “Copy diagnosis” copies: what a plugin is and runs with, how it is, the end of its log, and the last messages of
 * its protocol. Secrets are masked there already. */
export function diagnosis(plugin: Plugin, log: LogLine[], traffic: LogLine[]): string {
  const { health } = plugin;
  return [
    plugin.problem
      ? details(plugin, plugin.problem)
      : `${plugin.name} ${plugin.version} (${plugin.contract}, ${plugin.id})`,
    plugin.description,
    ...plugin.about.filter((fact) => !fact.text.includes("\n")).map((fact) => `${fact.name}: ${fact.text}`),
    `state: ${plugin.state}, running: ${health.running}, calls: ${health.calls}, errors: ${health.errors}`,
    `sandbox: ${plugin.isolation}`,
    `permissions: ${plugin.permissions.granted.join(", ") || "-"} of ${plugin.permissions.asked.join(", ") || "-"}`,
    ...plugin.warnings,
    "",
    ...log.slice(-lastLines).map((line) => `${line.time} ${line.level} ${line.text}`),
    ...(traffic.length ? ["", "messages:"] : []),
    ...traffic.map((line) => `${line.time} ${line.text}`),
  ].join("\n");
}
