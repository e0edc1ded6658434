// spindle.chats and spindle.chat: conversations, and the messages in them.

import { $Error, hasOwn, isArray, keys, now, parse, slice, stringify } from "../primordials.js";
import { ask, log, text } from "../bridge.js";
import { changing, need, page, seconds, unavailable } from "./guard.js";
import { toChat, toMessage } from "./shapes.js";

// Conclave keeps nothing of an extension's with a chat, so its metadata is one of
// the chat's variables.
export const metadataKey = "spindle.metadata";

async function metadataOf(chat) {
  try {
    const { value } = await ask("variables.get", { scope: "chat", chat, key: metadataKey });
    return value === null || value === undefined ? {} : parse(value);
  } catch {
    return {};
  }
}

async function whole(chat) {
  return chat === null || chat === undefined ? null : toChat(chat, await metadataOf(chat.id));
}

export const chats = {
  async getActive() {
    return whole((await ask("chats.active", {})).chat);
  },
  async get(id) {
    return whole((await ask("chats.get", { chat: text(id) })).chat);
  },
  async list(options) {
    const found = await ask("chats.list", page(options));
    return { data: found.chats.map((chat) => toChat(chat)), total: found.total };
  },
  async update(id, change) {
    changing("spindle.chats.update");
    const { name, metadata } = change ?? {};
    const { chat } = await ask("chats.update", { chat: text(id), title: typeof name === "string" && name !== "" ? name : undefined });
    if (typeof metadata === "object" && metadata !== null) {
      await ask("variables.set", { scope: "chat", chat: chat.id, key: metadataKey, value: stringify(metadata) });
    }
    return whole(chat);
  },
  async delete() {
    need("chats", "chats.delete");
    unavailable("spindle.chats.delete", "only the person deletes chats");
  },
  async getMemories() {
    need("chats", "chats.getMemories");
    return { data: [], total: 0, chunks: [], formatted: "", count: 0, enabled: false };
  },
};

async function edit(name, chatId, messageId, change) {
  changing(`spindle.chat.${name}`);
  const { message } = await ask("chats.edit", { chat: text(chatId), message: text(messageId), ...change });
  return toMessage(message);
}

async function messagesOf(chatId) {
  return (await ask("chats.messages", { chat: text(chatId) })).messages;
}

async function messageOf(chatId, messageId) {
  const found = (await messagesOf(chatId)).find((m) => m.id === text(messageId));
  if (found === undefined) {
    throw new $Error(`There is no message ${text(messageId)} in that chat.`);
  }
  return toMessage(found);
}

// What updateMessage takes. The last says how another program keeps its index.
const stored = { __proto__: null, content: 1, metadata: 1, swipes: 1, swipe_id: 1, swipe_dates: 1, skipChunkRebuild: 1 };

function textsOf(swipes) {
  if (!isArray(swipes) || swipes.some((one) => typeof one !== "string")) {
    throw new $Error("The swipes of a message are a list of texts.");
  }
  return slice(swipes);
}

// A version's date is when Conclave wrote it: others cannot be stored.
function checkDates({ swipe_dates: have }, dates, swipes) {
  const newest = seconds(now()) + 300;
  if (dates !== undefined && (!isArray(dates) || dates.length !== (swipes ?? have).length ||
    dates.some((at, i) => (i < have.length ? at !== have[i] : !(at > newest - 600 && at < newest))))) {
    throw new $Error("spindle.chat.updateMessage stores no “swipe_dates” but those of now in Conclave, so nothing was changed.");
  }
}

export const chat = {
  async getMessages(chatId) {
    return (await messagesOf(chatId)).map(toMessage);
  },
  async appendMessage(chatId, message, options) {
    changing("spindle.chat.appendMessage");
    const { role, content, is_user: user, metadata } = message ?? {};
    if (options?.triggerGeneration || options?.generate || message?.triggerGeneration) {
      log("warning", "spindle.chat.appendMessage cannot make Conclave answer, so the message was only added.");
    }
    const back = await ask("chats.append", { chat: text(chatId), role: role ?? (user ? "user" : "assistant"), content: text(content ?? ""), metadata: metadata ?? undefined });
    return toMessage(back.message);
  },
  async updateMessage(chatId, messageId, change) {
    const given = change ?? {};
    const found = await messageOf(chatId, messageId);
    for (const key of keys(given)) {
      if (given[key] !== undefined && !hasOwn(stored, key)) {
        throw new $Error(`spindle.chat.updateMessage stores no “${key}” in Conclave, so nothing was changed.`);
      }
    }
    const { content, metadata, swipes, swipe_id: shown } = given;
    checkDates(found, given.swipe_dates, swipes);
    return edit("updateMessage", chatId, messageId, {
      content: content === undefined ? undefined : text(content),
      metadata: metadata === undefined ? undefined : metadata ?? {},
      versions: swipes === undefined ? undefined : textsOf(swipes),
      version: shown ?? undefined,
    });
  },
  async deleteMessage(chatId, messageId) {
    changing("spindle.chat.deleteMessage");
    await ask("chats.remove", { chat: text(chatId), message: text(messageId) });
  },
  async setMessageHidden(chatId, messageId, hidden = true) {
    await edit("setMessageHidden", chatId, messageId, { hidden: Boolean(hidden) });
  },
  async setMessagesHidden(chatId, messageIds, hidden = true) {
    const ids = isArray(messageIds) ? messageIds : [messageIds];
    for (let i = 0; i < ids.length; i++) {
      await edit("setMessagesHidden", chatId, ids[i], { hidden: Boolean(hidden) });
    }
  },
  async isMessageHidden(chatId, messageId) {
    return (await messagesOf(chatId)).find((m) => m.id === text(messageId))?.hidden === true;
  },
};
