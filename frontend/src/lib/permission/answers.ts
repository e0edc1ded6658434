/** The answers a card can give. */
import type { Answer } from "../bridge/generated";

/** Allowed or refused for this time only. */
export function once(effect: Answer["effect"], change: Partial<Answer> = {}): Answer {
  const narrow = { only: 0, trust: false, here: false, lasting: false, council: false };
  return { effect, scope: "once", arguments: "", reason: "", ...narrow, ...change };
}
