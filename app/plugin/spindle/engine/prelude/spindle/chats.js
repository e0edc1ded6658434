// spindle.chats, as far as Conclave offers it: which chat is being answered.

import { ask } from "../bridge.js";

export const chats = {
  async getActive() {
    const { chat } = await ask("chats.active", {});
    return chat ?? null;
  },
};
