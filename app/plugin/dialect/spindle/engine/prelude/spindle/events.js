// spindle.on: what a plugin listens to, and how it is told.

import { $Map, apply, indexOf, mapGet, mapSet, now, parse, push, slice, splice, startsWith, then } from "../primordials.js";
import { ask, during, failure, log, onReceive, pending, text, watch } from "../bridge.js";
import { piece } from "./generate.js";
import { hook } from "./hooks.js";
import { inOrder } from "./order.js";
import { deny, granted } from "./permissions.js";
import { reshaped } from "./shapes.js";

const listeners = new $Map();

/** listenersOf returns those of event, in the order they came. */
export function listenersOf(event) {
  return slice(mapGet(listeners, event) ?? []);
}

/** subscribe adds one listener and returns what removes it. */
export function subscribe(event, hear) {
  if (typeof hear !== "function") {
    log("warning", `spindle.on("${text(event)}") was given no function, so nothing will hear that event.`);
    return () => {};
  }
  const name = text(event);
  const all = mapGet(listeners, name) ?? [];
  mapSet(listeners, name, all);
  if (all.length === 0) {
    follow(name, "events.subscribe");
  }
  const entry = { hear };
  push(all, entry);
  return () => {
    const at = indexOf(all, entry);
    if (at >= 0) {
      splice(all, at, 1);
      if (all.length === 0) {
        follow(name, "events.unsubscribe");
      }
    }
  };
}

/** follow has Conclave send an event, or no longer. Some are the worker's own. */
function follow(name, capability) {
  if (name !== "TOOL_INVOCATION" && name !== "PERMISSION_CHANGED") {
    inOrder(capability, { name }, () => {}); // one that cannot be followed never comes
  }
}

/** ofGeneration reports whether an event tells what a model says. */
const ofGeneration = (name) => startsWith(name, "GENERATION_") || name === "STREAM_TOKEN_RECEIVED";

/** on is spindle.on. Events about generation need the permission of that name. */
export function on(event, hear) {
  const name = text(event);
  if (ofGeneration(name) && !granted("generation")) {
    deny("generation", `subscribe_event:${name}`);
  }
  return subscribe(name, hear);
}

/** publish tells every listener of event; one that fails is logged. */
export function publish(event, payload, user) {
  const all = listenersOf(event);
  for (let i = 0; i < all.length; i++) {
    const job = `listener for ${event}`;
    try {
      const back = apply(all[i].hear, undefined, [payload, user]);
      watch(job, back);
      during(back);
    } catch (err) {
      failure(job, err);
    }
  }
}

const startTimer = globalThis.setTimeout;
const quietly = () => {};

/** whenDone answers once nothing is under way (the event conclave.done). */
function whenDone({ id, deadline_ms: deadline }) {
  if (pending() === 0) {
    then(ask("hooks.answer", { id, value: null }), undefined, quietly);
  } else if (now() < deadline) {
    startTimer(() => whenDone({ id, deadline_ms: deadline }), 2);
  }
}

onReceive("event", (json) => {
  const { name, payload, user } = parse(json);
  if (name === "conclave.hook") {
    hook(payload, user);
  } else if (name === "conclave.piece") {
    piece(payload);
  } else if (name === "conclave.done") {
    startTimer(() => whenDone(payload), 0); // after what was told before, and its promises
  } else if (!ofGeneration(name) || granted("generation")) {
    publish(name, reshaped(payload), user);
  }
});
