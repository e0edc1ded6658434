/** The connections to models, what they offer, and the servers found on this computer. */
import { AppError, type Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type {
  Connection,
  ConnectionEdit,
  LocalServer,
  Model,
  Provider,
  SavedConnection,
  Undo,
} from "../bridge/generated";
import type { SettingsState } from "./settings.svelte";
import { Pulled } from "../bridge/pulled.svelte";

const tried = /preview|beta|experimental|-exp\b|nano|tiny|lite|guard|base|vision-only|\b[0-3](\.\d)?b\b/i;

/** The best default model of a list: one that calls tools, is no preview, and has a large context. */
export function bestGuess(models: Model[]): Model | undefined {
  const worth = (m: Model) =>
    Number(m.tools) * 8 + Number(!tried.test(m.id)) * 4 + Number(m.vision) * 2 + Number(m.reasoning);
  return models.toSorted(
    (a, b) => worth(b) - worth(a) || b.context_tokens - a.context_tokens || a.id.length - b.id.length,
  )[0];
}

export class ModelsState extends Pulled {
  connections = $state.raw<Connection[]>([]);
  models = $state.raw<Model[]>([]);
  providers = $state.raw<Provider[]>([]);
  default = $state.raw("");
  keyStore = $state.raw("");
  /** A passphrase is needed before a key can be read or saved. */
  locked = $state.raw(false);
  /** That passphrase is still to be chosen. */
  keysFresh = $state.raw(false);
  scanning = $state.raw(false);
  /** null before the first scan. */
  local = $state.raw<LocalServer[] | null>(null);

  readonly defaultModel = $derived(this.models.find((m) => m.name === this.default));
  readonly defaultConnection = $derived(this.connectionOf(this.default));
  /** Something other than the built-in guide is connected. */
  readonly connected = $derived(this.connections.some((c) => !c.built_in));

  constructor(
    private bridge: Bridge,
    notices: Notices,
    private settings: Pick<SettingsState, "now" | "set">,
    private onchosen: (model: Model) => void = () => {},
  ) {
    super(notices, "models");
  }

  protected override async pull(): Promise<void> {
    const list = await this.bridge.models.List();
    this.connections = list.connections;
    this.models = list.models;
    this.providers = list.providers;
    this.default = list.default;
    this.keyStore = list.key_store;
    this.locked = list.keys_locked;
    this.keysFresh = list.keys_fresh;
    this.revision = Math.max(this.revision, list.revision);
  }

  /** What is known of a model; undefined where its connection lists it no longer. */
  named(name: string): Model | undefined {
    return this.models.find((m) => m.name === name);
  }

  title(name: string): string {
    return this.named(name)?.title ?? name;
  }

  /** What a connection is called. */
  connectionTitle(name: string): string {
    return this.connections.find((c) => c.name === name)?.title ?? name;
  }

  /** Notes that a model was chosen, for the list of those chosen last. */
  chose(name: string): void {
    if (!name) return;
    const { recent_models: recent } = this.settings.now;
    if (recent[0] === name) return;
    void this.settings.set({ recent_models: [name, ...recent.filter((one) => one !== name)].slice(0, 6) });
  }

  /** The connection of a model; undefined if it was removed. */
  connectionOf(name: string): Connection | undefined {
    return this.connections.find((c) => c.name === name.split("/")[0]);
  }

  /**
   * The providers whose keys look like this one: those with the most particular shape that fits, of which several
   * may have the same.
   */
  guesses(key: string): Provider[] {
    const worth = (p: Provider) =>
      Math.max(0, ...p.key_shapes.map((shape) => (new RegExp(shape).test(key.trim()) ? shape.length : 0)));
    const most = Math.max(...this.providers.map(worth));
    return key.trim() && most > 0 ? this.providers.filter((p) => worth(p) === most) : [];
  }

  /**
   * Saves a connection when its server lists its models, and returns its name; the problem where it does not, and
   * nothing is saved then. anyway saves it unasked. The first connection with models sets the default model: the
   * best guess, with which onchosen is called.
   */
  async save(edit: ConnectionEdit, existing = "", anyway = false): Promise<SavedConnection> {
    const saved = await this.bridge.models.Save(existing, edit, anyway);
    const { name } = saved;
    if (!name) return saved;
    if (anyway) await this.bridge.models.Test(name);
    await this.refresh();
    const added = this.connections.find((c) => c.name === name);
    const first = bestGuess(this.models.filter((m) => m.connection === name));
    const onlyGuide = this.defaultConnection?.built_in ?? true;
    if (added?.state === "ok" && first && onlyGuide) {
      await this.setDefault(first.name);
      this.onchosen(first);
    }
    return saved;
  }

  async test(name: string): Promise<void> {
    await this.bridge.models.Test(name);
    await this.refresh();
  }

  async remove(name: string): Promise<Undo> {
    const undo = await this.bridge.models.Remove(name);
    await this.refresh();
    return undo;
  }

  async unlock(passphrase: string): Promise<void> {
    await this.bridge.models.Unlock(passphrase);
    await this.refresh();
  }

  async setDefault(model: string): Promise<void> {
    await this.bridge.models.SetDefault(model);
    await this.refresh();
  }

  /** Notes what the person says that a model can do. */
  async setFeatures(model: Model, change: Partial<Model>): Promise<void> {
    const { name, tools, vision, reasoning } = { ...model, ...change };
    await this.bridge.models.SetFeatures(name, tools, vision, reasoning);
    await this.refresh();
  }

  async scan(): Promise<void> {
    this.scanning = true;
    try {
      this.local = await this.bridge.models.ScanLocal();
    } finally {
      this.scanning = false;
    }
  }

  /** Connects a server that the scan found. */
  async use(server: LocalServer): Promise<void> {
    const { kind, title, url } = server;
    const { name, problem } = await this.save({ kind, name: "", title, url, key: "", models: [] });
    if (problem) throw new AppError(problem);
    this.local = (this.local ?? []).map((l) => (l.url === url ? { ...l, connection: name } : l));
  }
}
