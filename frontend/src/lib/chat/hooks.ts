/** What hooks of plugins did to an answer, its requests and its calls, in words. */
import type { HookAction, HookedThing, HookMark, HookStep } from "../bridge/generated";
import { s } from "../strings";

/** After the plugin's name: “changed the request”. */
export function hookDid({ point, plugin, action }: HookStep): string {
  if (action === "changed") return plugin === "conclave" ? s.hooks.filledIn : s.hooks.changed[point];
  if (point === "approve" && (action === "failed" || action === "timed out")) return s.hooks.guard[action];
  return s.hooks.did[action];
}

/** Above the steps of an answer. */
export function hooksLead(things: HookedThing[]): string {
  const steps = things.flatMap((thing) => thing.steps);
  if (steps.length === 0) return s.hooks.leadNone;
  return steps.every((step) => step.action === "") ? s.hooks.leadSame(steps.length) : s.hooks.leadOrder;
}

/** Under an answer; "" where nothing is to be said. */
export function hooksLine(marks: HookMark[]): string {
  const line = (did: keyof typeof s.hooks.line, ...also: HookAction[]) => {
    const titles = new Set(
      marks
        .filter((mark) => mark.did === did || also.includes(mark.did))
        .map((mark) => (mark.plugin === "conclave" ? s.hooks.macros : mark.title)),
    );
    if (titles.size === 0) return [];
    return [s.hooks.line[did](titles.size > 2 ? s.hooks.plugins(titles.size) : [...titles].join(s.numbers.and))];
  };
  return [
    ...line("changed"),
    ...line("denied"),
    ...line("asked", "instead"),
    ...line("stopped"),
    ...line("failed"),
    ...line("timed out"),
  ].join(" · ");
}
