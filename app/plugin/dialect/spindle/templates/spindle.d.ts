// What a Spindle extension finds in Conclave, for editors and type checkers. It
// is never loaded: an extension has the spindle object without importing anything.
//
// Names that the ecosystem has and this file has not exist too; calling one
// rejects with an error that says so. docs/SPINDLE.md has the rest.

/** A tool as models and council members are told of it. */
interface SpindleTool {
  /** 1 to 128 characters; small letters, digits and underscores serve every model. */
  name: string;
  /** What people see; the name when it is missing. */
  display_name?: string;
  /** What a model reads: what it does, and when to use it. */
  description?: string;
  /** JSON Schema of an object. */
  parameters?: SpindleSchema;
  /** Council members can be given it. */
  council_eligible?: boolean;
  /** The main model is offered it. With neither flag a person turns it on first. */
  inline_available?: boolean;
}

interface SpindleSchema {
  type: "object";
  properties: Record<string, unknown>;
  required?: string[];
  [keyword: string]: unknown;
}

/** One call of a tool. */
interface SpindleInvocation<Args extends object = Record<string, unknown>> {
  /** The name it was registered with. */
  toolName: string;
  /**
   * What the model gave, unchecked beyond the schema, and two keys of the host. A
   * call by a council member carries the two keys alone.
   */
  args: Partial<Args> & {
    /** The messages below as one text. */
    context: string;
    /** When the answer must be there, in milliseconds since 1970. */
    __deadlineMs: number;
  };
  /** Different for every call. */
  requestId: string;
  /** Who calls, when that is a member of the council. */
  councilMember?: SpindleMember;
  /** What the caller knows of the chat. */
  contextMessages?: SpindleContextMessage[];
}

interface SpindleContextMessage {
  role: "system" | "user" | "assistant";
  content: string;
  name?: string;
}

interface SpindleMember {
  memberId: string;
  itemId: string;
  packId: string;
  packName: string;
  name: string;
  role: string;
  /** 0 to 100. */
  chance: number;
  avatarUrl: string | null;
  definition: string;
  personality: string;
  behavior: string;
  /** 0 feminine, 1 masculine, 2 neutral, 3 any. */
  genderIdentity: 0 | 1 | 2 | 3;
}

/** What a handler may answer: objects and lists become JSON, nothing an empty text. */
type SpindleAnswer = string | number | boolean | object | null | undefined;

type SpindleOff = () => void;

interface SpindlePermissionChange {
  permission: string;
  granted: boolean;
  allGranted: string[];
}

interface SpindleMessage {
  role: "system" | "user" | "assistant";
  content: string;
  name?: string;
  [key: string]: unknown;
}

interface SpindleStoredMessage {
  id: string;
  chat_id: string;
  index_in_chat: number;
  is_user: boolean;
  name: string;
  role: "system" | "user" | "assistant";
  content: string;
  /** Seconds since 1970. */
  send_date: number;
  metadata: Record<string, unknown>;
  /** The texts of all its versions, and which of them is shown. */
  swipes: string[];
  swipe_id: number;
  [key: string]: unknown;
}

interface SpindleMessageChange {
  content?: string;
  /** Stored with the message, in place of what was. */
  metadata?: Record<string, unknown>;
  /** The texts of all versions: those there are, and new ones behind them. */
  swipes?: string[];
  /** The version to show, from 0. */
  swipe_id?: number;
}

interface SpindleChat {
  id: string;
  name: string;
  metadata: Record<string, unknown>;
  created_at: number;
  updated_at: number;
  [key: string]: unknown;
}

interface SpindleConnection {
  id: string;
  name: string;
  provider: string;
  model: string;
  is_default: boolean;
  has_api_key: boolean;
  [key: string]: unknown;
}

/** A page of a list. */
interface SpindlePage<Item> {
  data: Item[];
  total: number;
}

interface SpindlePaging {
  /** 50 when it is missing, 200 at most. */
  limit?: number;
  offset?: number;
}

