// spindle.version and spindle.host: what feature checks read (contracts/spindle, section 5.3).

const version = "1.1.0"; // the Spindle version whose tool contract is honoured

export const versions = {
  getBackend: async () => version,
  getFrontend: async () => version,
};

/** describeHost is spindle.host. */
export const describeHost = (installation) => ({
  descriptorVersion: 1,
  lumiverseVersion: version,
  capabilities: [
    "tools", "storage", "userStorage", "permissions", "log", "events", "chat", "chats", "connections", "generate", "generate.stream",
    "variables", "cors", "enclave", "tokens", "macros", "interceptors", "context_handlers", "council", "toast",
    "world_books", "characters", "personas",
  ],
  extensionInstallationId: installation,
});
