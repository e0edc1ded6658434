// setTimeout, setInterval and queueMicrotask. The worker keeps the clock; this
// keeps what to run.

import { $Map, $RangeError, $TypeError, apply, define, mapDelete, mapGet, mapSet, resolved, slice, then, trunc } from "./primordials.js";
import { failure, host, onReceive, tell, watch } from "./bridge.js";

const waiting = new $Map();
let last = 0;

/** named is what a person reads of a timer: "timer tick", or "timer" where its function has no name. */
function named(run) {
  try {
    return typeof run.name === "string" && run.name !== "" ? `timer ${run.name}` : "timer";
  } catch {
    return "timer";
  }
}

function start(kind, run, delay, args, repeat) {
  if (typeof run !== "function") {
    throw new $TypeError(`${kind} needs a function: code given as text does not run here.`);
  }
  const id = ++last;
  const ms = trunc(+delay);
  mapSet(waiting, id, { run, args, repeat, job: named(run) });
  const refused = tell("timer.set", { id, ms: ms > 0 ? (ms > 0x7fffffff ? 1 : ms) : 0, repeat });
  if (refused !== "") {
    mapDelete(waiting, id);
    throw new $RangeError(refused);
  }
  return id;
}

function stop(id) {
  if (mapDelete(waiting, +id)) {
    host("timer.clear", `${+id}`);
  }
}

onReceive("timer", (text) => {
  const timer = mapGet(waiting, +text);
  if (timer === undefined) {
    return;
  }
  if (!timer.repeat) {
    mapDelete(waiting, +text);
  }
  try {
    watch(timer.job, apply(timer.run, undefined, timer.args));
  } catch (err) {
    failure(timer.job, err);
  }
});

define("setTimeout", function setTimeout(run, delay) {
  return start("setTimeout", run, delay, slice(arguments, 2), false);
});
define("setInterval", function setInterval(run, delay) {
  return start("setInterval", run, delay, slice(arguments, 2), true);
});
define("setImmediate", function setImmediate(run) {
  return start("setImmediate", run, 0, slice(arguments, 1), false);
});
define("clearTimeout", function clearTimeout(id) {
  stop(id);
});
define("clearInterval", function clearInterval(id) {
  stop(id);
});
define("clearImmediate", function clearImmediate(id) {
  stop(id);
});
define("queueMicrotask", function queueMicrotask(run) {
  if (typeof run !== "function") {
    throw new $TypeError("queueMicrotask needs a function.");
  }
  then(resolved(), () => {
    try {
      watch("microtask", run());
    } catch (err) {
      failure("microtask", err);
    }
  });
});
