// What an extension registers with Conclave, told in the order it was said:
// requests that are open at once may be answered in any order.

import { $Promise, resolved, then } from "../primordials.js";
import { ask } from "../bridge.js";

const startTimer = globalThis.setTimeout;

const none = resolved();
let last = none;

/** inOrder asks once everything before was answered; failed hears of a refusal. */
export function inOrder(capability, args, failed) {
  last = then(last, () => then(ask(capability, args), undefined, failed));
}

/** settled promises that all was told, or that it took too long: whoever starts
 * the worker may be no Conclave, and never answer. */
export function settled() {
  return last === none ? none : new $Promise((resolve) => {
    then(last, resolve);
    startTimer(resolve, 1000);
  });
}
