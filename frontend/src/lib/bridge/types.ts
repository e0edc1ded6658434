/**
 * What travels between the window and the program. These types are the whole
 * vocabulary of the bound API in calls.ts; the Go structs in packages app and
 * app/transcript have the same JSON keys (snake_case, as on the command line).
 *
 * Rules that hold everywhere:
 * - A list is never null: an empty one is [].
 * - A text that does not apply is "", a number that is not known is 0; only
 *   fields typed `| null` may be null.
 * - A time is RFC 3339 with zone ("2026-11-21T14:05:09.123+01:00"), or "".
 * - A revision is of the same counter as the notices of that (topic, id): a
 *   window holding revision r needs no pull for a notice with revision <= r.
 */

/* ------------------------------------------------------------ notices --- */

/** What kind of thing changed; equals bus.Topic. */
export type Topic =
  | "chats" // the list of conversations, their marks and order
  | "chat" // one conversation; id is its id. Also every frame of a running turn
  | "plugins" // plugins and their states
  | "tools" // the tool set
  | "permissions" // waiting requests, grants, the pause switch
  | "models" // connections, their models, the default
  | "settings" // settings
  | "log" // one plugin's log; id is the plugin's id
  | "toasts"; // notices of plugins

/**
 * The only thing Go pushes, as event `conclave:notice` with a list of these, at
 * most once a frame. The window then pulls.
 */
export interface Notice {
  topic: Topic;
  id: string;
  revision: number;
}

/** A short notice of a plugin's, on one line and cleaned. */
export interface Toast {
  number: number;
  /** The plugin's display name. */
  plugin: string;
  kind: "success" | "info" | "warning" | "error";
  title: string;
  text: string;
}

/* ------------------------------------------------------------- errors --- */

/** A fault.Error as a person reads it. Every bound method rejects with one. */
export interface Failure {
  /** fault.Kind: internal, invalid, not_found, not_allowed, provider, … */
  kind: string;
  /** What happened, to what: one sentence. */
  message: string;
  /** What to do next: a sentence, or "". */
  hint: string;
  /** Short reference that is also in the log; "" unless kind is internal. */
  ref: string;
  /** The other side's own words, cleaned and bounded; "" when there are none. */
  detail?: string;
}

/** What can be taken back. Given by every destructive method. */
export interface Undo {
  /** For Window.Undo. */
  token: string;
  /** What was done, for the toast: "“Trip to Lyon” was deleted." */
  sentence: string;
}

/* --------------------------------------------------------- chat list --- */

/** Which chats to list. */
export interface ChatQuery {
  /** Words to look for in titles and message text; "" lists all. */
  text: string;
  /** true lists the archive instead of the chats in use. */
  archived: boolean;
}

/** What a chat is doing. waiting: a permission request waits in it. */
export type ChatState = "idle" | "running" | "waiting";

export interface ChatRow {
  id: string;
  /** "" until the first message named it; the window then says “New chat”. */
  title: string;
  updated: string;
  pinned: boolean;
  archived: boolean;
  /** Talked to Demo guide only. */
  demo: boolean;
  state: ChatState;
  /** An answer ended while the chat was not looked at (see Chats.Seen). */
  unread: boolean;
  /** Where the words of ChatQuery.text were found in a message, else null. */
  excerpt: Excerpt | null;
}

/** A find's surroundings as plain text, each side at most 60 characters. */
export interface Excerpt {
  before: string;
  match: string;
  after: string;
}

/** Rows in one heading's care. Groups and rows are in the same order. */
export interface ChatGroup {
  /**
   * "pinned" · "2026-11-21" for each of the last seven days, local time ·
   * "2026-10" for everything older · "found" for all results of a text query.
   */
  key: string;
  count: number;
}

export interface ChatList {
  revision: number;
  /** How many chats match in all. */
  total: number;
  /** All groups, so that the whole list can be laid out; counts sum to total. */
  groups: ChatGroup[];
  /** Index of rows[0] in the whole list. */
  offset: number;
  rows: ChatRow[];
  /** How much a query has searched so far, in percent; the list changes while it is less than 100. */
  searched: number;
}

/* -------------------------------------------------------------- chat --- */

