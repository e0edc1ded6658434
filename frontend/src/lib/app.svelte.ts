/**
 * The window's state as one tree: each screen's state, the conversation that is
 * open, and what the screens share (notices, toasts, sentences for screen
 * readers, shortcuts). Components get it with {@link useApp}.
 */
import { getContext, setContext } from "svelte";
import { AppError, type Bridge } from "./bridge/calls";
import { Notices, Puller } from "./bridge/events";
import type { Asking, Hello, Model, PermissionRequest, Sent, Undo } from "./bridge/generated";
import { OpenChat } from "./chat/chat.svelte";
import { ChatsState } from "./chat/chats.svelte";
import { Composer, type Back } from "./chat/composer.svelte";
import { ContextState } from "./chat/context.svelte";
import { Edits } from "./chat/edits.svelte";
import { Recall } from "./chat/recall";
import { CouncilState } from "./council/council.svelte";
import { FindState } from "./chat/find.svelte";
import { Tabs } from "./chat/tabs.svelte";
import { PermissionsState } from "./permission/permissions.svelte";
import { QuestionsState } from "./questions/questions.svelte";
import { FreshState } from "./shared/fresh.svelte";
import { SharedState } from "./shared/shared.svelte";
import { PromptsState } from "./prompts/prompts.svelte";
import { PluginsState, ToolsState } from "./plugins/plugins.svelte";
import { ModelsState } from "./settings/models.svelte";
import { SettingsState } from "./settings/settings.svelte";
import { KeptFocus } from "./shell/keptfocus";
import { Keys } from "./shell/keys.svelte";
import { Layout, type DockTab } from "./shell/layout.svelte";
import { LinksState } from "./shell/links.svelte";
import { Toasts } from "./shell/toasts.svelte";
import { nextZoom } from "./shell/zoom";
import { beginning, commas } from "./format";
import { s } from "./strings";

export type SettingsPage = keyof typeof s.settings.pages;

/** A request to a component to do something it alone can do, such as take the focus. */
interface Wish {
  composer: number;
  search: number;
  rename: number;
}

export class App {
  readonly notices: Notices;
  readonly settings: SettingsState;
  readonly layout: Layout;
  readonly toasts = new Toasts();
  readonly keys: Keys;
  readonly chats: ChatsState;
  readonly composer: Composer;
  readonly council: CouncilState;
  readonly permissions: PermissionsState;
  readonly questions: QuestionsState;
  readonly shared = new SharedState(this);
  readonly fresh: FreshState;
  readonly prompts = new PromptsState(this);
  readonly context = new ContextState(this);
  readonly recall = new Recall(this);
  readonly links = new LinksState(this);
  readonly plugins: PluginsState;
  readonly tools: ToolsState;
  readonly models: ModelsState;
  readonly find: FindState;
  readonly tabs: Tabs;

  /** The conversation that is open; null is the welcome page. */
  chat = $state.raw<OpenChat | null>(null);
  /** The settings page that covers the conversation; null = none. */
  page = $state.raw<SettingsPage | null>(null);
  palette = $state.raw(false);
  /** What was typed before the palette had the keyboard; "\n" is Enter. */
  early = $state.raw("");
  /** A link whose text names another address than it opens; a person is asked. */
  link = $state.raw<{ href: string; shown: string; host: string } | null>(null);
  /** What waits in all chats is to be shown next, not that of the open one alone. */
  everything = $state.raw(false);
  /** The branches of the open chat are shown. */
  branches = $state.raw(false);
  newPlugin = $state.raw(false);
  addPlugin = $state.raw(false);
  addServer = $state.raw(false);
  /** A person is asked how long tools may run without asking. */
  unattendedAsked = $state.raw(false);
  /** Where Models is asked to begin adding a connection. */
  addingModel = $state.raw(false);
  /** The connection whose form Models is asked to open. */
  editingModel = $state.raw("");
  /** The window has been drawn once. */
  painted = $state.raw(false);
  /** The message that was just sent in the chat that is open, until the program has it. */
  outgoing = $state.raw<{ text: string; attachments: string[] } | null>(null);
  /** What was said last in the live regions, each time an object: the same words are said again. */
  said = $state.raw({ status: { words: "" }, alert: { words: "" } });
  wish = $state<Wish>({ composer: 0, search: 0, rename: 0 });
  /** The last wish for the composer before a request was shown, which keeps the keyboard. */
  ledAfter = 0;
  readonly kept = new KeptFocus(() => this.wish.composer++);

