// Regex scripts and memories, which Conclave does not have. Reading them answers that
// there are none, in the right shape; making one says that it cannot be done. No
// permission is asked for: there is none that a person could grant for what is not there.

import { unavailable } from "./guard.js";

const answers = (make) => async () => make();
const never = (name) => async () => unavailable(`spindle.${name}`);

const write = ["create", "update", "delete"];

export const regex_scripts = {
  list: answers(() => ({ data: [], total: 0 })), get: answers(() => null), getActive: answers(() => []),
};
for (const method of write) {
  regex_scripts[method] = never(`regex_scripts.${method}`);
}

/** group makes a namespace of memories: methods that answer with an empty list, with
 * null, with nothing, and that refuse. */
function group(name, lists, gets, drops, refuses) {
  const made = {};
  for (const [methods, make] of [[lists, () => []], [gets, () => null], [drops, () => undefined]]) {
    for (const method of methods) {
      made[method] = answers(make);
    }
  }
  for (const method of refuses) {
    made[method] = never(`${name}.${method}`);
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
memories.cortex.query = answers(() => ({
  data: [], total: 0, memories: [], entities: [], entityContext: [], activeRelationships: [], arcContext: null,
  stats: {
    candidatePoolSize: 0, vectorSearchResults: 0, entitiesMatched: 0, scoreFusionApplied: false, topScore: 0, retrievalTimeMs: 0,
  },
}));
memories.cortex.queryLinked = answers(() => ({ vaults: [], interlinks: [] }));
memories.chatMemory.get = answers(() => ({
  chunks: [], formatted: "", count: 0, enabled: false, queryPreview: "", settingsSource: "global",
  chunksAvailable: 0, chunksPending: 0, retrievalMode: "disabled",
}));

const noProcesses = () => ({ list: answers(() => []), get: answers(() => null) });

/** frontendProcesses and backendProcesses: none is ever started, so there are none. */
export const frontendProcesses = noProcesses();
export const backendProcesses = noProcesses();

/** ui has no tabs to show: frontends do not run. */
export const ui = { getDrawerTabs: answers(() => []), getSettingsTabs: answers(() => []) };