interface SpindleGenerateRequest {
  messages: SpindleMessage[];
  parameters?: Record<string, unknown>;
  /** The default connection when it is missing. */
  connection_id?: string;
  tools?: unknown[];
  signal?: AbortSignal;
  [key: string]: unknown;
}

interface SpindleObserver {
  onStart(handler: (started: Record<string, unknown>) => void): void;
  onToken(handler: (piece: { token: string; type: string }) => void): void;
  onEnd(handler: (ended: Record<string, unknown>) => void): void;
  onStop(handler: (stopped: Record<string, unknown>) => void): void;
  readonly content: string;
  readonly reasoning: string;
  readonly generationId: string | null;
  dispose(): void;
}

interface SpindleGenerated {
  content: string;
  reasoning?: string;
  finish_reason: string;
  tool_calls?: unknown[];
  usage?: Record<string, unknown>;
}

interface SpindleTokens {
  total_tokens: number;
  approximate: boolean;
  [key: string]: unknown;
}

interface SpindleFetched {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  body: string;
}

interface SpindlePromptContext {
  chatId: string;
  generationType: string;
  dryRun: boolean;
  userId: string;
  [key: string]: unknown;
}

interface SpindleMacro {
  name: string;
  category?: string;
  description?: string;
  returnType?: string;
  args?: unknown[];
  volatile?: boolean;
  /** Has five seconds. */
  handler?(context: Record<string, unknown>): unknown;
}

interface SpindleFiles {
  /** Rejects with "File not found" when there is none. */
  read(path: string, userId?: string): Promise<string>;
  write(path: string, text: string, userId?: string): Promise<void>;
  readBinary(path: string, userId?: string): Promise<Uint8Array>;
  writeBinary(path: string, bytes: Uint8Array | ArrayBuffer | number[] | string, userId?: string): Promise<void>;
  delete(path: string, userId?: string): Promise<void>;
  /** Files below a folder, in folders too, relative to it. */
  list(prefix?: string, userId?: string): Promise<string[]>;
  exists(path: string, userId?: string): Promise<boolean>;
  mkdir(path: string, userId?: string): Promise<void>;
  move(from: string, to: string, userId?: string): Promise<void>;
  stat(path: string, userId?: string): Promise<{ exists: boolean; isFile: boolean; isDirectory: boolean; sizeBytes: number; modifiedAt: string }>;
  /** With the key fallback it never rejects. */
  getJson<Value = unknown>(path: string, options?: { fallback?: Value }): Promise<Value>;
  setJson(path: string, value: unknown, options?: { indent?: number }): Promise<void>;
}

interface SpindleVariables {
  get(key: string): Promise<string | null | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  list(): Promise<unknown>;
  has(key: string): Promise<boolean>;
}

interface SpindleChatVariables {
  get(chatId: string, key: string): Promise<string | null | undefined>;
  set(chatId: string, key: string, value: string): Promise<void>;
  delete(chatId: string, key: string): Promise<void>;
  list(chatId: string): Promise<unknown>;
  has(chatId: string, key: string): Promise<boolean>;
}

declare namespace spindle {
  /** The manifest as it was read. */
  const manifest: Record<string, unknown>;

  // Tools. Permission: tools.

  /** Returns at once and never throws; a refusal is told to permissions.onDenied. */
  function registerTool(tool: SpindleTool): void;
  /** Silent when there is none of that name. */
  function unregisterTool(name: string): void;

  // Events. Each returns what ends the subscription.

  /** Answers calls. Several may be registered: all run, the first answer counts. */
  function on<Args extends object = Record<string, unknown>>(
    event: "TOOL_INVOCATION",
    handler: (call: SpindleInvocation<Args>, userId: string) => SpindleAnswer | Promise<SpindleAnswer>,
  ): SpindleOff;
  function on(event: "PERMISSION_CHANGED", handler: (change: SpindlePermissionChange, userId: string) => void): SpindleOff;
  function on(event: string, handler: (payload: any, userId: string) => unknown): SpindleOff;

