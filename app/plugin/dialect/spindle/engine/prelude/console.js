// How values are shown in a log; the console itself is lazy/console.js.

import { part } from "./lazy.js";

/** inspect shows a value as a person debugging would like to read it. */
export function inspect(value) {
  return typeof value === "string" ? value : part("console").inspect(value);
}
