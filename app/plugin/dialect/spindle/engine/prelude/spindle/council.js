// spindle.council: how the council is set, and who sits on it. What Conclave does
// not say is as contracts/spindle, section 9, has it by default.

import { ask } from "../bridge.js";

const defaults = () => ({
  councilMode: false,
  members: [],
  toolsSettings: {
    mode: "sidecar", timeoutMs: 30000, sidecarContextWindow: 25, excludeLatestUserMessage: false, includeUserPersona: true,
    includeCharacterInfo: true, includeWorldInfo: true, allowUserControl: false, maxWordsPerTool: 250, retainResultsForRegens: false,
  },
});

/** known asks Conclave, which may have no council. */
async function known(capability, field, fallback) {
  try {
    return (await ask(capability, {}))[field] ?? fallback;
  } catch (err) {
    if (err.kind === "unavailable") {
      return fallback;
    }
    throw err;
  }
}

export const council = {
  async getSettings() {
    const set = await known("council.settings", "settings", {});
    const base = defaults();
    return { ...base, ...set, toolsSettings: { ...base.toolsSettings, ...set.toolsSettings } };
  },
  getMembers: async () => known("council.members", "members", []),
  getAvailableLumiaItems: async () => known("council.personas", "items", []),
};
