// Code made from text: eval and the Function constructors are there, as feature
// checks expect, and throw (SP-12).

import { $Function, $TypeError, define, defineProperty, getPrototypeOf } from "./primordials.js";

class EvalError extends $TypeError {}
defineProperty(EvalError.prototype, "name", { value: "EvalError", writable: true, configurable: true });

function refusing(name, prototype) {
  const refuse = {
    [name]() {
      throw new EvalError(`${name} is not available to plugins: code cannot be made from text.`);
    },
  }[name];
  const constructor = function () {
    return refuse();
  };
  defineProperty(constructor, "name", { value: name, configurable: true });
  defineProperty(constructor, "prototype", { value: prototype });
  defineProperty(prototype, "constructor", { value: constructor, writable: false, configurable: false });
  return constructor;
}

define("Function", refusing("Function", $Function.prototype));
refusing("GeneratorFunction", getPrototypeOf(function* () {}));
refusing("AsyncFunction", getPrototypeOf(async function () {}));
refusing("AsyncGeneratorFunction", getPrototypeOf(async function* () {}));
define("eval", {
  eval() {
    throw new EvalError("eval is not available to plugins: code cannot be made from text.");
  },
}.eval);
