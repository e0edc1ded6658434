// What is evaluated first in every plugin's engine. It makes the globals, takes
// the way in for itself, and leaves nothing of the bridge for the plugin.

import { $global, define, defineProperty, then } from "./primordials.js";
import { describe, host, onReceive, receive, tell } from "./bridge.js";
import { useTimers } from "./event.js";
import "./timers.js";
import "./console.js";
import "./text.js";
import "./clone.js";
import "./crypto.js";
import "./url.js";
import "./fetch.js";
import "./spindle/spindle.js";
import "./lock.js";

useTimers($global.setTimeout);
define("self", $global);
define("navigator", { userAgent: "Conclave", language: "en-US", languages: ["en-US"], hardwareConcurrency: 1 });

onReceive("load", (specifier) => {
  then(
    import(specifier),
    () => host("load.done"),
    (err) => tell("load.failed", describe(err)),
  );
});

defineProperty($global, "__receive", { value: receive, configurable: true });
