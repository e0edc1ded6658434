// DOMException, Event, EventTarget, AbortController and AbortSignal.

import { $Error, $Map, $Promise, $String, $TypeError, apply, define, mapDelete, mapGet, mapSet, now, push, slice, splice, then } from "./primordials.js";
import { log, sentence } from "./bridge.js";

// The codes of the Web IDL standard's table of error names.
const codes = {
  IndexSizeError: 1, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12, InvalidAccessError: 15,
  TimeoutError: 23, InvalidCharacterError: 5, DataCloneError: 25, AbortError: 20, QuotaExceededError: 22, NetworkError: 19,
};

export class DOMException extends $Error {
  #name;
  constructor(message = "", name = "Error") {
    super(message);
    this.#name = typeof name === "object" && name !== null ? $String(name.name ?? "Error") : $String(name);
  }
  get name() {
    return this.#name;
  }
  get code() {
    return codes[this.#name] ?? 0;
  }
}

export class Event {
  #stopped = false;
  #prevented = false;
  constructor(type, init = {}) {
    this.type = $String(type);
    this.bubbles = Boolean(init.bubbles);
    this.cancelable = Boolean(init.cancelable);
    this.timeStamp = now();
    this.target = null;
    this.currentTarget = null;
  }
  get defaultPrevented() {
    return this.#prevented;
  }
  preventDefault() {
    this.#prevented = this.cancelable;
  }
  stopPropagation() {}
  stopImmediatePropagation() {
    this.#stopped = true;
  }
  static stopped(event) {
    return event.#stopped;
  }
}
const isStopped = Event.stopped;
delete Event.stopped;

class CustomEvent extends Event {
  constructor(type, init = {}) {
    super(type, init);
    this.detail = init.detail ?? null;
  }
}

export class EventTarget {
  #listeners = new $Map();

  addEventListener(type, listener, options = {}) {
    if (listener === null || listener === undefined) {
      return;
    }
    const once = typeof options === "object" && options !== null && Boolean(options.once);
    const signal = typeof options === "object" && options !== null ? options.signal : undefined;
    if (signal?.aborted) {
      return;
    }
    const all = mapGet(this.#listeners, type) ?? [];
    for (let i = 0; i < all.length; i++) {
      if (all[i].listener === listener) {
        return;
      }
    }
    push(all, { listener, once });
    mapSet(this.#listeners, type, all);
    signal?.addEventListener("abort", () => this.removeEventListener(type, listener));
  }
  removeEventListener(type, listener) {
    const all = mapGet(this.#listeners, type);
    for (let i = 0; all !== undefined && i < all.length; i++) {
      if (all[i].listener === listener) {
        splice(all, i, 1);
        if (all.length === 0) {
          mapDelete(this.#listeners, type);
        }
        return;
      }
    }
  }
  dispatchEvent(event) {
    event.target = this;
    event.currentTarget = this;
    const inline = this[`on${event.type}`];
    const all = slice(mapGet(this.#listeners, event.type) ?? []);
    if (typeof inline === "function") {
      splice(all, 0, 0, { listener: inline, once: false });
    }
    for (let i = 0; i < all.length && !isStopped(event); i++) {
      const { listener, once } = all[i];
      if (once) {
        this.removeEventListener(event.type, listener);
      }
      try {
        if (typeof listener === "function") {
          apply(listener, this, [event]);
        } else {
          listener.handleEvent(event);
        }
      } catch (err) {
        log("error", `A listener for "${event.type}" failed: ${sentence(err)}`);
      }
    }
    event.currentTarget = null;
    return !event.defaultPrevented;
  }
}

let making = false; // only a controller and the static functions make signals

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason;
  onabort = null;

  constructor() {
    if (!making) {
      throw new $TypeError("Use new AbortController(), AbortSignal.timeout() or AbortSignal.any().");
    }
    super();
  }
  get aborted() {
    return this.#aborted;
  }
  get reason() {
    return this.#reason;
  }
  throwIfAborted() {
    if (this.#aborted) {
      throw this.#reason;
    }
  }
  static end(signal, reason) {
    if (signal.#aborted) {
      return;
    }
    signal.#aborted = true;
    signal.#reason = reason === undefined ? new DOMException("The operation was aborted.", "AbortError") : reason;
    signal.dispatchEvent(new Event("abort"));
  }
  static abort(reason) {
    const signal = newSignal();
    end(signal, reason);
    return signal;
  }
  static timeout(ms) {
    const signal = newSignal();
    setTimer(() => end(signal, new DOMException("The operation timed out.", "TimeoutError")), ms);
    return signal;
  }
  static any(signals) {
    const signal = newSignal();
    for (const one of signals) {
      if (one.aborted) {
        end(signal, one.reason);
        break;
      }
      one.addEventListener("abort", () => end(signal, one.reason), { once: true });
    }
    return signal;
  }
}
const end = AbortSignal.end;
delete AbortSignal.end;

function newSignal() {
  making = true;
  try {
    return new AbortSignal();
  } finally {
    making = false;
  }
}

let setTimer = () => {};

/** useTimers hands over the timer that AbortSignal.timeout uses. */
export function useTimers(set) {
  setTimer = set;
}

export class AbortController {
  #signal = newSignal();
  get signal() {
    return this.#signal;
  }
  abort(reason) {
    end(this.#signal, reason);
  }
}

/** unlessAborted settles as promise does, or rejects as soon as signal aborts. */
export function unlessAborted(promise, signal) {
  if (signal === undefined || signal === null) {
    return promise;
  }
  return new $Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    then(promise, resolve, reject);
  });
}

define("DOMException", DOMException);
define("Event", Event);
define("CustomEvent", CustomEvent);
define("EventTarget", EventTarget);
define("AbortSignal", AbortSignal);
define("AbortController", AbortController);
