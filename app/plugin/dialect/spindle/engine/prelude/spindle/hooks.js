// What an extension does within Conclave's own work: interceptors and context
// handlers, which look at a prompt before a model gets it, and macros, which have
// a value in it (contracts/spindle, sections 5.4.8 to 5.4.10).

import { $Error, $Map, apply, isArray, mapDelete, mapGet, mapHas, mapSet, resolved, then, toLowerCase, trim } from "../primordials.js";
import { ask, describe, log, sentence, text } from "../bridge.js";
import { withoutChanges } from "./guard.js";
import { inOrder } from "./order.js";
import { deny, granted } from "./permissions.js";

const handlers = new $Map();

let timeout; // of interceptors, from the manifest

/** describeInterceptors takes what the manifest says about them. */
export function describeInterceptors(manifest) {
  timeout = typeof manifest.interceptorTimeoutMs === "number" ? manifest.interceptorTimeoutMs : undefined;
}

const quietly = () => {};

/** tellHost registers something; an older Conclave may not know it. */
function tellHost(capability, args) {
  inOrder(capability, args, (err) => {
    if (err.kind !== "unavailable") {
      log("warning", `${args.kind} was not registered: ${sentence(err)}`);
    }
  });
}

function register(kind, method, handler, details) {
  if (typeof handler !== "function") {
    log("warning", `spindle.${method} was given no function.`);
    return quietly;
  }
  if (!granted(kind)) {
    deny(kind, method);
  }
  mapSet(handlers, kind, handler); // a second one replaces the first (contracts/spindle, section 5.4.10)
  tellHost("hooks.register", { kind, ...details });
  return () => {
    if (mapGet(handlers, kind) === handler) {
      mapDelete(handlers, kind);
      tellHost("hooks.unregister", { kind });
    }
  };
}

const whole = (n, otherwise) => (typeof n === "number" && n === n ? Math.trunc(n) : otherwise);

export function registerInterceptor(handler, priority) {
  return register("interceptor", "registerInterceptor", handler, { priority: whole(priority, 100), timeout_ms: whole(timeout) });
}

export function registerContextHandler(handler, priority, options) {
  return register("context_handler", "registerContextHandler", handler, { priority: whole(priority, 100), timeout_ms: whole(options?.timeoutMs) });
}

const macros = new $Map(); // by name in lower case: {name, handler, value}
const reserved = new Set([
  "user", "char", "date", "isodate", "time", "isotime", "weekday", "newline",
  "getvar", "setvar", "getglobalvar", "setglobalvar", "getchatvar", "setchatvar",
]);

function offerMacro(macro) {
  tellHost("hooks.register", { kind: "macro", name: macro.name, data: macro.value === undefined ? {} : { value: macro.value } });
}

export function registerMacro(definition) {
  const { name, handler } = definition ?? {};
  const known = typeof name === "string" ? trim(name) : "";
  const refuse = (why) => log("warning", `The macro ${text(name)} was not registered: ${why}.`);
  if (known === "" || known.length > 100 || /[{}:\n]/.test(known)) {
    refuse("a name has 1 to 100 characters, without braces and colons");
    return;
  }
  if (reserved.has(toLowerCase(known))) {
    refuse("Conclave has one of that name");
    return;
  }
  if (handler !== undefined && handler !== null && typeof handler !== "function") {
    if (handler !== "") {
      refuse("its handler is no function, and code cannot be made from text");
      return;
    }
  }
  const macro = { name: known, handler: typeof handler === "function" ? handler : undefined, value: undefined };
  if (macro.handler === undefined) {
    macro.value = mapGet(macros, toLowerCase(known))?.value ?? "";
  }
  mapSet(macros, toLowerCase(known), macro);
  offerMacro(macro);
}

export function unregisterMacro(name) {
  const known = toLowerCase(trim(text(name)));
  const macro = mapGet(macros, known);
  if (macro !== undefined) {
    mapDelete(macros, known);
    tellHost("hooks.unregister", { kind: "macro", name: macro.name });
  }
}

export function updateMacroValue(name, value) {
  const macro = mapGet(macros, toLowerCase(trim(text(name))));
  if (macro !== undefined) {
    macro.value = text(value);
    offerMacro(macro);
  }
}

export const macrosNamespace = {
  async resolve(template, options) {
    const { chatId, commit } = options ?? {};
    const { text: back, diagnostics } = await ask("macros.resolve", {
      text: text(template), chat: typeof chatId === "string" ? chatId : undefined, commit: commit !== false,
    });
    return { text: back, diagnostics };
  },
};

/** run gives a hook's handler what it looks at. */
function run({ kind, name, payload }, user) {
  if (kind === "macro") {
    const macro = mapGet(macros, toLowerCase(name));
    if (macro?.handler === undefined) {
      return macro?.value ?? "";
    }
    const { args, chatId, commit } = payload;
    const seen = {
      name: macro.name, args: args ?? [], body: "", isScoped: false, commit, chatId, userId: user,
      env: { chat: { id: chatId }, commit, names: { user: "User", char: "Assistant" } },
    };
    const call = () => apply(macro.handler, undefined, [seen]);
    return then(resolved(commit ? call() : withoutChanges(call)), (value) => (value === undefined || value === null ? "" : text(value)));
  }
  const handler = mapGet(handlers, kind);
  if (handler === undefined) {
    throw new $Error("there is no handler");
  }
  if (kind === "context_handler") {
    return apply(handler, undefined, [{ ...payload.context, userId: user }]);
  }
  const context = { ...payload.context, userId: user, activatedWorldInfo: [] };
  return then(resolved(apply(handler, undefined, [payload.messages, context])), (back) => {
    if (!isArray(back) && !isArray(back?.messages)) {
      throw new $Error("it returned neither messages nor an object with messages");
    }
    return back;
  });
}

/** hook answers one question of Conclave's (the event conclave.hook). */
export function hook(question, user) {
  const { id } = question;
  const answer = (value) => then(ask("hooks.answer", { id, value: value ?? null }), undefined, quietly);
  const failed = (err) => then(ask("hooks.answer", { id, error: describe(err).message }), undefined, quietly);
  try {
    then(then(resolved(run(question, user)), answer), undefined, failed);
  } catch (err) {
    failed(err);
  }
}
