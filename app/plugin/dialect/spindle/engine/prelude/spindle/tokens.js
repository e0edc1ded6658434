// spindle.tokens: how many tokens a text has, about.

import { ask, text } from "../bridge.js";

function counted(found, options) {
  return {
    total_tokens: found.total_tokens, model: typeof options?.model === "string" ? options.model : "", modelSource: "main",
    tokenizer_id: null, tokenizer_name: "estimate", approximate: found.approximate,
  };
}

export const tokens = {
  async countText(given, options) {
    return counted(await ask("tokens.count", { text: text(given) }), options);
  },
  async countMessages(messages, options) {
    const plain = messages.map((m) => ({ role: m.role, content: m.content ?? "" }));
    return counted(await ask("tokens.count", { messages: plain }), options);
  },
  async countChat(chatId, options) {
    const { messages } = await ask("chats.messages", { chat: text(chatId) });
    return tokens.countMessages(messages, options);
  },
};