/** One conversation without its messages. */
export interface Chat {
  id: string;
  title: string;
  /** "connection/model" in effect: its own choice or the default. */
  model: string;
  /** Display name of that model. */
  model_title: string;
  /** Whether that model can see pictures and call tools. */
  vision: boolean;
  tools: boolean;
  system: string;
  pinned: boolean;
  archived: boolean;
  demo: boolean;
  created: string;
  updated: string;
}

/** A half-written message, kept across crashes and restarts. */
export interface Draft {
  text: string;
  /** Caret position in UTF-16 units. */
  cursor: number;
  attachments: Media[];
  /** Messages that go out, one after the other, when the running answer is done. */
  queued: Queued[];
}

/** A message that was written while an answer streamed. */
export interface Queued {
  text: string;
  attachments: Media[];
  no_tools: boolean;
}

/** A content-addressed file; its bytes are at /media/<id>. */
export interface Media {
  id: string;
  name: string;
  mime_type: string;
  size: number;
}

/**
 * What changed in a conversation since the revision asked. At revision 0: chat,
 * the whole outline, and the last 30 entries whole.
 */
export interface Pull {
  conversation: string;
  revision: number;
  /** Set when it changed. */
  chat: Chat | null;
  /** Set when the visible path changed. */
  outline: OutlineSplice | null;
  /** Entries that changed, oldest first. */
  entries: Entry[];
  /** The running turn; null when none runs. Always the present state. */
  status: TurnStatus | null;
  /**
   * Go could not tell the difference (too old a revision): this answer is as if
   * asked at 0, and every body the window held is void.
   */
  reset: boolean;
}

/**
 * The visible path from index `from` on is now `seqs` (everything behind is
 * gone). An entry is what is drawn as one message: a user message, or all
 * assistant and tool messages of one turn folded into one answer. Its seq is
 * the sequence number of its first message and never changes.
 */
export interface OutlineSplice {
  from: number;
  seqs: number[];
}

export type EntryRole = "user" | "assistant" | "system";

/** chat.MessageState of the last message folded into the entry. */
export type EntryState = "complete" | "streaming" | "stopped" | "interrupted" | "failed";

/** chat.EndReason */
export type EndReason = "" | "done" | "stopped" | "limit" | "error" | "handled" | "interrupted";

export interface Entry {
  seq: number;
  /**
   * true: `parts` is everything there is. false: `parts` are only those that
   * changed and their `blocks` only those that changed; merge by index. A window
   * that does not hold the entry drops a partial one and asks Chats.Messages
   * when it is needed.
   */
  whole: boolean;
  role: EntryRole;
  turn: string;
  /** Display name of the model that wrote it; "" for a user's. */
  model: string;
  state: EntryState;
  reason: EndReason;
  /** Set when state is failed. */
  error: Failure | null;
  created: string;
  ended: string;
  /** Kept from the model. */
  hidden: boolean;
  /**
   * Sequence numbers of all versions at this place, oldest first, own included;
   * [] when there is only one.
   */
  siblings: number[];
  /** How many entries follow on the sibling last looked at; for the notice after an edit. */
  other_branch: number;
  /** Words of the answer's text. */
  words: number;
  usage: Usage | null;
  /** How many parts there are now. */
  part_count: number;
  parts: Part[];
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  /** US dollars; 0 when the provider does not say. */
  cost: number;
}

export type PartKind = "text" | "reasoning" | "tool_call" | "media";

/** A piece of an entry, in reading order. `kind` says which fields count. */
export interface Part {
  index: number;
  kind: PartKind;
  /** text, reasoning: rendered Markdown; the window shows block_count of them. */
  blocks: Block[];
  block_count: number;
  /** reasoning: how long it took so far, in ms. */
  ms: number;
  /** text, reasoning: no more will come. */
  done: boolean;
  /** tool_call */
  call: Call | null;
  /** media */
  media: Media | null;
}

/** One top-level block of rendered, sanitized HTML: the only HTML in the API. */
export interface Block {
  index: number;
  html: string;
  /** html replaces what comes after this many characters of the block's HTML; 0 = all of it. */
  keep: number;
  /** Will not change again. */
  done: boolean;
}

/** What the running turn is doing. */
export interface TurnStatus {
  turn: string;
  phase:
    | "waiting" // for the model's first word
    | "thinking"
    | "answering"
    | "tool" // a tool runs
    | "permission" // a person is asked
    | "retrying" // the provider failed for a moment; note says why
    | "stopping";
  /** When this phase began. */
  since: string;
  /** Display name of the model asked. */
  model: string;
  /** tool: display name of the tool. */
  tool: string;
  /** A sentence that says more, or "". */
  note: string;
}

