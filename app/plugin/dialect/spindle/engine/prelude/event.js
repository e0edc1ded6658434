// What the rest of the prelude needs of lazy/event.js, without making it.

import { part } from "./lazy.js";

/** exception makes a DOMException. */
export function exception(message, name) {
  return new (part("event").DOMException)(message, name);
}

/** unlessAborted settles as promise does, or rejects as soon as signal aborts. */
export function unlessAborted(promise, signal) {
  return signal === undefined || signal === null ? promise : part("event").unlessAborted(promise, signal);
}
