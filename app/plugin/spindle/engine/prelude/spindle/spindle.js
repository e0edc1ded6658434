// The spindle global, put together from one file for each namespace.

import { $global, defineProperty, parse } from "../primordials.js";
import { onReceive } from "../bridge.js";
import { chats } from "./chats.js";
import { on, publish } from "./events.js";
import { onFrontendMessage, sendToFrontend } from "./frontend.js";
import { log, toast } from "./log.js";
import { change, permissions } from "./permissions.js";
import { storage, userStorage } from "./storage.js";
import { registerTool, unregisterTool } from "./tools.js";
import { fillUnavailable } from "./unavailable.js";
import { describeHost, versions } from "./version.js";

let manifest = {};

const spindle = {
  registerTool,
  unregisterTool,
  on,
  permissions,
  log,
  toast,
  storage,
  userStorage,
  chats,
  onFrontendMessage,
  sendToFrontend,
  version: versions,
  host: describeHost(""),
  contracts: { preAssemblyGenerationContext: 1 },
  get manifest() {
    return manifest;
  },
};
fillUnavailable(spindle);
defineProperty($global, "spindle", { value: spindle, writable: false, enumerable: true, configurable: false });

onReceive("manifest", (json) => {
  manifest = parse(json);
  spindle.host.extensionInstallationId = manifest.identifier ?? "";
});

onReceive("permission", (json) => {
  const { notice, user } = parse(json);
  publish("PERMISSION_CHANGED", change(notice), user);
});
