/** Plugins and tools in memory. */
import { AppError } from "../calls";
import type * as t from "../generated";
import type { FakeBus } from "./bus";

export function plugin(id: string, name: string, change: Partial<t.Plugin> = {}): t.Plugin {
  return {
    id,
    name,
    version: "1.2.0",
    description: "",
    author: "The Conclave authors",
    homepage: "",
    contract: "functions",
    path: `/home/ada/.local/share/conclave/plugins/${id}`,
    origin: "",
    state: "ready",
    enabled: true,
    problem: null,
    serving_since: "",
    tools: [],
    permissions: [],
    folders: [],
    refused: [],
    capabilities: ["keeps its own files"],
    isolation: "process+landlock",
    isolation_note: "",
    load_ms: 84,
    generation: 1,
    loaded: new Date().toISOString(),
    calls: 12,
    errors: 0,
    last_used: new Date().toISOString(),
    warnings: [],
    developing: false,
    shipped: true,
    running: true,
    memory: 11_400_000,
    digest: "9f2c41aa03d7",
    packages: null,
    settings: false,
    ...change,
  };
}

/** A list of packages of which the first is missing. */
export function packages(change: Partial<t.Packages> = {}): t.Packages {
  const one = {
    standing: "missing",
    version: "",
    optional: false,
    guessed: false,
    note: "",
  } as const;
  return {
    packages: [
      {
        ...one,
        name: "httpx",
        requirement: "httpx>=0.27",
        from: "requirements.txt:1",
      },
      {
        ...one,
        name: "rich",
        requirement: "rich",
        from: "the import of rich",
        optional: true,
        guessed: true,
        note: "Nobody declared it: the name is taken from the import.",
      },
      {
        ...one,
        name: "pydantic",
        requirement: "pydantic>=2",
        from: "requirements.txt:2",
        standing: "installed",
        version: "2.9.2",
      },
    ],
    notes: [],
    elsewhere: [],
    digest: "4c1d0a7b",
    python: "3.11.7",
    index: "https://pypi.org/simple",
    unable: "",
    made: "",
    path: "",
    bytes: 0,
    stale: false,
    work: null,
    ...change,
  };
}

export function tool(
  plugin: string,
  pluginName: string,
  name: string,
  change: Partial<t.Tool> = {},
): t.Tool {
  return {
    id: `${plugin}:${name}`,
    plugin,
    plugin_name: pluginName,
    name,
    wire_name: name,
    title: (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " "),
    description: "",
    parameters: JSON.stringify(
      {
        type: "object",
        properties: { text: { type: "string", description: "The text" } },
        required: ["text"],
      },
      null,
      2,
    ),
    visibility: "direct",
    enabled: true,
    contract: "functions",
    digest: "9f2c41aa03d7",
    status: "ready",
    timeout_ms: 30_000,
    tokens: 96,
    capabilities: ["keeps its own files"],
    last_used: "",
    rule: "Allowed: it only computes",
    file: `${plugin}.py`,
    line: 12,
    warnings: [],
    ...change,
  };
}

export class FakePlugins implements t.PluginsCalls {
  list: t.Plugin[] = [];
  problem: t.Failure | null = null;
  readonly logs = new Map<string, t.LogLine[]>();
  readonly changes = new Map<string, t.Change[]>();
  #bus: FakeBus;
  #tools: FakeTools;
  #undo: (text: string, back: () => void) => t.Undo;

  constructor(bus: FakeBus, tools: FakeTools, undo: (text: string, back: () => void) => t.Undo) {
    this.#bus = bus;
    this.#tools = tools;
    this.#undo = undo;
  }

  change(id: string, change: Partial<t.Plugin>): void {
    this.list = this.list.map((p) => (p.id === id ? { ...p, ...change } : p));
    this.#bus.changed("plugins");
    this.#bus.changed("tools");
  }

