// The names of the web platform and the lazy parts that make them.

import { $Date, $Number, $String, $global, apply, defineProperty } from "./primordials.js";
import { lazily, part } from "./lazy.js";

const table = {
  event: ["DOMException", "Event", "CustomEvent", "ErrorEvent", "MessageEvent", "CloseEvent", "EventTarget", "AbortSignal", "AbortController"],
  encoding: ["TextEncoder", "TextDecoder", "atob", "btoa"],
  clone: ["structuredClone"],
  console: ["console"],
  url: ["URL", "URLSearchParams"],
  streams: [
    "ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamBYOBReader", "ReadableStreamDefaultController",
    "ReadableByteStreamController", "WritableStream", "WritableStreamDefaultWriter", "WritableStreamDefaultController",
    "TransformStream", "TransformStreamDefaultController", "ByteLengthQueuingStrategy", "CountQueuingStrategy",
  ],
  pipes: ["TextDecoderStream", "TextEncoderStream", "CompressionStream", "DecompressionStream"],
  blob: ["Blob", "File", "FormData"],
  http: ["Headers", "Request", "Response", "fetch"],
  crypto: ["crypto", "Crypto", "SubtleCrypto", "CryptoKey"],
  performance: ["performance", "Performance"],
  channels: ["BroadcastChannel", "MessageChannel", "MessagePort", "WebSocket"],
  buffer: ["Buffer"],
  process: ["process", "navigator"],
};

for (const from of Object.keys(table)) {
  lazily($global, from, table[from]);
}
lazily($global, "locale", ["Intl"]);

// The methods that follow a locale. The first use of one makes Intl.
function later(kind, object, names) {
  for (const name of names) {
    const method = {
      [name](...args) {
        return apply(part("locale").methods[kind][name], this, args);
      },
    }[name];
    defineProperty(object, name, { value: method, writable: true, enumerable: false, configurable: true });
  }
}
later("number", $Number.prototype, ["toLocaleString"]);
later("bigint", BigInt.prototype, ["toLocaleString"]);
later("date", $Date.prototype, ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]);
later("string", $String.prototype, ["localeCompare"]);
