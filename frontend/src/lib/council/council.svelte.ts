/**
 * The council that holds for the chat that is open, and what its next run may come to.
 * The window has it from the start, for the chip of the composer; what is shown of runs
 * is loaded with the panel.
 */
import { AppError, type Bridge } from "../bridge/calls";
import { Puller, type Notices } from "../bridge/events";
import type {
  ContextCount,
  Council,
  CouncilChoices,
  CouncilPreset,
  CouncilSettings,
  CouncilTool,
  Estimate,
  HelpedCount,
  Member,
  Mode,
  Outgoing,
  Undo,
} from "../bridge/generated";
import { s } from "../strings";

/** How long the settings rest before they are written, and the words before they are counted, in ms. */
const rest = 300;

/** Sets again what was set before. */
export type TakeBack = () => Promise<void>;

export class CouncilState {
  settings = $state.raw<CouncilSettings | null>(null);
  /** What the council can be made of; null until the panel is open. */
  choices = $state.raw<CouncilChoices | null>(null);
  estimate = $state.raw<Estimate | null>(null);
  /** What each member would see now, by id. */
  contexts = $state.raw<Record<string, ContextCount>>({});
  /** How many points of members helped the person, by name, over all chats. */
  helped = $state.raw<Record<string, HelpedCount>>({});
  error = $state.raw<AppError | null>(null);
  /** Why what is set here could not be written, and the member that was changed last, or "". */
  wrong = $state.raw<{ error: AppError; member: string } | null>(null);
  /** The next message goes without. */
  skip = $state.raw(false);
  /** The run that the panel is to show next; "" is the newest of the chat, null what it shows. */
  shown = $state.raw<string | null>(null);
  /** Where the panel is to go once it shows the run: a point such as "a2". */
  point = $state.raw("");

  readonly council = $derived(this.settings?.council ?? null);
  /** The members that would take part. */
  readonly members = $derived((this.council?.members ?? []).filter((member) => !member.off));
  readonly on = $derived(this.council?.enabled ?? false);
  /** The model that answers is offered the members' tools: there is no run of theirs. */
  readonly inline = $derived(this.council?.mode === "tools" && this.council.toolsSettings.mode === "inline");

  /** Members would work before the next answer. */
  readonly works = $derived(this.on && !this.inline && this.members.length > 0);

