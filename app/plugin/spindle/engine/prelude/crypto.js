// crypto.randomUUID and getRandomValues, and performance: the parts of both
// that need nothing but the worker.

import { $TypeError, charCodeAt, define, isView } from "./primordials.js";
import { host } from "./bridge.js";
import { bytesOf } from "./text.js";
import { DOMException } from "./event.js";

function hex(code) {
  return code < 58 ? code - 48 : code - 87;
}

function fill(bytes) {
  const digits = host("random", `${bytes.length}`);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = (hex(charCodeAt(digits, 2 * i)) << 4) | hex(charCodeAt(digits, 2 * i + 1));
  }
}

define("crypto", {
  randomUUID() {
    return host("uuid");
  },
  getRandomValues(array) {
    if (!isView(array) || array instanceof DataView || array instanceof Float32Array || array instanceof Float64Array) {
      throw new $TypeError("getRandomValues needs an array of integers.");
    }
    if (array.byteLength > 65536) {
      throw new DOMException("getRandomValues fills at most 65536 bytes at once.", "QuotaExceededError");
    }
    fill(bytesOf(array));
    return array;
  },
});

const origin = Date.now();
define("performance", {
  timeOrigin: origin,
  now() {
    return +host("now");
  },
  mark() {},
  measure() {},
});
