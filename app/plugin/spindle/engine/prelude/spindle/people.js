// What Conclave has no word for: regex scripts and memories. Reading them answers
// that there are none, in the right shape; making one says that it cannot be done.

import { need, unavailable } from "./guard.js";

const none = (permission, name) => async () => {
  need(permission, name);
  return { data: [], total: 0 };
};

const nothing = (permission, name) => async () => {
  need(permission, name);
  return null;
};

const never = (permission, name) => async () => {
  need(permission, name);
  unavailable(`spindle.${name}`);
};

/** namespace makes one of the methods named, by what each answers. */
function namespace(name, permission, lists, gets, refuses) {
  const made = {};
  for (const [methods, make] of [[lists, none], [gets, nothing], [refuses, never]]) {
    for (const method of methods) {
      made[method] = make(permission, `${name}.${method}`);
    }
  }
  return made;
}

const write = ["create", "update", "delete"];

export const regex_scripts = namespace("regex_scripts", "regex_scripts", ["list"], ["get"], write);
regex_scripts.getActive = async () => {
  need("regex_scripts", "regex_scripts.getActive");
  return [];
};
export const memories = {
  entities: namespace("memories.entities", "memories", ["list"], ["get"], [...write, "upsert"]),
  cortex: {
    async query() {
      need("memories", "memories.cortex.query");
      return { data: [], total: 0, memories: [], entities: [] };
    },
  },
};
memories.entities.getFacts = async () => {
  need("memories", "memories.entities.getFacts");
  return [];
};
