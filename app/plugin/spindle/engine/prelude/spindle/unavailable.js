// The rest of the Spindle global (contract section 5): every name is there, so
// that a feature check or a destructuring at load does no harm, and says that it
// is not available when it is used.

import { $Error, create, hasOwn, rejected } from "../primordials.js";
import { log } from "../bridge.js";

// Methods that promise something: they reject. Those that are there already are
// left alone.
const promising = {
  "": "cors assemble batch",
  council: "getSettings getMembers getAvailableLumiaItems",
  connections: "list get resolveDispatch",
  generate: "quiet raw batch rawStream quietStream dryRun observe assemble quietTracked",
  chat: "getMessages appendMessage updateMessage deleteMessage setMessageHidden setMessagesHidden isMessageHidden",
  chats: "get list create update delete getMemories",
  characters: "get list create update delete setAvatar",
  personas: "getActive get getDefault list create update delete switchActive getWorldBook",
  world_books: "list get create update delete getActivated",
  "world_books.entries": "list get create update delete",
  macros: "resolve",
  tokens: "countText countMessages countChat",
  "variables.local": "get set delete list has",
  "variables.global": "get set delete list has",
  "variables.chat": "get set delete list has",
  regex_scripts: "list get create update delete getActive",
  "memories.entities": "list get create update delete",
  "memories.cortex": "query",
  memories: "query list get",
  enclave: "put get delete has list",
  ephemeral: "read write readBinary writeBinary delete list exists stat getPoolStatus requestBlock releaseBlock",
  events: "track query replay getLatestState",
  uploads: "list get read delete",
  imageGen: "generate getProviders getConnections listModels",
  images: "list get upload delete",
  media: "list get upload delete",
  theme: "get set apply reset",
  presets: "list get create update delete",
  "presets.blocks": "list get create update delete",
  "presets.categories": "list get create update delete",
  databanks: "list get create update delete",
  "databanks.documents": "list get create update delete",
  global_addons: "list get create update delete",
  dlc: "getCatalog",
  rpcPool: "read sync handle register call",
  push: "send getStatus",
  webSearch: "query search",
  textEditor: "open",
  users: "get list isVisible",
  oauth: "getCallbackUrl createState",
  frontendProcesses: "spawn list stop send",
  backendProcesses: "spawn list stop send",
  promptRegex: "list apply",
  ui: "show close update",
  modal: "open close confirm",
  prompt: "input",
};

// Methods that only announce something: they do nothing and say so once.
const announcing = {
  "": "registerInterceptor registerContextHandler registerMacro unregisterMacro updateMacroValue registerMessageContentProcessor registerMacroInterceptor registerWorldInfoInterceptor unregisterInterceptor unregisterContextHandler",
  commands: "register unregister onInvoked",
  oauth: "onCallback",
  ui: "onChanged",
  frontendCapabilities: "declare",
  "providers.embedding": "register unregister",
  "providers.tts": "register unregister",
  "providers.stt": "register unregister",
  "providers.sidecar": "register unregister",
};

function rejecting(name) {
  return () => rejected(new $Error(`${name} is not available in Conclave.`));
}

const told = create(null);

function ignoring(name) {
  return () => {
    if (told[name] !== true) {
      told[name] = true;
      log("warning", `${name} is not available in Conclave, so it was left out.`);
    }
    return () => {};
  };
}

function place(root, path) {
  let at = root;
  for (const part of path === "" ? [] : path.split(".")) {
    if (!hasOwn(at, part)) {
      at[part] = {};
    }
    at = at[part];
  }
  return at;
}

function fillFrom(root, table, make) {
  for (const path of Object.keys(table)) {
    const namespace = place(root, path);
    for (const method of table[path].split(" ")) {
      if (!hasOwn(namespace, method)) {
        namespace[method] = make(`spindle.${path === "" ? "" : `${path}.`}${method}`);
      }
    }
  }
}

/** fillUnavailable adds to spindle what it does not have yet. */
export function fillUnavailable(spindle) {
  fillFrom(spindle, promising, rejecting);
  fillFrom(spindle, announcing, ignoring);
}
