// spindle.registerTool, unregisterTool, and the call of a tool (contracts/spindle,
// sections 6 and 7).

import {
  $Error, $Map, $String, apply, defineProperty, isArray, join, mapDelete, mapForEach, mapGet, mapSet, parse, push, stringify, ObjectPrototype,
} from "../primordials.js";
import { describe, host, log, onReceive, plain, tell, text } from "../bridge.js";
import { listenersOf } from "./events.js";
import { deny, granted, onGrant } from "./permissions.js";

// What the plugin registered: shown to Conclave while "tools" is granted, kept
// for the moment it is granted while it is not.
const registered = new $Map();

function offer(name, entry) {
  const refused = tell("tool.add", entry);
  if (refused !== "") {
    mapDelete(registered, name);
    log("warning", refused);
  }
}

/** registerTool is spindle.registerTool: no result, and no exception. */
export function registerTool(tool) {
  let descriptor;
  try {
    descriptor = stringify(tool);
  } catch (err) {
    log("warning", `A tool was not registered: its description cannot be written as JSON (${describe(err).message}).`);
    return;
  }
  if (typeof descriptor !== "string" || descriptor[0] !== "{") {
    log("warning", "A tool was not registered: spindle.registerTool needs an object with a name.");
    return;
  }
  const entry = { descriptor, stack: text(new $Error().stack) };
  const name = parse(descriptor).name;
  mapSet(registered, name, entry);
  if (!granted("tools")) {
    deny("tools", "registerTool");
    return;
  }
  offer(name, entry);
}

/** unregisterTool is spindle.unregisterTool; an unknown name is no error. */
export function unregisterTool(name) {
  mapDelete(registered, name);
  host("tool.remove", text(name));
}

onGrant((permission, given) => {
  if (permission !== "tools") {
    return;
  }
  mapForEach(registered, (entry, name) => {
    if (given) {
      offer(name, entry);
    } else {
      host("tool.remove", text(name));
    }
  });
});

/** contextOf joins messages as contracts/spindle, section 7.5 says. */
function contextOf(messages) {
  const parts = [];
  for (let i = 0; i < messages.length; i++) {
    const { role, content } = messages[i];
    push(parts, role === "system" ? content : `${role}: ${content}`);
  }
  return join(parts, "\n\n");
}

/** put sets an own property, whatever the prototype says. */
function put(object, name, value) {
  defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** payloadOf makes the first argument of a handler. */
function payloadOf(call) {
  const args = call.args === undefined ? {} : parse(call.args);
  delete args.userId;
  delete args.__userId;
  delete args.__user_id;
  const messages = call.messages === undefined ? undefined : parse(call.messages);
  put(args, "context", messages === undefined ? "" : contextOf(messages));
  put(args, "__deadlineMs", call.deadline);
  const payload = { toolName: call.tool, args, requestId: call.request };
  if (call.member !== undefined) {
    put(payload, "councilMember", parse(call.member));
  }
  if (messages !== undefined) {
    put(payload, "contextMessages", messages);
  }
  return payload;
}

/** answerOf turns what a handler returned into text (contracts/spindle, section 7.7). */
function answerOf(value) {
  if (value === undefined || value === null) {
    return { text: "" };
  }
  if (typeof value === "object" && (isArray(value) || plain(value) || value.toString === ObjectPrototype.toString)) {
    const json = stringify(value);
    return json === undefined ? { text: "" } : { text: json, value: true };
  }
  return { text: $String(value) };
}

async function run(call) {
  const handlers = listenersOf("TOOL_INVOCATION");
  if (handlers.length === 0) {
    throw new $Error("No TOOL_INVOCATION handler registered");
  }
  const payload = payloadOf(call);
  let answer;
  let failed;
  for (let i = 0; i < handlers.length; i++) {
    try {
      const value = await apply(handlers[i].hear, undefined, [payload, call.user]);
      answer ??= value;
    } catch (err) {
      failed ??= { err };
    }
  }
  if (failed !== undefined) {
    throw failed.err;
  }
  return answerOf(answer);
}

async function invoke(call) {
  const { id } = call;
  let done;
  try {
    done = { ...(await run(call)), id };
  } catch (err) {
    done = { error: describe(err), id };
  }
  tell("call.done", done);
}

onReceive("invoke", (json) => {
  invoke(parse(json));
});