/* -------------------------------------------------------- tool calls --- */

/** The state word of a tool card. */
export type CallState =
  | "proposed" // the model is still writing the arguments
  | "waiting" // for a person
  | "running"
  | "done"
  | "refused" // by a person, a rule or a built-in refusal
  | "failed" // raised, bad arguments, timeout, died, unknown tool
  | "expired" // nobody answered in time
  | "stopped"; // the person stopped the answer

/** One line of a tool card; opening it asks Chats.Call. */
export interface Call {
  /** CallRecord.ID in decimal; "" while proposed. */
  id: string;
  /** "plugin:name", or the name the model used when there is no such tool. */
  tool: string;
  /** Name of the tool as a person reads it: “Save note”. */
  title: string;
  /** What the call does, to stand after “wants to”: “save a note”, “use “Word count””. */
  doing: string;
  /** What it did: “Saved a note”. */
  did: string;
  /** Display name of the plugin; "" when unknown. */
  plugin: string;
  /** The arguments for a person, at most 120 characters: “text: a b c”. */
  summary: string;
  state: CallState;
  /** state failed: the first line of the error. */
  problem: string;
  started: string;
  /** How long it ran; 0 while it runs. */
  ms: number;
  /** The tool's own last progress note. */
  progress: string;
  /** The waiting request (Pending.id) when state is waiting. */
  request: string;
  /** Who decided, in one line: “Allowed once by you at 14:07”. "" while open. */
  decision: string;
  /** A person made that decision for this call; the card then shows it without being opened. */
  by_person: boolean;
  /** The grant that decision made or used, which Permissions.Revoke takes back; "". */
  grant: string;
}

/** Everything about one call, for the opened card. Texts are cleaned and cut at 200,000 characters. */
export interface CallDetail {
  id: string;
  /** Arguments as indented JSON; edited ones if the person edited them. */
  arguments: string;
  /** What the model wrote, when it was not a JSON object. */
  raw_arguments: string;
  /** What the tool answered, as plain text. */
  result: string;
  /** The typed value as indented JSON; "" when the text is all of it. */
  result_json: string;
  /** How many more characters the result has than are shown. */
  result_cut: number;
  /** Hidden characters (ANSI, bidi, zero-width, Unicode tags) removed from the result. */
  hidden_removed: number;
  /** The result with those characters made visible (‹U+200B›); "" when none. */
  result_marked: string;
  media: Media[];
  error: string;
  error_type: string;
  traceback: string;
  /** What the call printed, its last 8 KiB. */
  printed: string;
  started: string;
  ended: string;
  ms: number;
  caller: string;
  /** Digest of the definition in hex. */
  digest: string;
  /** “Why was this allowed?”: the rule path in words, one step per line. */
  why: string[];
}

/** The exact requests behind one answer. */
export interface MessageInfo {
  requests: RequestInfo[];
  usage: Usage;
  /** Whole time of the turn. */
  ms: number;
}

export interface RequestInfo {
  model: string;
  sent: string;
  ms: number;
  /** What was sent, as indented JSON without any secret. */
  body: string;
  usage: Usage;
}

/** One message that holds the words searched for. */
export interface Find {
  seq: number;
  /** Place in the outline. */
  index: number;
  excerpt: Excerpt;
}

/** What Chats.Send takes. */
export interface Outgoing {
  text: string;
  /** Media.id of each attachment. */
  attachments: string[];
  /** "connection/model" that the window shows; "" = the conversation's, or the default. */
  model: string;
  /** Offer the model no tools this time. */
  no_tools: boolean;
}

/** What was started. */
export interface Sent {
  conversation: string;
  /** "" when nothing runs (an edit that was only saved). */
  turn: string;
  /** The user message's sequence number. */
  seq: number;
}

/* ----------------------------------------------------------- plugins --- */

export type PluginState =
  "ready" | "loading" | "failed" | "disabled" | "needs-approval" | "quarantined" | "needs-packages";

/** plugin.Problem: why a plugin did not load. */
export interface Problem {
  kind: string;
  message: string;
  type: string;
  file: string;
  /** From 1; 0 when there is no place. */
  line: number;
  column: number;
  /** A few lines of source with the place marked. */
  frame: string;
  hint: string;
  /** Packages that are not installed. */
  missing: string[];
  stderr: string;
}

