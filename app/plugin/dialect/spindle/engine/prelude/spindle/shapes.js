// Conclave's chats and messages in the words of extensions (contracts/spindle, section 5.4).

import { seconds } from "./guard.js";

/** toMessage makes a Message of an entry of a chat. */
export function toMessage(m) {
  const at = seconds(m.created_ms);
  const versions = m.versions ?? [{ content: m.content, created_ms: m.created_ms }];
  return {
    id: m.id, chat_id: m.chat, index_in_chat: m.index, is_user: m.role === "user", name: m.role === "user" ? "User" : "Assistant",
    role: m.role, content: m.content, send_date: at, extra: m.hidden ? { hidden: true } : {}, metadata: m.metadata ?? {},
    swipe_id: m.version ?? 0, swipes: versions.map((v) => v.content), swipe_dates: versions.map((v) => seconds(v.created_ms)), parent_message_id: null, branch_id: null, created_at: at,
  };
}

/** toChat makes a Chat of a conversation. Conclave has no characters. */
export function toChat(c, metadata = {}) {
  return { id: c.id, character_id: "", name: c.title, metadata, created_at: seconds(c.created_ms), updated_at: seconds(c.updated_ms) };
}

/** reshaped is the payload of an event in the words of extensions. Without the
 * permission to read it, a message is its ids. */
export function reshaped(payload) {
  if (typeof payload !== "object" || payload === null) {
    return payload;
  }
  const { message } = payload;
  if (typeof message === "object" && message !== null) {
    payload.message = message.index === undefined ? { id: message.id, chat_id: message.chat } : toMessage(message);
  }
  if (typeof payload.chat === "object" && payload.chat !== null && payload.chat.created_ms !== undefined) {
    payload.chat = toChat(payload.chat);
  }
  return payload;
}
