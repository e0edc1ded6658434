// spindle.enclave: secrets, kept where Conclave keeps the person's own keys.

import { ask, text } from "../bridge.js";
import { changing } from "./guard.js";

export const enclave = {
  async put(key, value) {
    changing("spindle.enclave.put");
    await ask("secrets.put", { key: text(key), value: text(value) });
  },
  async get(key) {
    return (await ask("secrets.get", { key: text(key) })).value ?? null;
  },
  async delete(key) {
    changing("spindle.enclave.delete");
    return (await ask("secrets.delete", { key: text(key) })).deleted;
  },
  async has(key) {
    return (await ask("secrets.has", { key: text(key) })).has;
  },
  async list() {
    return (await ask("secrets.list", {})).keys;
  },
};
