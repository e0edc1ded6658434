// spindle.cors: requests to the web, which Conclave makes.

import { $ArrayBuffer, $String, entries, isArray, isView, keys, stringify } from "../primordials.js";
import { ask, plain, text } from "../bridge.js";
import { share } from "../lazy.js";
import { bytesOf, decode, fromBase64, toBase64 } from "../text.js";
import { unlessAborted } from "../event.js";

/** headersOf makes a plain object of headers in any form. */
function headersOf(given) {
  const headers = {};
  if (typeof given?.forEach === "function" && !isArray(given)) {
    given.forEach((value, name) => { headers[name] = $String(value); });
    return headers;
  }
  const pairs = isArray(given) ? given : entries(given ?? {});
  for (let i = 0; i < pairs.length; i++) {
    headers[pairs[i][0]] = $String(pairs[i][1]);
  }
  return headers;
}

/** readOn promises first and what is left of a body under rest, as one. */
async function readOn(first, rest) {
  const parts = [first];
  let size = first.length;
  while (rest !== undefined) {
    const next = await ask("http.read", { rest });
    const bytes = fromBase64(next.base64);
    size += bytes.length;
    parts.push(bytes);
    rest = next.rest;
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const bytes of parts) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}
share({ readOn }); // fetch reads on as well

/** requested asks for one address and reads the body to its end. */
async function requested(args) {
  const answer = await ask("http.request", args);
  if (answer.rest !== undefined) {
    answer.base64 = toBase64(await readOn(fromBase64(answer.base64), answer.rest));
  }
  return answer;
}

const binaries = ["arraybuffer", "base64", "binary", "blob"];

export async function cors(url, options) {
  const { method = "GET", headers, body, responseType, signal } = options ?? {};
  const args = { url: text(url), method: text(method), headers: headersOf(headers), binary: binaries.includes(responseType) };
  if (body instanceof $ArrayBuffer || isView(body)) {
    args.base64 = toBase64(bytesOf(body));
  } else if (plain(body) || isArray(body)) {
    args.body = stringify(body);
    if (!keys(args.headers).some((name) => name.toLowerCase() === "content-type")) {
      args.headers["content-type"] = "application/json";
    }
  } else if (body !== undefined && body !== null) {
    args.body = text(body);
  }
  const answer = await unlessAborted(requested(args), signal);
  const seen = { status: answer.status, statusText: answer.status_text, headers: answer.headers, body: answer.body, url: answer.url };
  if (answer.base64 !== undefined) {
    if (args.binary) {
      seen.body = answer.base64;
      seen.encoding = "base64";
    } else {
      seen.body = decode(fromBase64(answer.base64));
    }
  }
  return seen;
}