  #chat = "";
  /** The chat whose settings these are: the one that was left, until those of #chat have come. */
  #of = "";
  #revision = 0;
  #offs: (() => void)[] = [];
  #offChat: () => void = () => {};
  #puller = new Puller(
    () => this.#revision,
    () => this.#pull(),
    (cause) => {
      this.error = AppError.of(cause);
      if (!this.#own) this.settings = null;
      this.#takeEarly(null);
    },
  );
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Moves with each change of the person, and each write of one: what was asked before is old. */
  #edits = 0;
  /** Changes that are not on their way to the program yet. */
  #unsaved = false;
  /** The member that was changed last; "" where it was anything else. */
  #changed = "";
  /** What was changed before the council of the open chat had come, and the member that it was of. */
  #early: [Partial<Council>, string][] = [];
  /** The newest write that is under way; they follow one another. */
  #saving: Promise<unknown> | null = null;
  #counting: ReturnType<typeof setTimeout> | undefined;
  #counted = 0;
  /** What the next message is so far. */
  #message: Outgoing = { text: "", attachments: [], model: "", no_tools: false };
  #panel = false;
  #choosing = new Puller(
    () => 0, // choices have no revision: each notice has them pulled
    () => this.#choose(),
    (cause) => (this.error = AppError.of(cause)),
  );

  constructor(
    private bridge: Bridge,
    private notices: Notices,
    private fail: (cause: unknown) => void,
  ) {
    this.#offs.push(notices.watch("councils", "", this.#puller.notice));
  }

  /** Shows what holds in a chat; "" is one that is not begun. */
  async switchTo(chat: string): Promise<void> {
    const written = this.#write(); // of the chat that is left
    this.#takeEarly(null);
    this.#chat = chat;
    this.wrong = null;
    this.skip = false;
    this.shown = null;
    this.point = "";
    this.#offChat();
    // The chat's notices are counted for themselves, not with the revision held.
    this.#offChat = chat ? this.notices.watch("councils", chat, () => void this.#puller.refresh()) : () => {};
    this.#revision = 0;
    await written;
    await this.#puller.refresh();
  }

  open(): Promise<void> {
    return this.#puller.refresh();
  }

  close(): void {
    clearTimeout(this.#counting);
    void this.#write();
    for (const off of this.#offs) off();
    this.#offChat();
  }

  async #pull(): Promise<void> {
    const chat = this.#chat;
    const edits = this.#edits;
    const settings = await this.bridge.council.Settings(chat);
    this.error = null;
    if (this.#panel) await this.#choosing.refresh();
    if (chat !== this.#chat || edits !== this.#edits || this.#unsaved || this.#saving) return;
    const seen = this.settings;
    this.settings = settings;
    this.#of = chat;
    this.#revision = settings.revision;
    this.#takeEarly(seen);
    this.count();
  }

  /** Makes the changes that came early, if the council that was seen then is the one that has come. */
  #takeEarly(seen: CouncilSettings | null): void {
    const early = this.#early;
    this.#early = [];
    const text = (of: CouncilSettings | null) => of && JSON.stringify([of.scope, of.council]);
    if (early.length === 0) return;
    if (seen && text(seen) === text(this.#own)) for (const [change, member] of early) this.set(change, member);
    else this.fail(new AppError({ kind: "conflict", message: s.council.tooEarly, hint: s.council.tooEarlyHint }));
  }

  async #choose(): Promise<void> {
    const chat = this.#chat;
    const choices = await this.bridge.council.Choices(chat);
    if (chat !== this.#chat) return;
    this.choices = choices;
  }

  /** The settings of the chat that is open; null until they have come. */
  get #own(): CouncilSettings | null {
    return this.#of === this.#chat ? this.settings : null;
  }

  /**
   * Takes a change in at once, and writes it a moment later. While the council of the chat that was left is still
   * seen, it waits for that of the open one, and is refused in words where that is another.
   */
  set(change: Partial<Council>, member = ""): void {
    const own = this.#own;
    if (!own) return void this.#early.push([change, member]);
    this.#changed = member;
    this.settings = { ...own, council: { ...own.council, ...change } };
    this.#unsaved = true;
    this.#edits++;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#write(), rest);
    this.count();
  }

  /** A council whose members that have no model speak through this one, where it names no helper. */
  speaking(council: Council, model: string): Council {
    const { helper } = council;
    return { ...council, helper: { ...helper, model: helper.model || model } };
  }

  setMember(id: string, change: Partial<Member>): void {
    const members = this.council?.members ?? [];
    this.set({ members: members.map((m) => (m.id === id ? { ...m, ...change } : m)) }, id);
  }

  /**
   * Gives a member these tools and no others. For one that asks for arguments, and would be handed
   * the chat in their place, the helper model writes them until somebody says otherwise.
   */
  giveTools(member: Member, tools: string[]): void {
    const asks = (id: string) => this.toolOf(id)?.asks_arguments;
    const more = tools.filter((id) => !member.tools.includes(id) && asks(id));
    const kept = (member.plan ?? []).filter((id) => tools.includes(id) && !more.includes(id));
    this.setMember(member.id, { tools, plan: [...kept, ...more] });
  }

  /**
   * Why no member can be given a tool now, or in a run of a mode, in a sentence; "" where one can. A
   * tool of no plugin is a prompt, which members run in one mode alone, and no model calls.
   */
  whyNot(tool: CouncilTool, run?: Mode): string {
    if (!tool.eligible || tool.plugin !== "") return tool.why;
    if ((run ?? this.council?.mode) !== "tools") return s.council.toolsModeAlone;
    return !run && this.inline ? s.council.notInline : "";
  }

  /** Changes the council of a chat, whichever is open by now. Resolves with what takes it back. */
  async setIn(chat: string, change: (council: Council) => Partial<Council>): Promise<TakeBack> {
    const own = this.#own;
    if (chat === this.#chat && own) {
      this.set(change(own.council));
      return () => this.#put(chat, own.scope, own.council);
    }
    await this.#write(); // the council of both chats may be one
    const { scope, council } = await this.bridge.council.Settings(chat);
    await this.bridge.council.Set(chat, scope, { ...council, ...change(council) });
    await this.#puller.refresh();
    return () => this.#put(chat, scope, council);
  }

  /** Sets a whole council where it was set before, in place of what is set there by now. */
  async #put(chat: string, scope: string, council: Council): Promise<void> {
    if (chat === this.#chat) this.#drop();
    await this.#write();
    if (chat === this.#chat) this.#drop(); // a write that was refused in between
    await this.bridge.council.Set(chat, scope, council);
    await this.#puller.refresh();
  }

  /** Puts a member that was removed back where it was in the council of its chat. */
  async putBack(chat: string, member: Member, at: number): Promise<void> {
    await this.setIn(chat, ({ members }) => ({
      members: members.some(({ id }) => id === member.id) ? members : members.toSpliced(at, 0, member),
    }));
  }

  /** Leaves unwritten what was changed, in whose place something else is set. */
  #drop(): void {
    clearTimeout(this.#timer);
    this.#unsaved = false;
    this.wrong = null;
  }

  /** Writes what was changed; resolves when it is. */
  #write(): Promise<void> {
    this.#flush();
    return this.#written();
  }

  /** Begins to write what was changed. */
  #flush(): void {
    clearTimeout(this.#timer);
    if (!this.#unsaved || !this.settings) return;
    this.#unsaved = false;
    const { scope, council } = this.settings;
    const chat = this.#chat;
    const member = this.#changed;
    const wrong = (cause: unknown) => {
      if (chat === this.#chat) this.wrong = { error: AppError.of(cause), member };
      else this.fail(cause);
    };
    this.#saving = (this.#saving ?? Promise.resolve()).then(() =>
      this.bridge.council.Set(chat, scope, council).then(() => (this.wrong = null), wrong),
    );
  }

  /** Resolves once what is being written is. */
  async #written(): Promise<void> {
    const mine = this.#saving;
    if (!mine) return;
    await mine;
    this.#edits++;
    if (mine !== this.#saving) return; // a later one goes on
    this.#saving = null;
    // What was refused stays as it was typed, and is written with the next change.
    if (this.wrong) this.#unsaved = true;
    else if (!this.#unsaved) await this.#puller.refresh();
  }

  /** Has what is changed written now; what cannot be is said also where its form is not seen. */
  saved = async (): Promise<void> => {
    await this.#write();
    if (this.wrong) this.fail(this.wrong.error);
  };

  /** On or off in this chat alone. */
  async use(on: boolean): Promise<Undo> {
    this.#flush(); // a write that is under way would take it back
    const own = this.#own;
    if (own) this.settings = { ...own, council: { ...own.council, enabled: on } };
    this.#edits++;
    const chat = this.#chat;
    const used = (this.#saving ?? Promise.resolve()).then(() => this.bridge.council.Use(chat, on));
    this.#saving = used.catch(() => {});
    await this.#written();
    return used;
  }

  /** On or off in all chats without their own council. */
  async useEverywhere(on: boolean): Promise<Undo> {
    await this.#write(); // what was changed is asked there too
    const undo = await this.bridge.council.UseEverywhere(this.#chat, on);
    await this.#puller.refresh();
    return undo;
  }

  /** Sets a whole council for one chat alone, whichever is open by now. Resolves with what takes it back. */
  async setHere(chat: string, council: Council): Promise<TakeBack> {
    await this.#write();
    const before = await this.bridge.council.Settings(chat);
    await this.#put(chat, before.own, council);
    return async () => {
      if (before.scope === before.own) return this.#put(chat, before.own, before.council);
      if (chat === this.#chat) this.#drop();
      await this.bridge.council.Clear(chat, before.own);
      await this.#puller.refresh();
    };
  }

  /** Has the council hold in another scope, and no narrower one in its place; null where it has not come yet. */
  async moveTo(scope: string): Promise<Undo | null> {
    const own = this.#own;
    if (!own) return null;
    const chat = this.#chat;
    await this.#write(); // later changes would be saved in the scope that is left
    const undo = await this.bridge.council.Move(chat, scope, own.council);
    await this.#puller.refresh();
    return undo;
  }

  /** Forgets the council of the scope that holds. Resolves with what sets it again. */
  async clear(): Promise<TakeBack> {
    const own = this.#own;
    if (!own) return async () => {};
    const chat = this.#chat;
    await this.#write(); // what is written later would bring it back
    await this.bridge.council.Clear(chat, own.scope);
    if (chat === this.#chat) this.#drop();
    await this.#puller.refresh();
    return () => this.#put(chat, own.scope, own.council);
  }

  /** Counts what the next message would come to as it is now, a moment after its last word. */
  count(now: Partial<Outgoing> = {}): void {
    this.#message = { ...this.#message, ...now };
    clearTimeout(this.#counting);
    if (!this.on && !this.#panel) return;
    this.#counting = setTimeout(() => void this.#count(), this.estimate ? rest : 0);
  }

  async #count(): Promise<void> {
    const { council } = this;
    if (!council) return;
    const number = ++this.#counted;
    const chat = this.#chat;
    try {
      const estimate = await this.bridge.council.Estimate(chat, council, this.#message);
      if (number !== this.#counted || chat !== this.#chat) return;
      this.estimate = estimate;
      if (!this.#panel) return;
      const contexts = await this.bridge.council.Contexts(chat, council);
      if (number === this.#counted) this.contexts = contexts;
    } catch {
      this.estimate = null; // the panel goes on without numbers
    }
  }

  /** What a message would come to with each of some presets, by name; those that cannot be reckoned are left out. */
  async prices(presets: CouncilPreset[]): Promise<Record<string, Estimate>> {
    const all: Record<string, Estimate> = {};
    const empty = { ...this.#message, text: "", attachments: [] };
    for (const { name, council } of presets) {
      try {
        all[name] = await this.bridge.council.Estimate(this.#chat, council, empty);
      } catch {
        continue;
      }
    }
    return all;
  }

  /**
   * The panel is open, until the function returned is called: what a council can be made of, and
   * the context of each member, are kept up to date too.
   */
  forPanel(): () => void {
    this.#panel = true;
    const offs = (["plugins", "tools", "models"] as const).map((topic) =>
      this.notices.watch(topic, "", () => void this.#choosing.refresh()),
    );
    void this.countHelped();
    void this.#puller.refresh();
    return () => {
      this.#panel = false;
      for (const off of offs) off();
    };
  }

  /** Counts the person's thumbs again. */
  async countHelped(): Promise<void> {
    try {
      this.helped = await this.bridge.council.Helped();
    } catch {
      this.helped = {}; // the cards go on without
    }
  }

  /** The tool of an id, if members can be given it. */
  toolOf(id: string): CouncilTool | undefined {
    return this.choices?.tools.find((tool) => tool.id === id);
  }

  /** The display name of a model. */
  titleOf(model: string): string {
    return this.choices?.models.find((one) => one.name === model)?.title ?? model;
  }

  /** The members that a message of “@” and a part of a name may come to ask. */
  named(text: string): Member[] {
    const part = /^@([^\n]*)$/.exec(text.trimStart())?.[1]?.toLowerCase();
    if (part === undefined || !this.on) return [];
    return this.members.filter((member) => member.name.toLowerCase().startsWith(part));
  }

  /** The member that a message asks alone: “@Ada …”. Of several whose names fit the longest counts. */
  only(text: string): Member | undefined {
    const asked = /^@(\S.*)/s.exec(text.trimStart())?.[1]?.toLowerCase();
    if (!asked || !this.on) return undefined;
    let found: Member | undefined;
    let length = 0;
    for (const member of this.members) {
      for (const name of [member.name.toLowerCase(), member.id]) {
        const fits = asked.startsWith(name) && !/^[\p{L}\p{N}-]/u.test(asked.slice(name.length));
        if (fits && name.length > length) [found, length] = [member, name.length];
      }
    }
    return found;
  }
}
