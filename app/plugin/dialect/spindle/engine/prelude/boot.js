// What is evaluated first in every plugin's engine. It makes the globals, takes
// the way in for itself, and leaves nothing of the bridge for the plugin.

import { $global, define, defineProperty, then } from "./primordials.js";
import { describe, host, onReceive, receive, tell } from "./bridge.js";
import { share } from "./lazy.js";
import "./platform.js";
import "./timers.js";
import * as text from "./text.js";
import { unlessAborted } from "./event.js";
import { refuse } from "./fetch.js";
import "./spindle/spindle.js";
import { granted } from "./spindle/permissions.js";
import { settled } from "./spindle/order.js";
import "./lock.js";

share(text);
share({ startTimer: $global.setTimeout, queue: $global.queueMicrotask, unlessAborted, refuse, granted });
define("self", $global);

onReceive("load", (specifier) => {
  then(
    import(specifier),
    () => then(settled(), () => host("load.done")),
    (err) => tell("load.failed", describe(err)),
  );
});

defineProperty($global, "__receive", { value: receive, configurable: true });
