// The bridge to Conclave. host(op, text) is the one function that leads out;
// receive(op, text) is the one that leads in. Only strings cross.

import {
  $Error, $Map, $Promise, $String, create, deleteProperty, errorToString, getPrototypeOf, mapDelete, mapGet, mapSet, mapSize,
  objectToString, parse, resolved, stringify, substring, then, $global, ObjectPrototype,
} from "./primordials.js";

const raw = $global.__host;
deleteProperty($global, "__host");

/** host calls the worker at once and returns its text. */
export const host = (op, text) => raw(op, text === undefined ? "" : text);

/** tell hands the worker a value as JSON. */
export const tell = (op, value) => raw(op, stringify(value));

const receivers = create(null);

/** on names the one function that takes what Conclave sends under op. */
export function onReceive(op, take) {
  receivers[op] = take;
}

/** receive is what the worker calls. It never throws what a plugin threw. */
export function receive(op, text) {
  const take = receivers[op];
  if (take === undefined) {
    return "";
  }
  const back = take(text);
  return typeof back === "string" ? back : "";
}

// What has been asked of Conclave and not answered yet.
const asked = new $Map();
let lastAsk = 0;

let handling = 0;

/** pending counts what a plugin has under way: requests to Conclave, and the
 * listeners it was told something by that have not finished. */
export const pending = () => mapSize(asked) + handling;

/** during counts a listener's promise among what is under way. */
export function during(back) {
  if (typeof back === "object" && back !== null) {
    const over = () => { handling--; };
    handling++;
    then(resolved(back), over, over);
  }
}

let denied = () => {};

/** onRefusal names the function that hears of refused requests. */
export function onRefusal(hear) {
  denied = hear;
}

/**
 * ask asks Conclave for a capability (docs/WIRE.md, section 5) and promises its
 * value. A refusal rejects with an Error whose kind says why: denied,
 * unavailable, invalid, not_found or failed.
 */
export function ask(capability, args) {
  const id = ++lastAsk;
  return new $Promise((resolve, reject) => {
    mapSet(asked, id, { resolve, reject, capability });
    tell("ask", { id, capability, args });
  });
}

onReceive("answer", (text) => {
  const answer = parse(text);
  const waiting = mapGet(asked, answer.id);
  if (waiting === undefined) {
    return;
  }
  mapDelete(asked, answer.id);
  if (answer.error === undefined) {
    waiting.resolve(answer.value);
    return;
  }
  const err = new $Error(answer.error);
  err.kind = answer.kind;
  if (answer.kind === "denied") {
    denied(answer.error, waiting.capability);
  }
  waiting.reject(err);
});

/** text turns anything into text and never throws. */
export function text(value) {
  try {
    return $String(value);
  } catch {
    try {
      return objectToString(value);
    } catch {
      return "a value that cannot be shown";
    }
  }
}

function field(value, name, type) {
  try {
    const got = value[name];
    return typeof got === type ? got : undefined;
  } catch {
    return undefined;
  }
}

/** describe says what was thrown, as plain data. It never throws. */
export function describe(thrown) {
  if ((typeof thrown !== "object" && typeof thrown !== "function") || thrown === null) {
    return { message: substring(text(thrown), 0, 8192), thrown: thrown === null ? "null" : typeof thrown };
  }
  const name = field(thrown, "name", "string");
  let message = field(thrown, "message", "string");
  if (message === undefined) {
    message = plain(thrown) ? shown(thrown) : text(thrown);
  }
  const stack = field(thrown, "stack", "string");
  return {
    name: name === undefined ? "Error" : substring(name, 0, 200),
    message: substring(message, 0, 8192),
    stack: stack === undefined ? "" : substring(stack, 0, 16384),
    line: field(thrown, "lineNumber", "number"),
    column: field(thrown, "columnNumber", "number"),
    file: field(thrown, "fileName", "string"),
  };
}

function shown(value) {
  try {
    const json = stringify(value);
    return typeof json === "string" ? json : text(value);
  } catch {
    return text(value);
  }
}

/** plain reports whether value is an object written as {…}. */
export function plain(value) {
  try {
    const prototype = getPrototypeOf(value);
    return prototype === ObjectPrototype || prototype === null;
  } catch {
    return false;
  }
}

/** sentence is the message of what was thrown, with its name. */
export function sentence(thrown) {
  try {
    return thrown instanceof $Error ? errorToString(thrown) : describe(thrown).message;
  } catch {
    return describe(thrown).message;
  }
}

const failed = new $Map(); // jobs that failed, until they work again
const mostFailed = 64;

/**
 * failure logs what a piece of the plugin threw where nobody could catch it. job names the
 * piece, as in "timer tick": the plugin's card says that it fails, until worked is called.
 */
export function failure(job, thrown) {
  const { stack } = describe(thrown);
  const why = sentence(thrown);
  if (mapSize(failed) < mostFailed) {
    mapSet(failed, job, true);
  }
  tell("log", { level: "error", text: `A ${job} failed: ${why}${stack ? `\n${stack}` : ""}`, job, failure: why });
}

function worked(job) {
  if (mapDelete(failed, job)) {
    tell("log", { level: "info", text: `The ${job} works again.`, job });
  }
}

/**
 * watch notes how a job ended that returned back: at once, or later where it is an async
 * function given to a timer, an event or a microtask, for which nobody waits. The engine tells
 * of no other promise that is rejected and left alone.
 */
export function watch(job, back) {
  if (typeof back === "object" && back !== null) {
    then(
      resolved(back),
      () => worked(job),
      (err) => failure(job, err),
    );
  } else {
    worked(job);
  }
}

/** log writes one line to the plugin's log. */
export function log(level, message) {
  tell("log", { level, text: text(message) });
}
