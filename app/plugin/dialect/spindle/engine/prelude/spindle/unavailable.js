// The rest of the Spindle global (contracts/spindle, section 5): every name is there, so
// that a feature check or a destructuring at load does no harm, and says that it
// is not available when it is used.

import { $Error, assign, create, hasOwn, rejected } from "../primordials.js";
import { log } from "../bridge.js";
import { ignored, rejects } from "./names.js";

function rejecting(name) {
  return () => rejected(new $Error(`${name} is not available in Conclave.`));
}

const { asyncIterator } = Symbol;

/** streaming is for what answers with an async generator elsewhere: the first step
 * rejects, as does awaiting the answer itself. */
function streaming(name) {
  const reject = rejecting(name);
  return () => assign(reject(), { next: reject, [asyncIterator]: () => ({ next: reject }) });
}

const told = create(null);

function ignoring(name) {
  return () => {
    if (told[name] !== true) {
      told[name] = true;
      log("warning", `${name} is not available in Conclave, so it was left out.`);
    }
    return () => {};
  };
}

function place(root, path) {
  let at = root;
  for (const part of path === "" ? [] : path.split(".")) {
    if (!hasOwn(at, part)) {
      at[part] = {};
    }
    at = at[part];
  }
  return at;
}

function fillFrom(root, table, make) {
  for (const path of Object.keys(table)) {
    const namespace = place(root, path);
    for (const method of table[path].split(" ")) {
      if (!hasOwn(namespace, method)) {
        namespace[method] = make(`spindle.${path === "" ? "" : `${path}.`}${method}`);
      }
    }
  }
}

/** fillUnavailable adds to spindle what it does not have yet. */
export function fillUnavailable(spindle) {
  fillFrom(spindle, rejects, rejecting);
  fillFrom(spindle, ignored, ignoring);
  spindle.imageGen.generateStream = streaming("spindle.imageGen.generateStream");
}
