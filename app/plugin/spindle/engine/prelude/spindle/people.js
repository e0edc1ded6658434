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

const answers = (permission, name, make) => async () => {
  need(permission, name);
  return make();
};

/** group makes a namespace of memories: methods that answer with an empty list, with
 * null, with nothing, and that refuse. */
function group(name, lists, gets, drops, refuses) {
  const made = {};
  for (const [methods, make] of [[lists, () => []], [gets, () => null], [drops, () => undefined]]) {
    for (const method of methods) {
      made[method] = answers("memories", `${name}.${method}`, make);
    }
  }
  for (const method of refuses) {
    made[method] = never("memories", `${name}.${method}`);
  }
  return made;
}

export const memories = {
  entities: group("memories.entities", ["list", "getFacts"], ["get", "findByName"], [],
    [...write, "upsert", "updateStatus", "addFacts", "updateEmotionalValence"]),
  cortex: group("memories.cortex", [], ["getCached", "getCachedLinked"], ["invalidateCache", "invalidateLinkedCache"],
    ["getConfig", "putConfig"]),
  relations: group("memories.relations", ["list", "listAll", "forEntity", "forEntities"], [], [], ["upsert"]),
  consolidations: group("memories.consolidations", ["list"], ["latestArc"], [], ["run"]),
  salience: group("memories.salience", ["list"], [], [], []),
  vaults: group("memories.vaults", ["list", "getChunks"], ["get"], [], ["create", "rename", "delete", "reindex"]),
  links: group("memories.links", ["list"], [], [], ["attach", "remove", "toggle"]),
  chatMemory: group("memories.chatMemory", ["listChunks"], [], ["invalidate"], ["warm"]),
  stats: group("memories.stats", [], ["ingestionStatus"], [], ["usage", "ingestionTelemetry"]),
};
memories.cortex.query = answers("memories", "memories.cortex.query", () => ({
  data: [], total: 0, memories: [], entities: [], entityContext: [], activeRelationships: [], arcContext: null,
  stats: {
    candidatePoolSize: 0, vectorSearchResults: 0, entitiesMatched: 0, scoreFusionApplied: false, topScore: 0, retrievalTimeMs: 0,
  },
}));
memories.cortex.queryLinked = answers("memories", "memories.cortex.queryLinked", () => ({ vaults: [], interlinks: [] }));
memories.chatMemory.get = answers("memories", "memories.chatMemory.get", () => ({
  chunks: [], formatted: "", count: 0, enabled: false, queryPreview: "", settingsSource: "global",
  chunksAvailable: 0, chunksPending: 0, retrievalMode: "disabled",
}));

const free = (make) => async () => make();
const noProcesses = () => ({ list: free(() => []), get: free(() => null) });

/** frontendProcesses and backendProcesses: none is ever started, so there are none. */
export const frontendProcesses = noProcesses();
export const backendProcesses = noProcesses();

/** ui has no tabs to show: frontends do not run. */
export const ui = { getDrawerTabs: free(() => []), getSettingsTabs: free(() => []) };