  #get(id: string): t.Plugin {
    const plugin = this.list.find((p) => p.id === id);
    if (!plugin)
      throw new AppError({
        kind: "not_found",
        message: `There is no plugin “${id}”.`,
        hint: "",
        ref: "",
      });
    return plugin;
  }

  async List(): Promise<t.PluginList> {
    const plugins = [...this.list].sort((a, b) => a.name.localeCompare(b.name));
    const folder = "/home/ada/.local/share/conclave/plugins";
    return { revision: this.#bus.revision("plugins"), folder, problem: this.problem, plugins };
  }

  async Show(id: string): Promise<t.PluginDetail> {
    return {
      plugin: this.#get(id),
      tools: this.#tools.all.filter((t) => t.plugin === id),
      listed: this.#get(id).state !== "needs-approval",
      files: [`${id}.py`],
      imports: ["json", "pathlib"],
      changes: this.changes.get(id) ?? [],
      hidden_removed: id === "weather" ? 3 : 0,
    };
  }

  Enable = async (id: string) => this.change(id, { enabled: true, state: "ready" });
  Disable = async (id: string) =>
    this.change(id, { enabled: false, state: "disabled", running: false });
  SetDeveloping = async (id: string, developing: boolean) => this.change(id, { developing });
  SetPermission = async (id: string, permission: string, granted: boolean) =>
    this.change(id, {
      permissions: this.#get(id).permissions.map((p) =>
        p.name === permission ? { ...p, state: granted ? "granted" : "denied" } : p,
      ),
    });
  GrantFolder = async (id: string, path: string, write: boolean) =>
    this.change(id, { folders: [...this.#get(id).folders, { path, write, setting: "" }] });
  RevokeFolder = async (id: string, path: string) =>
    this.change(id, { folders: this.#get(id).folders.filter((f) => f.path !== path) });
  KeepOld = async (id: string) => this.change(id, { state: "ready" });

  async Reload(id: string): Promise<void> {
    const { generation } = this.#get(id);
    this.change(id, { state: "loading" });
    setTimeout(
      () =>
        this.change(id, {
          state: "ready",
          generation: generation + 1,
          problem: null,
          serving_since: "",
        }),
      300,
    );
  }

  async Approve(id: string, digest: string, developing: boolean): Promise<void> {
    if (this.#get(id).digest !== digest) {
      throw new AppError({
        kind: "conflict",
        message: "The plugin changed while you were reading.",
        hint: "Look once more.",
        ref: "",
      });
    }
    this.change(id, { state: "ready", enabled: true, developing });
  }

  /** By plugin id. */
  forms: Record<string, t.PluginForm> = {};

  async Settings(id: string): Promise<t.PluginForm> {
    return this.forms[id] ?? { schema: "", values: "{}", secrets: [], problems: [] };
  }

  async SetSettings(id: string, values: string): Promise<void> {
    const form = await this.Settings(id);
    const given = JSON.parse(values) as { forecast?: { days?: number } };
    if ((given.forecast?.days ?? 1) > 14) {
      throw new AppError({
        kind: "invalid",
        message: `These settings do not fit ${id}: forecast.days: at most 14.`,
        hint: "",
        ref: "",
      });
    }
    this.forms[id] = { ...form, values };
    this.change(id, { generation: this.#get(id).generation + 1 });
  }

  async Remove(id: string): Promise<t.Undo> {
    const gone = this.#get(id);
    this.list = this.list.filter((p) => p.id !== id);
    this.#bus.changed("plugins");
    return this.#undo(`${gone.name} was removed from the plugins folder.`, () => {
      this.list = [...this.list, gone];
      this.#bus.changed("plugins");
    });
  }

  #packages(id: string, change: Partial<t.Packages>): void {
    const { packages } = this.#get(id);
    if (packages) this.change(id, { packages: { ...packages, ...change } });
  }

  async InstallPackages(
    id: string,
    digest: string,
    _build = false,
    _elsewhere = false,
    guessed: string[] = [],
  ): Promise<void> {
    const { packages } = this.#get(id);
    if (!packages || packages.digest !== digest) {
      throw new AppError({
        kind: "conflict",
        message: `The packages of ${id} changed while you were reading.`,
        hint: "Look at them again.",
        ref: "",
      });
    }
    const started = new Date().toISOString();
    const work: t.PackageWork = {
      running: true,
      started,
      ended: "",
      lines: ["Installing 2 packages from pypi.org with pip 24.2."],
      problem: null,
      stopped: false,
    };
    this.#packages(id, { work });
    setTimeout(() => {
      const now = this.#get(id).packages?.work;
      if (!now?.running || now.started !== started) return; // stopped, or another one runs
      this.change(id, { state: "ready", enabled: true, problem: null });
      this.#packages(id, {
        packages: packages.packages.map((p) => ({
          ...p,
          ...(p.guessed && !guessed.includes(p.name)
            ? {}
            : { standing: "installed", version: p.version || "1.0.0" }),
        })),
        made: new Date().toISOString(),
        path: `/home/ada/.local/share/conclave/environments/${id}/env-1`,
        bytes: 4_200_000,
        work: { ...work, running: false, ended: new Date().toISOString() },
      });
    }, 300);
  }

  async StopPackages(id: string): Promise<void> {
    const work = this.#get(id).packages?.work;
    if (work?.running) this.#packages(id, { work: { ...work, running: false, stopped: true } });
  }

  async RemovePackages(id: string): Promise<void> {
    this.#packages(id, { ...packages(), work: null });
    this.change(id, { state: "needs-packages" });
  }

  async Templates(): Promise<t.Template[]> {
    return [
      {
        kind: "python",
        title: "Python functions",
        sentence: "Every function of a file becomes a tool.",
        file: "NAME.py",
        common: true,
      },
      {
        kind: "js",
        title: "JavaScript",
        sentence: "Registers tools from a script, runs in Conclave’s own engine.",
        file: "NAME.js",
        common: true,
      },
      {
        kind: "ts",
        title: "TypeScript",
        sentence: "The same, with types.",
        file: "NAME.ts",
        common: true,
      },
      {
        kind: "maibot",
        title: "MaiBot plugin",
        sentence: "A folder with a manifest, settings and tools that MaiBot runs too.",
        file: "NAME/",
        common: false,
      },
      {
        kind: "neko",
        title: "N.E.K.O plugin",
        sentence: "A folder with a manifest and a class of tools that N.E.K.O runs too.",
        file: "NAME/",
        common: false,
      },
    ];
  }

  async New(kind: string, name: string): Promise<string> {
    if (this.list.some((p) => p.id === name)) {
      throw new AppError({
        kind: "conflict",
        message: `There is already a plugin “${name}”.`,
        hint: "Choose another name.",
        ref: "",
      });
    }
    this.list = [
      ...this.list,
      plugin(name, name, {
        shipped: false,
        state: "loading",
        contract: kind === "python" ? "functions" : "spindle",
      }),
    ];
    setTimeout(() => this.change(name, { state: "needs-approval", enabled: false }), 84);
    this.#bus.changed("plugins");
    return name;
  }

  Choose = async (what: "folder" | "file") =>
    `/home/ada/Downloads/${what === "file" ? "moon.zip" : "moon"}`;

  /** How long Add and Update fetch, in ms. */
  fetchTime = 300;
  #stop: ((cause: AppError) => void) | null = null;

  #fetch(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stop = reject;
      setTimeout(resolve, this.fetchTime);
    });
  }

  async Add(from: string): Promise<string> {
    const id = (from.split(/[/\\]/).pop() ?? "").replace(/\.\w+$/, "");
    await this.#fetch();
    if (from.startsWith("http:")) {
      throw new AppError({
        kind: "invalid",
        message: `A plugin is fetched over https only, and ${from} is something else.`,
        hint: "Write it like https://example.org/name.git, without a password.",
        ref: "",
      });
    }
    if (this.list.some((p) => p.id === id)) {
      throw new AppError({
        kind: "conflict",
        message: `There is a plugin ${id} already.`,
        hint: "Remove it first, or update it from its menu.",
        ref: "",
      });
    }
    const name = id.charAt(0).toUpperCase() + id.slice(1);
    const added = plugin(id, name, { shipped: false, state: "needs-approval", enabled: false });
    this.list = [...this.list, { ...added, origin: from, calls: 0, running: false }];
    this.#bus.changed("plugins");
    return id;
  }

  StopAdding = async () =>
    this.#stop?.(new AppError({ kind: "canceled", message: "It was stopped.", hint: "", ref: "" }));

  async Update(id: string): Promise<t.Undo> {
    const before = this.#get(id);
    await this.#fetch();
    this.change(id, { version: "1.3.0", generation: before.generation + 1 });
    return this.#undo(`“${before.name}” was fetched anew.`, () => this.change(id, before));
  }

  OpenFolder = async (_id: string) => {};
  OpenInEditor = async (_id: string, _file: string, _line: number) => {};

  async Log(id: string, since: number): Promise<t.PluginLog> {
    const lines = (this.logs.get(id) ?? []).filter((l) => l.n > since);
    return { revision: this.#bus.revision("log", id), lines, dropped: 0 };
  }
}

export class FakeTools implements t.ToolsCalls {
  all: t.Tool[] = [];
  contextTokens = 128_000;
  #bus: FakeBus;

  constructor(bus: FakeBus) {
    this.#bus = bus;
  }

  async List(): Promise<t.ToolList> {
    const tokens = this.all.filter((t) => t.enabled).reduce((n, t) => n + t.tokens, 0);
    return {
      revision: this.#bus.revision("tools"),
      tools: this.all,
      tokens,
      context_tokens: this.contextTokens,
    };
  }

  async SetEnabled(id: string, enabled: boolean): Promise<void> {
    this.all = this.all.map((t) => (t.id === id ? { ...t, enabled } : t));
    this.#bus.changed("tools");
  }
}
