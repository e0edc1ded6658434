// What many namespaces need: a permission asked for here, a list in the shape
// extensions expect, and the calls that must change nothing.

import { $Error, floor, isInteger, max, min } from "../primordials.js";
import { deny, granted } from "./permissions.js";

/** need throws, and tells the listeners of refusals, unless permission is granted. */
export function need(permission, operation) {
  if (!granted(permission)) {
    deny(permission, operation);
    const err = new $Error(`PERMISSION_DENIED: ${permission}`);
    err.kind = "denied";
    throw err;
  }
}

/** page reads limit and offset: 50 unless said otherwise, at most 200. */
export function page(options) {
  const { limit, offset } = options ?? {};
  return {
    limit: isInteger(limit) && limit > 0 ? min(limit, 200) : 50,
    offset: isInteger(offset) ? max(offset, 0) : 0,
  };
}

/** seconds is a time as extensions count it. */
export const seconds = (ms) => floor((ms ?? 0) / 1000);

/** unavailable throws for what Conclave does not have. */
export function unavailable(name, why) {
  throw new $Error(`${name} is not available in Conclave${why === undefined ? "" : `: ${why}`}.`);
}

let dry = false;

/** withoutChanges runs f; what changes anything throws while it does. */
export function withoutChanges(f) {
  const before = dry;
  dry = true;
  try {
    return f();
  } finally {
    dry = before;
  }
}

/** changing throws where nothing may be changed (contracts/spindle, section 5.4.8). */
export function changing(name) {
  if (dry) {
    throw new $Error(`${name} cannot be used while macros are only looked at.`);
  }
}
