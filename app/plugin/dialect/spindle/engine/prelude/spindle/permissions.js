// spindle.permissions: what was granted, known at once; and who hears of changes
// and refusals.

import { $Set, apply, freeze, indexOf, isArray, parse, push, setAdd, setClear, setDelete, setForEach, setHas, slice, sort, splice } from "../primordials.js";
import { log, onReceive, onRefusal, sentence, text } from "../bridge.js";
import { onDeniedFetch } from "../fetch.js";

const all = new $Set();
const changeListeners = [];
const denialListeners = [];
const inside = [];

let identifier = "";

/** granted reports whether permission is granted now. */
export const granted = (permission) => setHas(all, permission);

function list() {
  const names = [];
  setForEach(all, (name) => push(names, name));
  sort(names);
  return names;
}

function tellAll(listeners, notice, what) {
  const now = slice(listeners);
  for (let i = 0; i < now.length; i++) {
    try {
      apply(now[i], undefined, [notice]);
    } catch (err) {
      log("error", `A listener for ${what} failed: ${sentence(err)}`);
    }
  }
}

function listen(listeners, hear, what) {
  if (typeof hear !== "function") {
    log("warning", `spindle.permissions.${what} was given no function.`);
    return () => {};
  }
  push(listeners, hear);
  return () => {
    const at = indexOf(listeners, hear);
    if (at >= 0) {
      splice(listeners, at, 1);
    }
  };
}

/** deny tells the plugin that operation was refused for want of permission. */
export function deny(permission, operation) {
  tellAll(denialListeners, { permission, operation }, "refused permissions");
}

/** onGrant hears of every change before the plugin does. */
export function onGrant(hear) {
  push(inside, hear);
}

export const permissions = {
  has: (permission) => granted(text(permission)),
  getGranted: async () => list(),
  onChanged: (hear) => listen(changeListeners, hear, "onChanged"),
  onDenied: (hear) => listen(denialListeners, hear, "onDenied"),
};

onReceive("granted", (json) => {
  const { id, names } = parse(json);
  identifier = id;
  setClear(all);
  for (let i = 0; i < names.length; i++) {
    setAdd(all, names[i]);
  }
});

/** change takes a PERMISSION_CHANGED notice; events.js publishes it afterwards. */
export function change(notice) {
  const { permission, granted: given, allGranted } = notice;
  if (isArray(allGranted)) {
    setClear(all);
    for (let i = 0; i < allGranted.length; i++) {
      setAdd(all, allGranted[i]);
    }
  } else if (given) {
    setAdd(all, permission);
  } else {
    setDelete(all, permission);
  }
  const seen = freeze({ extensionId: identifier, permission, granted: Boolean(given), allGranted: list() });
  for (let i = 0; i < inside.length; i++) {
    inside[i](permission, Boolean(given));
  }
  tellAll(changeListeners, seen, "changed permissions");
  return seen;
}

// A refused request names its permission first: "PERMISSION_DENIED: chats …".
onRefusal((message, operation) => {
  const [, permission = ""] = /^PERMISSION_DENIED:\s*([\w.]+)/.exec(message) ?? [];
  deny(permission, operation);
});
onDeniedFetch(({ permission, operation }) => deny(permission, operation));
