// spindle.chats and spindle.chat: conversations, and the messages in them.

import { $Error, isArray, parse, stringify } from "../primordials.js";
import { ask, log, text } from "../bridge.js";
import { changing, need, page, unavailable } from "./guard.js";
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

export const chat = {
  async getMessages(chatId) {
    return (await messagesOf(chatId)).map(toMessage);
  },
  async appendMessage(chatId, message, options) {
    changing("spindle.chat.appendMessage");
    const { role, content, is_user: user } = message ?? {};
    if (options?.triggerGeneration || options?.generate || message?.triggerGeneration) {
      log("warning", "spindle.chat.appendMessage cannot make Conclave answer, so the message was only added.");
    }
    const back = await ask("chats.append", { chat: text(chatId), role: role ?? (user ? "user" : "assistant"), content: text(content ?? "") });
    return toMessage(back.message);
  },
  async updateMessage(chatId, messageId, change) {
    const { content } = change ?? {};
    if (typeof content !== "string") { // only what Conclave does not keep
      changing("spindle.chat.updateMessage");
      const found = (await messagesOf(chatId)).find((m) => m.id === text(messageId));
      if (found === undefined) {
        throw new $Error(`There is no message ${text(messageId)} in that chat.`);
      }
      return toMessage(found);
    }
    return edit("updateMessage", chatId, messageId, { content });
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