export interface Plugin {
  id: string;
  name: string;
  version: string;
  description: string;
  author: string;
  homepage: string;
  contract: string;
  path: string;
  /** Where it was added from and can be updated from: an address or a path; "" = not known. */
  origin: string;
  state: PluginState;
  enabled: boolean;
  problem: Problem | null;
  /** When the version that still serves was loaded, while problem is set; "" = none serves. */
  serving_since: string;
  /** Tool ids that are callable now. */
  tools: string[];
  permissions: PluginPermission[];
  /** What it may reach outside of its own folders. */
  folders: PluginFolder[];
  /** What it reached for and may not have, newest last. */
  refused: PluginRefusal[];
  /** What it may do, in permit.Capability's words. */
  capabilities: string[];
  /** process+landlock · process · none */
  isolation: string;
  /** “Runs as you, not isolated.” when the walls are not the best; else "". */
  isolation_note: string;
  load_ms: number;
  generation: number;
  loaded: string;
  calls: number;
  errors: number;
  last_used: string;
  warnings: string[];
  /** “I am developing this”: own edits keep their approval. */
  developing: boolean;
  /** Comes with Conclave. */
  shipped: boolean;
  running: boolean;
  /** Of its process, in bytes; 0 when it does not run or the system does not say. */
  memory: number;
  /** What an approval pins; Plugins.Approve must name it. */
  digest: string;
  /** What it wants of the world's packages; null when nothing. */
  packages: Packages | null;
  /** Whether there is something to set: Plugins.Settings. */
  settings: boolean;
}

/** One permission that a plugin asks for, has, or was denied. */
export interface PluginPermission {
  name: string;
  /** What the plugin may do with it. */
  sentence: string;
  /** What stops working without it; "" = nothing. */
  without: string;
  risk: "low" | "medium" | "high" | "wall";
  /** Whether Conclave has what it is about. */
  supported: boolean;
  state: "asked" | "granted" | "denied";
  /** Approving the plugin does not grant it. */
  by_hand: boolean;
}

/** A folder or file outside of its own that a plugin was given. */
export interface PluginFolder {
  path: string;
  write: boolean;
  /** The setting that named it; "" = it was granted by itself. */
  setting: string;
}

/** Something that a plugin may not have, which a grant would allow: its own word, to be judged. */
export interface PluginRefusal {
  permission: string;
  /** filesystem: the folder, for GrantFolder. */
  path: string;
  write: boolean;
  command: string;
}

/** What a person may set of a plugin, and what they set. */
export interface PluginForm {
  /** JSON Schema of an object, as text; "" = nothing to set. */
  schema: string;
  /** What is set, a JSON object as text, without secrets. */
  values: string;
  /** The paths of the secrets that are set: "server.token". */
  secrets: string[];
  /** Why the values do not fit the schema as it is now. */
  problems: string[];
}

/** plugin.Packages: what a plugin wants, and where it stands. */
export interface Packages {
  packages: Package[];
  /** What it declares that is not obeyed, a sentence each. */
  notes: string[];
  /** Other indexes and addresses that it names; they need consent. */
  elsewhere: string[];
  /** Of the list: Plugins.InstallPackages must name it. */
  digest: string;
  /** The interpreter's version. */
  python: string;
  /** Where packages come from. */
  index: string;
  /** Why nothing can be installed on this machine; "" when it can. */
  unable: string;
  /** When its environment was made, and where, and what it takes; "" and 0 without one. */
  made: string;
  path: string;
  bytes: number;
  /** The environment was made for another list, or another Python. */
  stale: boolean;
  /** Installing: under way, or the last time since the program started. */
  work: PackageWork | null;
}

export interface Package {
  name: string;
  /** What is asked for: beautifulsoup4>=4.12. */
  requirement: string;
  /** Where that stands: requirements.txt:3, or the import of bs4. */
  from: string;
  standing: "installed" | "missing" | "outdated" | "provided" | "skipped";
  /** That is installed; "" when none is. */
  version: string;
  /** The plugin loads without it. */
  optional: boolean;
  /** Nobody declared it: its name was taken from an import. */
  guessed: boolean;
  note: string;
}

export interface PackageWork {
  running: boolean;
  started: string;
  ended: string;
  /** The last of what the installer said. */
  lines: string[];
  /** Why it did not work. */
  problem: Problem | null;
  /** By the person. */
  stopped: boolean;
}

