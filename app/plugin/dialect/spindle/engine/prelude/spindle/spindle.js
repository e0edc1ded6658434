// The spindle global, put together from one file for each namespace.

import { $global, assign, defineProperty, parse } from "../primordials.js";
import { onReceive } from "../bridge.js";
import { chat, chats } from "./chats.js";
import { council } from "./council.js";
import { enclave } from "./enclave.js";
import { on, publish } from "./events.js";
import { onFrontendMessage, sendToFrontend } from "./frontend.js";
import { connections, generate } from "./generate.js";
import {
  describeInterceptors, macrosNamespace, registerContextHandler, registerInterceptor, registerMacro, unregisterMacro, updateMacroValue,
} from "./hooks.js";
import { log, toast } from "./log.js";
import { observe } from "./observe.js";
import { backendProcesses, frontendProcesses, memories, regex_scripts, ui } from "./people.js";
import { change, permissions } from "./permissions.js";
import { characters, personas, world_books } from "./records.js";
import { storage, userStorage } from "./storage.js";
import { tokens } from "./tokens.js";
import { registerTool, unregisterTool } from "./tools.js";
import { fillUnavailable } from "./unavailable.js";
import { variables } from "./variables.js";
import { describeHost, versions } from "./version.js";
import { cors } from "./web.js";

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
  chat,
  chats,
  connections,
  generate: assign(generate, { observe }),
  characters,
  personas,
  world_books,
  regex_scripts,
  memories,
  frontendProcesses,
  backendProcesses,
  ui,
  variables,
  tokens,
  enclave,
  council,
  cors,
  macros: macrosNamespace,
  registerMacro,
  unregisterMacro,
  updateMacroValue,
  registerInterceptor,
  registerContextHandler,
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
  describeInterceptors(manifest);
});

onReceive("permission", (json) => {
  const { notice, user } = parse(json);
  publish("PERMISSION_CHANGED", change(notice), user);
});
