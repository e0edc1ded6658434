// Bytes and text: UTF-8 and base64, for the rest of the prelude. What a plugin
// sees of it is in lazy/encoding.js.

import {
  $ArrayBuffer, $TypeError, $Uint8Array, arraySlice, bytesToBase64, bytesFromBase64, charCodeAt, isView,
  wellFormed,
} from "./primordials.js";
import { host } from "./bridge.js";
import { part } from "./lazy.js";

const many = 256; // characters from which the worker is faster than a loop here

/** encode writes text as UTF-8; half a surrogate pair becomes U+FFFD. */
export function encode(text) {
  if (text.length > many) {
    return bytesFromBase64(host("utf8.encode", wellFormed(text)));
  }
  const out = new $Uint8Array(text.length * 3);
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    let c = charCodeAt(text, i);
    if (c < 0x80) {
      out[n++] = c;
      continue;
    }
    if (c < 0x800) {
      out[n++] = 0xc0 | (c >> 6);
      out[n++] = 0x80 | (c & 63);
      continue;
    }
    if (c >= 0xd800 && c <= 0xdfff) {
      const low = c <= 0xdbff && i + 1 < text.length ? charCodeAt(text, i + 1) : 0;
      if (low >= 0xdc00 && low <= 0xdfff) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        i++;
        out[n++] = 0xf0 | (c >> 18);
        out[n++] = 0x80 | ((c >> 12) & 63);
        out[n++] = 0x80 | ((c >> 6) & 63);
        out[n++] = 0x80 | (c & 63);
        continue;
      }
      c = 0xfffd;
    }
    out[n++] = 0xe0 | (c >> 12);
    out[n++] = 0x80 | ((c >> 6) & 63);
    out[n++] = 0x80 | (c & 63);
  }
  return arraySlice(out, 0, n);
}

/** bytesOf views a buffer source as bytes. */
export function bytesOf(source) {
  if (source === undefined) {
    return new $Uint8Array(0);
  }
  if (isView(source)) {
    return new $Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  }
  if (source instanceof $ArrayBuffer) {
    return new $Uint8Array(source);
  }
  throw new $TypeError("a buffer, or a view of one, is needed.");
}

/** decode reads UTF-8; what is not UTF-8 becomes U+FFFD. */
export function decode(bytes) {
  return bytes.length > many ? (wholeUTF8(bytes) ?? part("encoding").decodeUTF8(bytes, false, false).text) : part("encoding").decodeUTF8(bytes, false, false).text;
}

/** wholeUTF8 reads bytes that are UTF-8 and returns null for others. */
export function wholeUTF8(bytes) {
  const text = host("utf8.decode", toBase64(bytes));
  return text === "" ? null : text;
}

/** toBase64 writes bytes as base64. */
export function toBase64(bytes) {
  return bytesToBase64(bytes);
}

/** fromBase64 reads base64, forgiving white space, or returns null. */
export function fromBase64(text) {
  try {
    return bytesFromBase64(text);
  } catch {
    return null;
  }
}