export interface PluginList {
  revision: number;
  /** The watched folder. */
  folder: string;
  /** Why the folder cannot be watched, else null. */
  problem: Failure | null;
  /** Sorted by name. */
  plugins: Plugin[];
}

/** What a person reads before approving. */
export interface PluginDetail {
  plugin: Plugin;
  /** As they would reach a model: whole descriptions, hidden characters removed. */
  tools: Tool[];
  /** false: the tools are what reading the files tells; running may add more. */
  listed: boolean;
  files: string[];
  imports: string[];
  /** quarantined: what differs from what was approved. */
  changes: Change[];
  /** Hidden characters removed from its texts. */
  hidden_removed: number;
}

/** permit.Change */
export interface Change {
  tool: string;
  field: string;
  before: string;
  after: string;
  /** code: the lines that differ, as a unified diff, bounded and cleaned. */
  diff?: string;
}

/** A kind of plugin that Plugins.New can make. */
export interface Template {
  kind: string;
  title: string;
  /** One line: what it is good for. */
  sentence: string;
  /** What it makes in the plugins folder; NAME stands for the name, a / at the end for a folder. */
  file: string;
  /** One of the first three a newcomer is offered. */
  common: boolean;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogLine {
  n: number;
  time: string;
  level: LogLevel;
  text: string;
}

export interface PluginLog {
  revision: number;
  /** Lines after the one asked for, oldest first, at most 2,000. */
  lines: LogLine[];
  /** How many older lines are no longer kept. */
  dropped: number;
}

/* ------------------------------------------------------------- tools --- */

/** A tool as `conclave tools list --json` prints it, and what the dock adds. */
export interface Tool {
  id: string;
  plugin: string;
  plugin_name: string;
  name: string;
  wire_name: string;
  title: string;
  description: string;
  /** JSON Schema as indented text. */
  parameters: string;
  visibility: "direct" | "deferred" | "hidden";
  enabled: boolean;
  contract: string;
  digest: string;
  /** ready, or why it cannot be called, in a few words. */
  status: string;
  timeout_ms: number;
  /** About how many tokens its definition costs a request. */
  tokens: number;
  capabilities: string[];
  last_used: string;
  /** What the rules say of it: “Asks each time”, “Always allowed”. */
  rule: string;
  file: string;
  line: number;
  warnings: string[];
}

export interface ToolList {
  revision: number;
  /** Sorted by plugin, then name. */
  tools: Tool[];
  /** Sum of the enabled ones. */
  tokens: number;
  /** The default model's window in tokens; 0 = not known. */
  context_tokens: number;
}

/* ------------------------------------------------------- permissions --- */

export type Scope = "once" | "this-answer" | "this-chat" | "until-quit" | "always";

/** permit.Pending of kind call: a request that waits for a person. */
export interface Pending {
  id: string;
  /** Must come back with the answer. */
  nonce: string;
  kind: "call" | "plugin" | "changed";
  caller: string;
  plugin: string;
  plugin_name: string;
  tool: string;
  /** “gpt-test wants to save a note” */
  title: string;
  /** Name of the tool as a person reads it; "" when kind is not call. */
  name: string;
  capabilities: string[];
  /** Indented JSON; "" when the call has none. */
  arguments: string;
  reach: string;
  reason: string;
  history: string;
  conversation: string;
  /** Entry.seq the card belongs under; 0 when there is none. */
  seq: number;
  /** Call.id */
  call: string;
  /** Identical calls merged into it, at least 1. */
  count: number;
  /** What may be offered, narrowest first. */
  scopes: Scope[];
  asked: string;
  expires: string;
  /** Hidden characters removed from what is shown. */
  hidden: number;
}

/** permit.Answer */
export interface Answer {
  effect: "allow" | "deny";
  /** deny with always is “Never for this tool”. */
  scope: Scope;
  /** Edited arguments as JSON text; "" = as asked. */
  arguments: string;
  /** What the model is told of a refusal; "" = nothing. */
  reason: string;
}

export interface PendingList {
  revision: number;
  /** Oldest first. Plugin approvals are in it too and lead to the Plugins tab. */
  requests: Pending[];
  /** All tools are paused. */
  paused: boolean;
}

/** A permit.Grant with its sentence. */
export interface Grant {
  id: string;
  effect: "allow" | "ask" | "deny";
  plugin: string;
  plugin_name: string;
  /** Own name of the tool, or "*". */
  tool: string;
  scope: Scope;
  /** “Notes may run write_note, when I ask, until Conclave quits.” */
  sentence: string;
  made: string;
  last_used: string;
  uses: number;
  /** The rule could not be read and counts as not allowed. */
  unreadable: boolean;
}

export interface GrantList {
  revision: number;
  grants: Grant[];
}

/* ------------------------------------------------------------ models --- */

export interface Connection {
  /** Left half of "connection/model". */
  name: string;
  kind: string;
  title: string;
  url: string;
  /** Host asked, for “Asking api.example.org…”. */
  host: string;
  has_key: boolean;
  /** Demo guide: cannot be changed or removed. */
  built_in: boolean;
  /** unknown: not asked yet. asking: a test runs. */
  state: "ok" | "unknown" | "asking" | "failed";
  /** state failed. */
  problem: Failure | null;
  latency_ms: number;
  checked: string;
  /** Model ids added by hand. */
  models: string[];
}

export interface Model {
  /** "connection/model" */
  name: string;
  connection: string;
  id: string;
  title: string;
  tools: boolean;
  vision: boolean;
  reasoning: boolean;
  /** 0 = not known */
  context_tokens: number;
}

/** A kind of connection that can be added. */
export interface Provider {
  kind: string;
  title: string;
  /** Address to start from; "" = the vendor's own. */
  url: string;
  needs_key: boolean;
  /** The address is asked for beside the key. */
  asks_url: boolean;
  /** Where a person gets a key; "". */
  key_page: string;
  /** Beginnings of its keys, to guess the provider from a pasted key. */
  key_prefixes: string[];
}

export interface ModelList {
  revision: number;
  /** "connection/model" */
  default: string;
  connections: Connection[];
  /** Sorted by connection, then title. */
  models: Model[];
  providers: Provider[];
  /** “Keys are kept in the system keychain.”, or what is used instead. */
  key_store: string;
  /** Keys are in an encrypted file whose passphrase is needed first (Models.Unlock). */
  keys_locked: boolean;
  /** That passphrase is still to be chosen. */
  keys_fresh: boolean;
}

export interface ConnectionEdit {
  kind: string;
  /** "" lets Go make one from the title. Cannot change in Update. */
  name: string;
  title: string;
  url: string;
  /** "" leaves the key as it is. Travels inwards only. */
  key: string;
  models: string[];
}

/** A model server that answered on this computer. */
export interface LocalServer {
  kind: string;
  title: string;
  version: string;
  url: string;
  models: number;
  /** Name of the connection that already uses it; "". */
  connection: string;
}

/* ---------------------------------------------------------- settings --- */

export type Theme = "system" | "light" | "dark" | "contrast";

export interface Settings {
  revision: number;
  theme: Theme;
  /** Size of everything in percent, 50 to 300. */
  zoom: number;
  /** Size of message text in px, 13 to 22. */
  text_size: number;
  /** sans: the interface's own font. serif: the reading option. */
  reading_font: "sans" | "serif";
  /** What Enter does; the other key does the other. */
  send_key: "enter" | "mod-enter";
  /** After sending: hold the question at the top, or follow the end. */
  follow: boolean;
  /** Look for local models at start. */
  scan_at_start: boolean;
  /** A chat's model names it after its first answer. */
  model_titles: boolean;
  /** Changed shortcuts: command id → chord ("Mod+Shift+P"); commands not named keep theirs. */
  keys: Record<string, string>;
  /** Command that opens an editor, with {file} and {line}; "" = the system's choice. */
  editor: string;
  sidebar_open: boolean;
  sidebar_width: number;
  dock_open: boolean;
  dock_width: number;
  dock_tab: string;
}

/* ------------------------------------------------------------ window --- */

/** All that the first paint needs, in one call. */
export interface Hello {
  version: string;
  platform: "linux" | "darwin" | "windows";
  /** No model was connected and no chat was kept yet. */
  first_run: boolean;
  data_folder: string;
  plugins_folder: string;
  log_folder: string;
  /** What holds plugins on this system, one sentence. */
  isolation: string;
  licence: string;
  settings: Settings;
  /** The chat to open: the last one looked at; "" = the welcome page. */
  open_chat: string;
  /** The store was damaged and set aside, or the like; null when all is well. */
  trouble: Failure | null;
}
