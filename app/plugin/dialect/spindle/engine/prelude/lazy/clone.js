// structuredClone: a deep copy that keeps cycles and the built-in types.
(function ({
  $ArrayBuffer, $Boolean, $Date, $Error, $Map, $Number, $Object, $RegExp, $Set, $String, isArray, isView, keys, mapForEach, mapGet,
  mapHas, mapSet, objectToString, part, setAdd, setForEach,
}) {
  const { DOMException } = part("event");

  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  function refuse(value) {
    throw new DOMException(`${typeof value === "symbol" ? $String(value) : objectToString(value)} could not be cloned.`, "DataCloneError");
  }

  function copy(value, made) {
    if (typeof value === "function" || typeof value === "symbol") {
      refuse(value);
    }
    if (typeof value !== "object" || value === null) {
      return value;
    }
    if (mapHas(made, value)) {
      return mapGet(made, value);
    }
    const keep = (fresh) => {
      mapSet(made, value, fresh);
      return fresh;
    };
    if (value instanceof $Date) {
      return keep(new $Date(+value));
    }
    if (value instanceof $RegExp) {
      return keep(new $RegExp(value.source, value.flags));
    }
    if (value instanceof $Boolean || value instanceof $Number || value instanceof $String) {
      return keep($Object(value.valueOf()));
    }
    if (value instanceof $ArrayBuffer) {
      return keep(value.slice(0));
    }
    if (isView(value)) {
      const buffer = copy(value.buffer, made);
      const length = value instanceof DataView ? value.byteLength : value.length;
      return keep(new value.constructor(buffer, value.byteOffset, length));
    }
    if (value instanceof $Map) {
      const fresh = keep(new $Map());
      mapForEach(value, (v, k) => mapSet(fresh, copy(k, made), copy(v, made)));
      return fresh;
    }
    if (value instanceof $Set) {
      const fresh = keep(new $Set());
      setForEach(value, (v) => setAdd(fresh, copy(v, made)));
      return fresh;
    }
    if (value instanceof $Error) {
      const kind = errors[value.name] ?? $Error;
      const fresh = keep(new kind(value.message));
      if (value.cause !== undefined) {
        fresh.cause = copy(value.cause, made);
      }
      return fresh;
    }
    if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef || value instanceof Promise) {
      refuse(value);
    }
    const fresh = keep(isArray(value) ? new Array(value.length) : {});
    const names = keys(value);
    for (let i = 0; i < names.length; i++) {
      fresh[names[i]] = copy(value[names[i]], made);
    }
    return fresh;
  }

  function structuredClone(value, options) {
    if (arguments.length === 0) {
      throw new TypeError("structuredClone needs a value.");
    }
    const made = new $Map();
    const handed = options?.transfer === undefined ? [] : [...options.transfer];
    for (const buffer of handed) {
      if (!(buffer instanceof $ArrayBuffer)) {
        refuse(buffer);
      }
      mapSet(made, buffer, buffer.transfer());
    }
    return copy(value, made);
  }

  return { structuredClone };
})
