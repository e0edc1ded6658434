// spindle.log and spindle.toast: lines in the plugin's log.

import { ask, log as write, text } from "../bridge.js";
import { then } from "../primordials.js";
import { inspect } from "../console.js";

const line = (message) => (typeof message === "string" ? message : inspect(message));

export const log = {
  info: (message) => write("info", line(message)),
  warn: (message) => write("warning", line(message)),
  error: (message) => write("error", line(message)),
  debug: (message) => write("debug", line(message)),
};

// A toast is also a line of the log. Conclave draws it, with the plugin's name.
const toasting = (kind, level) => (message, options) => {
  const title = typeof options?.title === "string" ? options.title : "";
  write(level, title === "" ? text(message) : `${title}: ${text(message)}`);
  then(ask("toast", { kind, text: text(message), title }), undefined, () => {}); // the line is there
};

export const toast = {
  success: toasting("success", "info"),
  info: toasting("info", "info"),
  warning: toasting("warning", "warning"),
  error: toasting("error", "error"),
};
