// fetch, with Headers and Response. A file of the plugin's own folder and a
// data: address can be fetched; the network needs a permission that Conclave
// does not grant to plugins yet (contract section 4.8).

import { $Error, $Map, $String, $TypeError, define, mapDelete, mapForEach, mapGet, mapHas, mapSet, parse, toLowerCase } from "./primordials.js";
import { host } from "./bridge.js";
import { bytesOf, decode, encode, fromBase64 } from "./text.js";
import { DOMException, unlessAborted } from "./event.js";
import { URL } from "./url.js";

export class Headers {
  #all = new $Map();
  constructor(init) {
    if (init instanceof Headers || (init !== null && typeof init === "object" && typeof init[Symbol.iterator] === "function")) {
      for (const [name, value] of init) {
        this.append(name, value);
      }
    } else if (init !== undefined && init !== null) {
      for (const name of Object.keys(init)) {
        this.append(name, init[name]);
      }
    }
  }
  append(name, value) {
    const key = toLowerCase($String(name));
    mapSet(this.#all, key, mapHas(this.#all, key) ? `${mapGet(this.#all, key)}, ${value}` : $String(value));
  }
  set(name, value) {
    mapSet(this.#all, toLowerCase($String(name)), $String(value));
  }
  get(name) {
    return mapGet(this.#all, toLowerCase($String(name))) ?? null;
  }
  has(name) {
    return mapHas(this.#all, toLowerCase($String(name)));
  }
  delete(name) {
    mapDelete(this.#all, toLowerCase($String(name)));
  }
  forEach(visit, self) {
    mapForEach(this.#all, (value, name) => visit.call(self, value, name, this));
  }
  *entries() {
    for (const name of [...this.#all.keys()].sort()) {
      yield [name, this.#all.get(name)];
    }
  }
  *keys() {
    for (const [name] of this.entries()) {
      yield name;
    }
  }
  *values() {
    for (const [, value] of this.entries()) {
      yield value;
    }
  }
  [Symbol.iterator]() {
    return this.entries();
  }
}

export class Response {
  #bytes;
  #used = false;
  constructor(body = null, init = {}) {
    this.#bytes = body === null || body === undefined ? encode("") : typeof body === "string" ? encode(body) : bytesOf(body).slice();
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.headers = new Headers(init.headers);
    this.url = "";
    this.type = "default";
    this.redirected = false;
  }
  static json(value, init = {}) {
    const answer = new Response(JSON.stringify(value), init);
    if (!answer.headers.has("content-type")) {
      answer.headers.set("content-type", "application/json");
    }
    return answer;
  }
  get ok() {
    return this.status >= 200 && this.status < 300;
  }
  get bodyUsed() {
    return this.#used;
  }
  #take() {
    if (this.#used) {
      throw new $TypeError("The body of this response was already read.");
    }
    this.#used = true;
    return this.#bytes;
  }
  async bytes() {
    return this.#take();
  }
  async arrayBuffer() {
    return this.#take().buffer;
  }
  async text() {
    const all = decode(this.#take());
    return all[0] === "\uFEFF" ? all.slice(1) : all;
  }
  async json() {
    return parse(await this.text());
  }
  clone() {
    if (this.#used) {
      throw new $TypeError("The body of this response was already read.");
    }
    const twin = new Response(this.#bytes, { status: this.status, statusText: this.statusText, headers: this.headers });
    twin.url = this.url;
    return twin;
  }
}

function answered(url, bytes, type) {
  const answer = new Response(bytes, { headers: type === "" ? {} : { "content-type": type } });
  answer.url = url;
  return answer;
}

async function get(address, init) {
  const method = $String(init.method ?? "GET").toUpperCase();
  if (address.protocol === "file:") {
    if (method !== "GET") {
      throw new $TypeError("A file can only be read with fetch.");
    }
    const file = parse(host("file.read", address.href));
    if (file.error !== undefined) {
      throw new $TypeError(file.error);
    }
    return answered(address.href, fromBase64(file.base64), file.type);
  }
  if (address.protocol === "data:") {
    const data = address.href.slice(5);
    const comma = data.indexOf(",");
    if (comma < 0) {
      throw new $TypeError("This data: address has no data.");
    }
    const head = data.slice(0, comma);
    const isBase64 = /;\s*base64\s*$/i.test(head);
    const body = decodeURIComponent(data.slice(comma + 1).replace(/#.*$/s, ""));
    const bytes = isBase64 ? fromBase64(body) : encode(body);
    if (bytes === null) {
      throw new $TypeError("This data: address is not base64.");
    }
    return answered(address.href, bytes, head.replace(/;\s*base64\s*$/i, "") || "text/plain;charset=US-ASCII");
  }
  if (address.protocol === "http:" || address.protocol === "https:") {
    refused({ permission: "cors_proxy", operation: "fetch" });
    throw new $Error(`PERMISSION_DENIED: cors_proxy (fetch of ${address.host}: plugins cannot reach the network in Conclave yet)`);
  }
  throw new $TypeError(`fetch does not know addresses that begin with "${address.protocol}".`);
}

let refused = () => {};

/** onDeniedFetch names the function that hears of refused fetches. */
export function onDeniedFetch(hear) {
  refused = hear;
}

define("fetch", async function fetch(input, init = {}) {
  const text = typeof input === "object" && input !== null && "url" in input ? input.url : $String(input);
  if (init.signal?.aborted) {
    throw init.signal.reason ?? new DOMException("The operation was aborted.", "AbortError");
  }
  return unlessAborted(get(new URL(text), init), init.signal);
});
define("Headers", Headers);
define("Response", Response);