  readonly #edits = new Edits();
  /** Chats that were left while a message waits behind their answer, until the last such answer has ended. */
  #left = new Map<string, OpenChat>();
  #undos: Back[] = $state.raw([]);
  /** The last chat that was said to be seen. */
  #seen: Promise<unknown> = Promise.resolve();
  /** The chat that is being made and opened; "" where it cannot be. */
  #making: Promise<string> | null = null;
  /** Counts how often a chat or the welcome page was opened. */
  #visit = 0;
  /** Brings what plugins say. */
  #hearing: Puller;
  #answered = new Set<(element: Element) => void>();
  #unhear: () => void;
  #unshare: () => void;
  /** The last toast of a plugin that was shown. */
  #heard = 0;
  #heardRevision = 0;
  #newestRevision = 0;

  constructor(
    readonly bridge: Bridge,
    readonly hello: Hello,
  ) {
    this.notices = new Notices(bridge);
    this.settings = new SettingsState(bridge, this.notices, hello.settings, this.fail);
    this.layout = new Layout(this.settings);
    this.keys = new Keys(hello.platform === "darwin", () => this.settings.now.keys);
    this.chats = new ChatsState(bridge, this.notices);
    this.composer = new Composer(
      bridge,
      (error) => this.toasts.fail(error),
      () => this.model,
      () => this.council.skip,
      () => this.council.saved(),
    );
    this.council = new CouncilState(bridge, this.notices, this.fail);
    this.permissions = new PermissionsState(bridge, this.notices, (request) => {
      this.alert = s.permission.alert(request.title, this.keys.label("reviewPermission"));
    });
    this.questions = new QuestionsState(bridge, this.notices, (question) => {
      this.alert = s.questions.alert(question.plugin_name);
    });
    this.fresh = new FreshState(bridge, this.notices, this.composer);
    this.plugins = new PluginsState(bridge, this.notices, () => this.layout.offerDock("plugins"));
    this.tools = new ToolsState(bridge, this.notices);
    this.models = new ModelsState(bridge, this.notices, this.settings, (model) => {
      const choose = () => this.openSettings("models");
      this.toasts.say(s.models.firstDefault(model.title), {
        label: s.models.chooseOther,
        run: choose,
      });
    });
    this.find = new FindState(() => this.chat);
    this.tabs = new Tabs(this);
    this.#hearing = new Puller(
      () => this.#heardRevision,
      () => this.#hearPlugins(),
    );
    this.#unshare = this.notices.watch("plugins", "", () => {
      if (this.painted) void this.shared.refresh().catch(() => undefined);
    });
    this.#unhear = this.notices.watch("toasts", "", (revision) => {
      this.#newestRevision = Math.max(this.#newestRevision, revision);
      this.#hearing.notice(revision);
    });
  }

  /** Shows what plugins say, each with its plugin's name. */
  async #hearPlugins(): Promise<void> {
    const revision = this.#newestRevision;
    for (const toast of await this.bridge.window.Toasts(this.#heard)) {
      this.#heard = toast.number;
      const text = [toast.plugin, toast.title, toast.text].filter(Boolean).join(": ");
      if (toast.kind === "error") this.toasts.fail(new AppError({ kind: "unavailable", message: text }));
      else this.toasts.say(text);
    }
    this.#heardRevision = revision;
  }

  /** Brings what the first screen cannot be without: the list and what is open. */
  async start(): Promise<void> {
    const first = this.hello.open_chat;
    await Promise.all([
      this.chats.open(),
      first ? this.openChat(first) : Promise.all([this.composer.switchTo(""), this.models.open()]),
    ]);
    if (location.hash !== "#settings") return; // which it was loaded again from
    this.page = "general";
    history.replaceState(null, "", location.pathname + location.search);
  }

  /** Brings the rest, once the window has been drawn and can be typed into. */
  async settle(): Promise<void> {
    this.painted = true;
    const ready = Promise.all([this.permissions.open(), this.questions.open(), this.models.open()]);
    void this.council.switchTo(this.chat?.id ?? "");
    void this.tabs.check();
    await Promise.all([ready, this.tools.open(), this.plugins.open(), this.shared.refresh()]);
    await this.links.open();
    // What answers on this computer is found while the window is shown already.
    if (this.settings.now.scan_at_start) void this.attempt(() => this.models.scan());
  }

  close(): void {
    void this.composer.save();
    this.chat?.close();
    for (const chat of this.#left.values()) chat.close();
    for (const part of [
      this.council,
      this.chats,
      this.permissions,
      this.questions,
      this.fresh,
      this.plugins,
      this.tools,
      this.models,
    ])
      part.close();
    this.settings.close();
    this.context.close();
    this.links.close();
    this.#unhear();
    this.#unshare();
    this.notices.close();
  }

  /** A sentence for screen readers, said when nothing else is. */
  get status(): string {
    return this.said.status.words;
  }

  set status(words: string) {
    this.said = { ...this.said, status: { words } };
  }

  /** The same, said at once. */
  get alert(): string {
    return this.said.alert.words;
  }

  set alert(words: string) {
    this.said = { ...this.said, alert: { words } };
  }

  /** Shows a failure. */
  fail = (cause: unknown): void => {
    const error = AppError.of(cause);
    this.toasts.fail(error);
  };

  /** Runs something a person asked for; its failure is shown. true when it worked. */
  attempt = async (act: () => Promise<unknown>): Promise<boolean> => {
    try {
      await act();
      return true;
    } catch (cause) {
      this.fail(cause);
      return false;
    }
  };

  /** Opens a file of a plugin where a person edits such files, "" is its entry, and says in which program. */
  openInEditor = (id: string, file = "", line = 0): Promise<boolean> =>
    this.attempt(async () => {
      const program = await this.bridge.plugins.OpenInEditor(id, file, line);
      this.toasts.say(s.plugins.opened(program));
    });

  /** Runs something destructive, and offers to take it back; null is that nothing was done. true when it worked. */
  undoable(act: () => Promise<Undo | null>): Promise<boolean> {
    return this.attempt(async () => {
      const undo = await act();
      if (undo) this.offerUndo(undo.sentence, () => this.bridge.window.Undo(undo.token));
    });
  }

  /** Says what was done, and offers to take it back. */
  offerUndo(sentence: string, back: Back): void {
    this.#undos = [...this.#undos, back].slice(-50);
    this.toasts.say(sentence, { label: s.app.undo, run: () => void this.undo(back) });
  }

  /** Says what was set, with a button that sets it back. */
  sayWithUndo(sentence: string, back: Back): void {
    this.toasts.say(sentence, { label: s.app.undo, run: () => void this.attempt(back) });
  }

  /** Takes a queued message away, and offers to take that back. */
  async unqueue(at: number): Promise<void> {
    const { text = "", attachments = [] } = this.composer.queued[at] ?? {};
    const back = await this.composer.dropQueued(at);
    this.offerUndo(s.composer.unqueued(beginning(text || commas(attachments.map((m) => m.name)))), back);
  }

  /** Takes a file of what is written away, and offers to take that back. */
  detach(key: number, name: string): void {
    const media = this.composer.attachments.find((a) => a.key === key)?.media;
    const back = this.composer.removeAttachment(key);
    if (!back) return;
    this.offerUndo(s.composer.detached(name), back);
    if (media) void this.fresh.gone([media.id]);
  }

  /** Name of the model shown, which the next message goes to; "" while it is not known. */
  get model(): string {
    if (this.chat) return this.chat.chat?.model ?? "";
    return this.composer.model || this.models.default;
  }

  /** What is known of that model; undefined while it is not. */
  get modelNow(): Model | undefined {
    return this.models.named(this.model);
  }

  /** Has another model answer from now on. */
  chooseModel = (name: string): Promise<boolean> =>
    this.attempt(async () => {
      if (this.chat) await this.bridge.chats.SetModel(this.chat.id, name, this.asking);
      else this.composer.model = name;
    });

  /** How that model is asked. */
  get asking(): Asking {
    return (this.chat ? this.chat.chat?.asking : this.composer.asking) ?? {};
  }

  /** The text sent before the messages of the chat that is shown, or of the one that is begun. */
  get system(): string {
    return this.chat ? (this.chat.chat?.system ?? "") : this.composer.system;
  }

  /** The folder that it is about; "" is none. */
  get project(): string {
    return this.chat ? (this.chat.chat?.project ?? "") : this.composer.project;
  }

  setAsking = (asking: Asking): Promise<boolean> =>
    this.attempt(async () => {
      if (this.chat) await this.bridge.chats.SetModel(this.chat.id, this.model, asking);
      else this.composer.asking = asking;
    });

  /** Demo guide answers the message that is begun: the first screen shows ways on. */
  get guided(): boolean {
    return (this.models.defaultConnection?.built_in ?? true) && !this.composer.model;
  }

  get canUndo(): boolean {
    return this.#undos.length > 0;
  }

  /** Takes back the last act, or the one given. */
  async undo(which = this.#undos.at(-1)): Promise<void> {
    if (!which) return;
    this.#undos = this.#undos.filter((u) => u !== which);
    if (await this.attempt(which)) this.status = s.status.undone;
  }

  openChat(id: string): Promise<void> {
    this.outgoing = null;
    return this.#goTo(id);
  }

  /** Opens a chat that a search found, at the message that has the words; they are marked as those of find are. */
  async openFound(id: string, words: string, seq: number): Promise<void> {
    await this.openChat(id);
    if (this.chat?.id !== id) return;
    this.find.open = true;
    await this.attempt(() => this.find.look(words, seq));
  }

  async #goTo(id: string, written?: Promise<void>): Promise<void> {
    this.page = null;
    if (this.layout.sidebarFloats) this.layout.sidebarOver = false;
    if (this.chat?.id === id) return;
    this.#leave(id);
    const chat = this.#left.get(id) ?? this.#open(id);
    this.#left.delete(id);
    if (chat.editing) chat.target = { seq: chat.editing };
    this.chat = chat;
    void this.#see(id);
    if (this.painted) void this.council.switchTo(id);
    const write = this.#writeUnlessElsewhere();
    await Promise.all([chat.open(), written ?? this.composer.switchTo(id)]);
    if (chat !== this.chat) return;
    const read = this.#read.get(id);
    if (read) chat.markUnread(read);
    write();
  }

  /** Says which chat is seen. One after another: each deletes all temporary chats but its own, the last one too. */
  #see(id: string): Promise<unknown> {
    return (this.#seen = this.#seen.then(() => this.attempt(() => this.bridge.chats.Seen(id))));
  }

  /** What was read of each chat when it was left, or the window was. */
  #read = new Map<string, number>();

  /** Whether the person looks at the window: what comes meanwhile is marked in the chat. */
  looks(here: boolean): void {
    const { chat } = this;
    if (!chat) return;
    if (!here) {
      chat.unread = 0;
      this.#read.set(chat.id, chat.read);
    } else {
      chat.markUnread(this.#read.get(chat.id) ?? 0);
    }
  }

  #open(id: string): OpenChat {
    const chat: OpenChat = new OpenChat(
      this.bridge,
      this.notices,
      id,
      (sentence) => {
        if (chat === this.chat) this.status = sentence;
      },
      (well) => void this.#ended(chat, well),
      this.#edits,
    );
    return chat;
  }

  /** Goes from the chat that is open to another. What is queued in it is sent all the same when its answer is done. */
  #leave(to: string): void {
    const { chat } = this;
    this.#visit++;
    this.find.close();
    this.tabs.went(chat?.id ?? "", to, chat?.chat?.temporary);
    if (!chat) return;
    if (chat.chat?.temporary) {
      if (!chat.empty) this.status = s.temporary.gone;
      return chat.close();
    }
    this.#read.set(chat.id, chat.read);
    chat.unread = 0;
    if (!chat.running || this.composer.queued.length === 0) return chat.close();
    chat.target = { seq: 0 };
    chat.asked = 0;
    this.#left.set(chat.id, chat);
  }

  /** An answer has ended: what is queued behind it is sent, unless it did not end well. */
  async #ended(chat: OpenChat, well: boolean): Promise<void> {
    if (chat === this.chat) {
      if (well) await this.sendQueued();
      return;
    }
    const sent = well && (await this.composer.sendQueuedIn(chat.id));
    if (!sent && this.#left.delete(chat.id)) chat.close();
  }

  /** Returns what leads to writing, unless the keyboard has gone to something else since this was called. */
  #writeUnlessElsewhere(): () => void {
    const before = document.activeElement;
    return () => {
      const at = document.activeElement;
      const nobody = !at || at === document.body || at === this.kept.place;
      const here = nobody || at === before || at.closest("form.composer");
      if (here) this.wish.composer++;
    };
  }

  /** The welcome page with an empty composer; the chat is made by the first message. */
  async newChat(): Promise<void> {
    this.#welcome();
    const write = this.#writeUnlessElsewhere();
    await Promise.all([this.composer.switchTo(""), this.#see("")]);
    write();
  }

  #welcome(): void {
    this.outgoing = null;
    this.page = null;
    if (this.layout.sidebarFloats) this.layout.sidebarOver = false;
    this.#leave("");
    this.chat = null;
    if (this.painted) void this.council.switchTo("");
  }

  /**
   * Makes a chat and opens it. What is written until it is there belongs to it, after text, and what is
   * sent waits for it.
   */
  async openMade(make: () => Promise<string>, text: string): Promise<void> {
    this.#welcome();
    const made = this.#seen.then(make);
    const visit = this.#visit;
    const written = this.composer.switchTo(made);
    if (text) this.composer.put(text);
    this.wish.composer++;
    const making = written.then(() => made).catch(() => "");
    this.#making = making;
    try {
      const id = await made;
      if (visit === this.#visit) await this.#goTo(id, written);
    } finally {
      if (this.#making === making) this.#making = null;
    }
  }

  /** Sends what is written, or the text given. It stands in the conversation at once. */
  async send(text?: string): Promise<void> {
    if (this.#making && !(await this.#making)) return; // what is written is kept
    const from = this.#visit;
    const asked = text === undefined ? this.composer.outgoing : { text, attachments: [] };
    if (!this.composer.sending) this.outgoing = asked;
    try {
      const sent = await this.composer.send(text);
      if (sent && asked) void this.fresh.gone(asked.attachments);
      await this.#sent(from, sent);
    } finally {
      if (this.outgoing === asked) this.outgoing = null;
    }
  }

  /** Begins a chat in which scripted members deliberate, and shows them. */
  async runSample(): Promise<void> {
    await this.attempt(async () => {
      const from = this.#visit;
      if (await this.#sent(from, await this.bridge.council.Sample())) this.showCouncil();
    });
  }

  /** Sends a message that was queued behind an answer. */
  async sendQueued(at = 0): Promise<void> {
    const from = this.#visit;
    await this.#sent(from, await this.composer.sendQueued(at));
  }

  /** Shows where a message went; not to one who has left the chat it was sent in, or the welcome page. */
  async #sent(from: number, sent: Sent | null): Promise<boolean> {
    if (!sent || from !== this.#visit) return false;
    this.council.skip = false;
    this.composer.begun();
    const going = this.chat?.id === sent.conversation ? null : this.#goTo(sent.conversation);
    const { chat } = this;
    // At once, so that what is asked for while the chat opens is shown instead.
    if (chat && !this.settings.now.follow) chat.asked = sent.seq;
    await going;
    if (!chat || chat !== this.chat) return false;
    chat.unread = 0;
    await chat.open();
    return true;
  }

  async deleteChat(id: string): Promise<void> {
    await this.undoable(async () => {
      const undo = await this.bridge.chats.Delete(id);
      if (!(await this.tabs.close(id)) && this.chat?.id === id) await this.newChat();
      this.#left.get(id)?.close();
      this.#left.delete(id);
      return undo;
    });
  }

  async archiveChat(id: string, archived: boolean): Promise<void> {
    if (!(await this.attempt(() => this.bridge.chats.SetArchived(id, archived)))) return;
    const said = archived ? s.sidebar.archived : s.sidebar.unarchived;
    this.offerUndo(said, () => this.bridge.chats.SetArchived(id, !archived));
    if (archived && !(await this.tabs.close(id)) && this.chat?.id === id) await this.newChat();
  }

  #zoomShown = 0;

  /** One step larger or smaller, or 0 for 100 %. The setting is saved. */
  zoom(step: 1 | -1 | 0): void {
    const zoom = step ? nextZoom(this.settings.now.zoom, step) : 100;
    void this.settings.set({ zoom });
    this.toasts.dismiss(this.#zoomShown);
    this.#zoomShown = this.toasts.say(s.zoom.value(zoom));
  }

  openSettings(page: SettingsPage): void {
    this.page = page;
    if (this.layout.sidebarFloats) this.layout.sidebarOver = false;
  }

  /** Opens the form of a connection, at its key; one that is not there any more is not looked for. */
  editConnection(name: string): void {
    this.editingModel = name;
    this.openSettings("models");
  }

  connectModel(): void {
    this.addingModel = true;
    this.openSettings("models");
  }

  /** Opens the panel, at a tab where one is named; a page of settings, which covers it, goes. */
  showDock(tab?: DockTab): void {
    this.page = null;
    this.layout.setDock(true, tab);
  }

  /** How many things wait for the person, in all chats: calls, questions of plugins, plugins to review. */
  get waits(): number {
    return this.permissions.calls.length + this.questions.all.length + this.plugins.attention.length;
  }

  /** Shows all that waits for the person. */
  showInbox(): void {
    this.everything = true;
    this.showDock("activity");
  }

  /** Shows the council of the chat; of its runs the one named, else the newest. */
  showCouncil(run = "", point = ""): void {
    this.council.shown = run;
    this.council.point = point;
    this.showDock("council");
  }

  /** The next message goes without the council, or with it after all; where it is off it is switched on. */
  councilOnce(): void {
    if (!this.council.on) this.showCouncil();
    else this.council.skip = !this.council.skip;
    this.status = this.council.skip ? s.council.skipped : s.council.notSkipped;
  }

  /**
   * Brings the oldest waiting request into view and puts the focus on its heading: a call's, which
   * expires, before a plugin's.
   */
  async reviewPermission(): Promise<void> {
    const oldest = () => this.permissions.calls[0] ?? this.permissions.requests[0];
    // The list of chats may say that one waits before the request is here.
    if (!oldest()) await this.permissions.open();
    const request = oldest();
    if (!request) {
      this.toasts.say(s.permission.none);
      return;
    }
    await this.showRequest(request);
  }

  /** Brings a waiting request into view and puts the focus on its heading. */
  async showRequest(request: PermissionRequest): Promise<void> {
    if (request.kind !== "call") {
      this.showDock("plugins");
      this.permissions.focused = request.id;
      return;
    }
    if (request.conversation) {
      await this.openChat(request.conversation);
      if (this.chat?.id !== request.conversation) return; // one went on to another
    }
    this.page = null;
    const elsewhere = this.permissions.placed(request.id);
    if (!elsewhere) this.layout.uncover();
    if (this.chat && request.seq) this.chat.target = { seq: request.seq, request: elsewhere ? "" : request.id };
    this.ledAfter = this.wish.composer;
    this.permissions.focused = request.id;
  }

  /** Says, once, that answers to requests were not taken: more was asked, or somebody was faster. */
  notTaken(requests: PermissionRequest[]): void {
    if (requests.length === 0) return;
    const wait = requests.some(({ id }) => this.permissions.requests.some((r) => r.id === id));
    this.toasts.say(wait ? s.permission.grew : s.permission.settled);
  }

  /** What an element asked has been answered: if the keyboard was there, one writes on. */
  writeNext(element: Element | undefined): void {
    const at = document.activeElement;
    if (at && at !== document.body && !element?.contains(at)) return;
    this.wish.composer++;
    if (element) for (const heard of this.#answered) heard(element);
  }

  /**
   * Hears of each element whose question was answered by somebody who was at it, before it goes;
   * until the function returned is called.
   */
  whenAnswered(heard: (element: Element) => void): () => void {
    this.#answered.add(heard);
    return () => void this.#answered.delete(heard);
  }

  copy = async (text: string): Promise<void> => {
    if (await this.attempt(() => this.bridge.copy(text))) this.status = s.app.copied;
  };

  /** Puts text into the composer as a quotation. */
  quote(text: string): void {
    const lines = text.split("\n").map((line) => `> ${line}`);
    this.composer.insert(lines.join("\n") + "\n\n");
    this.wish.composer++;
  }

  openURL = (url: string): Promise<boolean> => this.attempt(() => this.bridge.window.OpenURL(url));
}

const key = Symbol("app");

/** The context that components find their app in, for those mounted by themselves. */
export const inApp = (app: App) => new Map([[key, app]]);

export function provideApp(app: App): App {
  return setContext(key, app);
}

export function useApp(): App {
  return getContext<App>(key);
}
