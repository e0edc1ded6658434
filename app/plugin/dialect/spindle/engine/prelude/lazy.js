// Parts of the platform that cost nothing until a plugin uses them. Each is one
// file in lazy/: a function, written as an expression, that gets `inside` (what
// the modules of the prelude export) and returns what it makes. It is evaluated
// when one of its names is first read.
//
// A lazy part is evaluated after plugin code may have run, so it may meet changed
// prototypes; what it then gets wrong is that plugin's own affair.

import * as primordials from "./primordials.js";
import * as bridge from "./bridge.js";

const { $TypeError, $global, assign, create, defineProperty } = primordials;
const evaluate = $global.eval; // lock.js replaces it
const inside = create(null);
const made = create(null);

/** part returns what a lazy part makes, evaluating it the first time. */
export function part(name) {
  if (made[name] === undefined) {
    const text = bridge.host("part", name);
    if (text === "") {
      throw new $TypeError(`There is no part ${name}.`);
    }
    made[name] = evaluate(`"use strict";${text}`)(inside);
  }
  return made[name];
}

/** library returns what a file of library/ exports, a CommonJS module of somebody else's. */
function library(name) {
  const module = { exports: {} };
  evaluate(`(function (module, exports) {${bridge.host("library", name)}\n})`)(module, module.exports);
  return module.exports;
}

/** share lets the lazy parts use what a module exports. */
export function share(module) {
  assign(inside, module);
}

share(primordials);
share(bridge);
share({ part, library });

/** lazily puts names on object that a lazy part makes when they are first read. */
export function lazily(object, from, names) {
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    const keep = (value) => defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
    defineProperty(object, name, {
      get() {
        const value = part(from)[name];
        keep(value);
        return value;
      },
      set: keep,
      enumerable: false,
      configurable: true,
    });
  }
}
