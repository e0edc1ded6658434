// DOMException, Event, EventTarget, AbortController and AbortSignal.
(function ({
  $Error, $Map, $Promise, $String, $TypeError, apply, defineProperty, failure, mapDelete, mapGet, mapSet, now, push, slice, splice,
  startTimer, then, watch,
}) {
  // The codes of the Web IDL standard's table of error names.
  const codes = {
    IndexSizeError: 1, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12, InvalidAccessError: 15,
    TimeoutError: 23, InvalidCharacterError: 5, DataCloneError: 25, AbortError: 20, QuotaExceededError: 22, NetworkError: 19,
  };

  class DOMException extends $Error {
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
  for (const name of Object.keys(codes)) {
    const upper = name.replace(/Error$/, "").replace(/(?!^)([A-Z])/g, "_$1").toUpperCase();
    for (const holder of [DOMException, DOMException.prototype]) {
      defineProperty(holder, `${upper}_ERR`, { value: codes[name], enumerable: true });
    }
  }

  class Event {
    #stopped = false;
    #prevented = false;
    constructor(type, init = {}) {
      this.type = $String(type);
      this.bubbles = Boolean(init.bubbles);
      this.cancelable = Boolean(init.cancelable);
      this.composed = Boolean(init.composed);
      this.isTrusted = false;
      this.eventPhase = 0;
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
    composedPath() {
      return this.currentTarget === null ? [] : [this.currentTarget];
    }
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

  class MessageEvent extends Event {
    constructor(type, init = {}) {
      super(type, init);
      this.data = init.data ?? null;
      this.origin = init.origin ?? "";
      this.lastEventId = init.lastEventId ?? "";
      this.source = init.source ?? null;
      this.ports = init.ports ?? [];
    }
  }

  class ErrorEvent extends Event {
    constructor(type, init = {}) {
      super(type, init);
      this.message = init.message ?? "";
      this.filename = init.filename ?? "";
      this.lineno = init.lineno ?? 0;
      this.colno = init.colno ?? 0;
      this.error = init.error;
    }
  }

  class CloseEvent extends Event {
    constructor(type, init = {}) {
      super(type, init);
      this.code = init.code ?? 0;
      this.reason = init.reason ?? "";
      this.wasClean = Boolean(init.wasClean);
    }
  }

  class EventTarget {
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
      if (!(event instanceof Event)) {
        throw new $TypeError("dispatchEvent needs an Event.");
      }
      event.target = this;
      event.currentTarget = this;
      event.eventPhase = 2;
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
        const job = `listener for "${event.type}"`;
        try {
          watch(job, typeof listener === "function" ? apply(listener, this, [event]) : listener.handleEvent(event));
        } catch (err) {
          failure(job, err);
        }
      }
      event.currentTarget = null;
      event.eventPhase = 0;
      return !event.defaultPrevented;
    }
  }

  let making = false; // only a controller and the static functions make signals

  class AbortSignal extends EventTarget {
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
      startTimer(() => end(signal, new DOMException("The operation timed out.", "TimeoutError")), ms);
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

  class AbortController {
    #signal = newSignal();
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      end(this.#signal, reason);
    }
  }

  /** unlessAborted settles as promise does, or rejects as soon as signal aborts. */
  function unlessAborted(promise, signal) {
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

  return {
    AbortController, AbortSignal, CloseEvent, CustomEvent, DOMException, ErrorEvent, Event, EventTarget, MessageEvent, unlessAborted,
  };
})