  namespace permissions {
    /** Right at once, after every change. */
    function has(permission: string): boolean;
    function getGranted(): Promise<string[]>;
    function onChanged(handler: (change: SpindlePermissionChange & { extensionId: string }) => void): SpindleOff;
    function onDenied(handler: (refusal: { permission: string; operation: string }) => void): SpindleOff;
  }

  namespace log {
    function info(message: string): void;
    function warn(message: string): void;
    function error(message: string): void;
  }

  namespace toast {
    function success(message: string, options?: { title?: string }): void;
    function info(message: string, options?: { title?: string }): void;
    function warning(message: string, options?: { title?: string }): void;
    function error(message: string, options?: { title?: string }): void;
  }

  // Data of its own. No permission.

  const storage: SpindleFiles;
  const userStorage: SpindleFiles;

  namespace enclave {
    /** Secrets: kept in the system's keychain where there is one. */
    function put(key: string, value: string): Promise<void>;
    function get(key: string): Promise<string | null>;
    function has(key: string): Promise<boolean>;
    function list(): Promise<unknown>;
  }

  namespace variables {
    const local: SpindleChatVariables;
    const global: SpindleVariables;
    const chat: SpindleChatVariables;
  }

  namespace tokens {
    function countText(text: string): Promise<SpindleTokens>;
    function countMessages(messages: SpindleMessage[]): Promise<SpindleTokens>;
  }

  // Chats. Permissions: chats to know of them, chat_mutation to read and change
  // what is said.

  namespace chats {
    function getActive(): Promise<SpindleChat | null>;
    function get(chatId: string): Promise<SpindleChat | null>;
    function list(paging?: SpindlePaging): Promise<SpindlePage<SpindleChat>>;
  }

  namespace chat {
    function getMessages(chatId: string): Promise<SpindleStoredMessage[]>;
    function appendMessage(chatId: string, message: { role: string; content: string; name?: string }): Promise<unknown>;
    function updateMessage(chatId: string, messageId: string, change: SpindleMessageChange): Promise<unknown>;
    function deleteMessage(chatId: string, messageId: string): Promise<unknown>;
  }

  // Models. Permission: generation.

  namespace generate {
    function quiet(request: SpindleGenerateRequest): Promise<SpindleGenerated>;
    /** Follows the answers in one chat until dispose(). */
    function observe(chatId: string): SpindleObserver;
    function raw(request: SpindleGenerateRequest): Promise<SpindleGenerated>;
  }

  namespace connections {
    /** Never with a key. */
    function list(): Promise<SpindleConnection[]>;
    function get(id: string): Promise<SpindleConnection | null>;
  }

  // The prompt. Permissions: interceptor, context_handler; macros need none.

  function registerInterceptor(
    handler: (messages: SpindleMessage[], context: SpindlePromptContext) => unknown,
    priority?: number,
  ): SpindleOff;
  function registerContextHandler(
    handler: (context: SpindlePromptContext) => unknown,
    priority?: number,
    options?: { timeoutMs?: number },
  ): SpindleOff;
  function registerMacro(macro: SpindleMacro): void;
  function unregisterMacro(name: string): void;
  function updateMacroValue(name: string, value: string): void;

  // The web. Permission: cors_proxy.

  function cors(
    url: string,
    options?: { method?: string; headers?: Record<string, string>; body?: string; responseType?: string },
  ): Promise<SpindleFetched>;

  // The other half in Lumiverse's window, which does not run here: what is sent is
  // dropped, and nothing is heard.

  function onFrontendMessage(handler: (payload: any, userId: string) => void): SpindleOff;
  function sendToFrontend(payload: unknown, userId?: string): void;

  namespace version {
    function getBackend(): Promise<string>;
    function getFrontend(): Promise<string>;
  }
}
