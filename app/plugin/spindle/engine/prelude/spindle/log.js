// spindle.log and spindle.toast: lines in the plugin's log.

import { log as write, text } from "../bridge.js";
import { inspect } from "../console.js";

const line = (message) => (typeof message === "string" ? message : inspect(message));

export const log = {
  info: (message) => write("info", line(message)),
  warn: (message) => write("warning", line(message)),
  error: (message) => write("error", line(message)),
  debug: (message) => write("debug", line(message)),
};

// A toast is shown as a line of the log: the window draws nothing a plugin asks for.
const toasting = (level) => (message, options) => {
  const title = typeof options?.title === "string" ? `${options.title}: ` : "";
  write(level, `${title}${text(message)}`);
};

export const toast = {
  success: toasting("info"),
  info: toasting("info"),
  warning: toasting("warning"),
  error: toasting("error"),
};
