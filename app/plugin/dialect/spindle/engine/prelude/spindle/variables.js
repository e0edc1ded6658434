// spindle.variables: texts that all extensions share, of all chats or of one.

import { hasOwn } from "../primordials.js";
import { ask, text } from "../bridge.js";
import { metadataKey } from "./chats.js";
import { changing } from "./guard.js";

function within(scope, perChat) {
  const at = (given) => (perChat ? { scope, chat: text(given[0]), key: text(given[1] ?? "") } : { scope, key: text(given[0] ?? "") });
  const self = {
    async get(...given) {
      return (await ask("variables.get", at(given))).value ?? "";
    },
    async set(...given) {
      changing(`spindle.variables.${scope}.set`);
      await ask("variables.set", { ...at(given), value: text(given[perChat ? 2 : 1] ?? "") });
    },
    async delete(...given) {
      changing(`spindle.variables.${scope}.delete`);
      await ask("variables.delete", at(given));
    },
    async list(...given) {
      const { values } = await ask("variables.list", at(given));
      delete values[metadataKey];
      return values;
    },
    async has(...given) {
      return hasOwn(await self.list(...given), at(given).key);
    },
  };
  return self;
}

export const variables = { local: within("local", true), global: within("global", false), chat: within("chat", true) };
