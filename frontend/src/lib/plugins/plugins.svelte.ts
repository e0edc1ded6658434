/** The plugins and their states, the tools they give, and one plugin's log. */
import { AppError, type Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type { LogLevel, LogLine, Plugin, Template, Tool, Visibility } from "../bridge/generated";
import { Pulled } from "../bridge/pulled.svelte";

/** How long what a save did is shown, in ms. */
const reloadedStays = 30_000;

/** What a save just did, shown for a while on the card. */
export interface Reloaded {
  ms: number;
  tools: number;
  generation: number;
}

export class PluginsState extends Pulled {
  plugins = $state.raw<Plugin[]>([]);
  folder = $state.raw("");
  problem = $state.raw<AppError | null>(null);
  templates = $state.raw<Template[]>([]);
  /** By plugin id. */
  reloaded = $state.raw<Record<string, Reloaded>>({});

  /** Plugins that need a person: broken, new, or changed. */
  readonly attention = $derived(this.plugins.filter(needsPerson));
  #timers: ReturnType<typeof setTimeout>[] = [];
  /** Those of attention that the person has put off, by id and state. */
  #later = $state.raw<string[]>([]);
  /** What the line above the composer speaks of. */
  readonly asking = $derived(this.attention.filter((p) => !this.#later.includes(standing(p))));

  constructor(
    private bridge: Bridge,
    notices: Notices,
    /** A plugin needs a person that did not when the window opened. */
    private onneed: () => void = () => {},
  ) {
    super(notices, "plugins");
  }

  protected override async pull(): Promise<void> {
    const list = await this.bridge.plugins.List();
    const reloaded = { ...this.reloaded };
    for (const plugin of list.plugins) {
      const before = this.plugins.find((p) => p.id === plugin.id);
      if (before && plugin.state === "ready" && plugin.generation > before.generation) {
        const { load_ms: ms, generation, tools } = plugin;
        reloaded[plugin.id] = { ms, generation, tools: tools.length };
        const shown = () => this.#settled(plugin.id, generation);
        this.#timers.push(setTimeout(shown, reloadedStays));
      }
    }
    this.reloaded = reloaded;
    const before = this.attention.map((p) => p.id);
    this.plugins = list.plugins;
    if (this.ready && this.attention.some((p) => !before.includes(p.id))) this.onneed();
    this.folder = list.folder;
    this.problem = list.problem ? new AppError(list.problem) : null;
    this.revision = Math.max(this.revision, list.revision);
  }

  override close(): void {
    super.close();
    this.#timers.forEach(clearTimeout);
  }

  /** What a save did was shown for long enough, unless there was another one since. */
  #settled(id: string, generation: number): void {
    if (this.reloaded[id]?.generation !== generation) return;
    const { [id]: _, ...rest } = this.reloaded;
    this.reloaded = rest;
  }

  protected override failed(cause: unknown): void {
    this.problem = AppError.of(cause);
  }

  /** Hides the line until the state of one of them changes. */
  putOff(): void {
    this.#later = this.attention.map(standing);
  }

  setEnabled(id: string, enabled: boolean): Promise<void> {
    return this.bridge.plugins.SetEnabled(id, enabled);
  }

  /** Of the undeclared packages, only those named in guessed are installed. */
  installPackages = (plugin: Plugin, build: boolean, elsewhere: boolean, guessed: string[] = []) =>
    this.bridge.plugins.InstallPackages(plugin.id, plugin.packages?.digest ?? "", build, elsewhere, guessed);
  /** With tools, those that it lists when it starts are approved too. */
  approve = (plugin: Plugin, { developing = false, tools = false } = {}) =>
    this.bridge.plugins.Approve(plugin.id, plugin.shown, developing, tools);
  keepOld = (plugin: Plugin) => this.bridge.plugins.KeepOld(plugin.id, plugin.shown);
  /** Words about its tools that models do not get since the person kept those approved are asked about again. */
  askWords = ({ id, at_once, at_once_set, keep_running }: Plugin) =>
    this.bridge.plugins.SetRunning(id, at_once_set ? at_once : 0, keep_running, false);

  async loadTemplates(): Promise<void> {
    this.templates = await this.bridge.plugins.Templates();
  }
}

/** Whether a plugin's card goes on top. */
export function needsPerson(plugin: Plugin): boolean {
  return (
    plugin.state === "failed" ||
    plugin.state === "needs-packages" ||
    plugin.state === "needs-settings" ||
    plugin.state === "needs-sign-in" ||
    plugin.state === "needs-approval" ||
    plugin.state === "quarantined" ||
    Boolean(plugin.problem)
  );
}

const standing = (plugin: Plugin) => `${plugin.id} ${plugin.state} ${plugin.shown || plugin.digest}`;

export class ToolsState extends Pulled {
  tools = $state.raw<Tool[]>([]);
  tokens = $state.raw(0);
  contextTokens = $state.raw(0);
  /** Those that the model gets only the names of. */
  forRoom = $state.raw<ReadonlySet<string>>(new Set());

  readonly enabled = $derived(this.tools.filter((t) => t.enabled));
  /** What the main model is offered; some are for members of a council alone. */
  readonly offered = $derived(this.tools.filter((t) => t.offered));
  /** Definitions take more than 15 % of what the model can read. */
  readonly heavy = $derived(this.contextTokens > 0 && this.tokens > 0.15 * this.contextTokens);

  /** Which the next message goes to; "" is the default. */
  #model = "";

  constructor(
    private bridge: Bridge,
    notices: Notices,
  ) {
    super(notices, "tools");
  }

  /** Has what is listed be that of the next message to a model. */
  follow(model: string): void {
    if (this.#model === model) return;
    this.#model = model;
    if (this.ready) void this.refresh();
  }

  /** What the next message has of a plugin's tools, and about how many tokens that takes. */
  offerOf(plugin: string): { all: number; now: number; found: number; tokens: number } {
    const all = this.tools.filter((t) => t.plugin === plugin);
    const offered = all.filter((t) => t.offered);
    const now = offered.filter((t) => !this.forRoom.has(t.id));
    const tokens = now.reduce((sum, t) => sum + t.tokens, 0);
    return { all: all.length, now: now.length, found: offered.length - now.length, tokens };
  }

  protected override async pull(): Promise<void> {
    const list = await this.bridge.tools.List(this.#model);
    this.tools = list.tools;
    this.tokens = list.tokens;
    this.contextTokens = list.context_tokens;
    this.forRoom = new Set(list.for_room);
    this.revision = Math.max(this.revision, list.revision);
  }

  setEnabled = (id: string, on: boolean) => this.bridge.tools.SetEnabled(id, on);
  setOffer = (id: string, offer: Visibility) => this.bridge.tools.SetOffer(id, offer);
  setMembers = (id: string, may: boolean) => this.bridge.tools.SetMembers(id, may);

  /** The tools of a filter, by plugin, both in the order listed. */
  groups(filter: string): { plugin: string; name: string; tools: Tool[] }[] {
    const words = filter.trim().toLowerCase();
    const groups: { plugin: string; name: string; tools: Tool[] }[] = [];
    for (const tool of this.tools) {
      const text = `${tool.title} ${tool.name} ${tool.plugin_name} ${tool.description}`;
      if (words && !text.toLowerCase().includes(words)) continue;
      let group = groups.find((g) => g.plugin === tool.plugin);
      if (!group) groups.push((group = { plugin: tool.plugin, name: tool.plugin_name, tools: [] }));
      group.tools.push(tool);
    }
    return groups;
  }
}

const rank: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };
/** How many lines the viewer keeps. */
const keepLines = 5000;

/** How often the messages of a protocol are read while they are shown, in ms: no notice reports them. */
const trafficPause = 1000;

/** One plugin's log, followed while it is open. */
export class LogState extends Pulled {
  lines = $state.raw<LogLine[]>([]);
  dropped = $state.raw(0);
  level = $state<LogLevel>("debug");
  /** The messages of its protocol; null while the log is shown. */
  traffic = $state.raw<LogLine[] | null>(null);
  readonly shown = $derived(this.traffic ?? this.lines.filter((l) => rank[l.level] >= rank[this.level]));
  private reading: ReturnType<typeof setInterval> | undefined;

  constructor(
    private bridge: Bridge,
    notices: Notices,
    private id: string,
  ) {
    super(notices, "log", id);
  }

  protected override async pull(): Promise<void> {
    const log = await this.bridge.plugins.Log(this.id, this.lines.at(-1)?.n ?? 0);
    this.lines = [...this.lines, ...log.lines].slice(-keepLines);
    this.dropped = log.dropped;
    this.revision = Math.max(this.revision, log.revision);
  }

  /** Shows the messages of the protocol, or those lines of the log that are at least of a level. */
  async show(what: LogLevel | "traffic") {
    this.stopReading();
    if (what !== "traffic") {
      this.level = what;
      return;
    }
    this.traffic = [];
    const read = async () => {
      const traffic = await this.bridge.activity.Traffic(this.id);
      if (this.traffic) this.traffic = traffic;
    };
    this.reading = setInterval(() => void read().catch(() => clearInterval(this.reading)), trafficPause);
    await read();
  }

  private stopReading() {
    clearInterval(this.reading);
    this.traffic = null;
  }

  override close() {
    this.stopReading();
    super.close();
  }

  get text(): string {
    return this.shown.map((l) => `${l.time} ${l.level} ${l.text}`).join("\n");
  }
}
