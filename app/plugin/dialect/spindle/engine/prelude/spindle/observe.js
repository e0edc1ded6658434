// spindle.generate.observe: what a model says in one chat, from the events of generation.

import { apply, push, slice } from "../primordials.js";
import { log, sentence, text } from "../bridge.js";
import { on } from "./events.js";

/** observe returns at once an observer of the answers in one chat. It hears nothing
 * without the permission generation, and nothing after dispose(). */
export function observe(chatId) {
  const chat = text(chatId);
  const handlers = { start: [], token: [], end: [], stop: [] };
  let content = "";
  let reasoning = "";
  let generationId = null;

  const tell = (kind, payload) => {
    const all = slice(handlers[kind]);
    for (let i = 0; i < all.length; i++) {
      try {
        apply(all[i], undefined, [payload]);
      } catch (err) {
        log("error", `A handler of spindle.generate.observe failed: ${sentence(err)}`);
      }
    }
  };
  const adding = (kind) => (handler) => {
    if (typeof handler === "function") {
      push(handlers[kind], handler);
    } else {
      log("warning", "spindle.generate.observe was given no function.");
    }
  };
  const here = (hear) => (payload) => {
    if (payload?.chatId === chat) {
      hear(payload);
    }
  };
  const over = (kind) => here((payload) => {
    generationId = null;
    tell(kind, payload);
  });

  const subscriptions = [
    on("GENERATION_STARTED", here((payload) => {
      content = "";
      reasoning = "";
      generationId = payload.generationId ?? null;
      tell("start", payload);
    })),
    on("STREAM_TOKEN_RECEIVED", here((payload) => {
      generationId = payload.generationId ?? generationId; // it may have begun before
      if (payload.type === "reasoning") {
        reasoning += payload.token ?? "";
      } else {
        content += payload.token ?? "";
      }
      tell("token", payload);
    })),
    on("GENERATION_ENDED", over("end")),
    on("GENERATION_STOPPED", over("stop")),
  ];

  return {
    onStart: adding("start"),
    onToken: adding("token"),
    onEnd: adding("end"),
    onStop: adding("stop"),
    get content() {
      return content;
    },
    get reasoning() {
      return reasoning;
    },
    get generationId() {
      return generationId;
    },
    dispose() {
      for (let i = 0; i < subscriptions.length; i++) {
        subscriptions[i]();
      }
    },
  };
}
