/** The plugins, models and record of a scene, which a test may change. */
import type * as t from "../generated";
import type { FakeBus } from "./bus";
import { sample, type Scene } from "./scene";

export class FakePlugins {
  list: t.Plugin[];
  logs: Map<string, t.LogLine[]>;
  /** What changed in plugins since they were approved, where it is not as recorded. */
  changes = new Map<string, t.Change[]>();

  constructor(
    private bus: FakeBus,
    private scene: Scene,
  ) {
    this.list = scene.of<t.PluginList>("Plugins.List").plugins;
    const logs = [...scene.all<t.PluginLog>("Plugins.Log")];
    this.logs = new Map(logs.map(([id, log]) => [id, log.lines]));
  }

  change(id: string, change: Partial<t.Plugin>): void {
    this.list = this.list.map((p) => (p.id === id ? { ...p, ...change } : p));
    this.bus.changed("plugins");
    this.bus.changed("tools");
  }

  async List(): Promise<t.PluginList> {
    const plugins = [...this.list].sort((a, b) => a.name.localeCompare(b.name));
    const revision = this.bus.revision("plugins");
    return { ...this.scene.of<t.PluginList>("Plugins.List"), revision, plugins };
  }

  async Show(id: string): Promise<t.PluginDetail> {
    const plugin = this.list.find((p) => p.id === id);
    if (!plugin) throw new Error(`the scene has no plugin ${id}`);
    const [any] = this.scene.all<t.PluginDetail>("Plugins.Show").values();
    const detail = this.scene.find<t.PluginDetail>(`Plugins.Show ${id}`) ?? any;
    if (!detail) throw new Error("the scene shows no plugin");
    return { ...detail, ...plugin, changes: this.changes.get(id) ?? detail.changes };
  }

  async Log(id: string, since: number): Promise<t.PluginLog> {
    const lines = (this.logs.get(id) ?? []).filter((l) => l.n > since);
    return { revision: this.bus.revision("log", id), lines, dropped: 0 };
  }
}

export class FakeModels {
  connections: t.Connection[];
  models: t.Model[];
  default: string;
  locked = false;
  prices: t.PriceTable;

  constructor(
    private bus: FakeBus,
    private scene: Scene,
  ) {
    const { connections, models, default: chosen } = scene.of<t.ModelList>("Models.List");
    [this.connections, this.models, this.default] = [connections, models, chosen];
    this.prices = scene.of("Models.Prices");
  }

  async List(): Promise<t.ModelList> {
    const { connections, models, locked: keys_locked } = this;
    const revision = this.bus.revision("models");
    const now = { revision, connections, models, default: this.default, keys_locked };
    return { ...this.scene.of<t.ModelList>("Models.List"), ...now };
  }

  async Prices(): Promise<t.PriceTable> {
    return this.prices;
  }

  async SetPrices(own: t.Price[]): Promise<void> {
    this.prices = { ...this.prices, own };
  }
}

export class FakeActivity {
  entries: t.ActivityEntry[];

  /** The record; latest first, as the program has it. */
  constructor(scene: Scene) {
    this.entries = scene.of<t.ActivityList>("Activity.List").entries;
  }

  async Traffic(id: string): Promise<t.LogLine[]> {
    const line = { plugin: id, time: "2026-11-28T13:00:00.000Z", level: "debug" as const };
    return [
      { ...line, n: 1, text: '→ {"jsonrpc":"2.0","id":1,"method":"initialize"}' },
      { ...line, n: 2, text: '← {"jsonrpc":"2.0","id":1,"result":{}}' },
    ];
  }

  /** Puts an entry on record that is like a recorded one. */
  add(entry: Partial<t.ActivityEntry>): void {
    const time = new Date().toISOString();
    this.entries.unshift({ ...sample().did, n: this.entries.length + 1, time, ...entry });
  }

  async List(chat: string, plugin: string, before: number): Promise<t.ActivityList> {
    const found = this.entries
      .filter((e) => (!chat || e.chat === chat) && (!plugin || e.plugin === plugin))
      .filter((e) => !before || e.n < before);
    return { entries: found.slice(0, 50), more: found.length > 50 };
  }
}
