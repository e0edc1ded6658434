/** The plugins and tools of a scene. */
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
    found_note: "",
    load_ms: 84,
    generation: 1,
    loaded: new Date().toISOString(),
    calls: 12,
    errors: 0,
    last_used: new Date().toISOString(),
    warnings: [],
    developing: false,
    shipped: true,
    remote: false,
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
    offered: true,
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

const template = (
  kind: string,
  title: string,
  file: string,
  common: boolean,
  sentence: string,
): t.Template => ({ kind, title, sentence, file, common });

export class FakePlugins {
  list: t.Plugin[] = [];
  logs = new Map<string, t.LogLine[]>();
  changes = new Map<string, t.Change[]>();
  /** By plugin id. */
  forms: Record<string, t.PluginForm> = {};

  constructor(
    private bus: FakeBus,
    private tools: FakeTools,
  ) {}

  change(id: string, change: Partial<t.Plugin>): void {
    this.list = this.list.map((p) => (p.id === id ? { ...p, ...change } : p));
    this.bus.changed("plugins");
    this.bus.changed("tools");
  }

  async List(): Promise<t.PluginList> {
    const plugins = [...this.list].sort((a, b) => a.name.localeCompare(b.name));
    const folder = "/home/ada/.local/share/conclave/plugins";
    return { revision: this.bus.revision("plugins"), folder, problem: null, plugins };
  }

  async Show(id: string): Promise<t.PluginDetail> {
    const plugin = this.list.find((p) => p.id === id);
    if (!plugin) throw new Error(`the scene has no plugin ${id}`);
    return {
      plugin,
      tools: this.tools.all.filter((t) => t.plugin === id),
      listed: plugin.state !== "needs-approval",
      files: [`${id}.py`],
      imports: ["json", "pathlib"],
      changes: this.changes.get(id) ?? [],
      hidden_removed: id === "weather" ? 3 : 0,
      marks:
        id === "weather"
          ? [{ where: "forecast", text: "Says the weather.‹U+200B and 2 more, invisible›" }]
          : [],
    };
  }

  async Settings(id: string): Promise<t.PluginForm> {
    return this.forms[id] ?? { schema: "", values: "{}", secrets: [], problems: [] };
  }

  readonly reached: Record<string, t.PluginReach> = {
    notes: {
      hosts: [],
      ports: [{ sentence: "Notes may listen on port 4711 of this computer.", rule: "rule-port" }],
      programs: ["/usr/bin/git"],
      secrets: [],
      can_files: true,
      can_hosts: true,
      can_ports: true,
      can_programs: true,
      can_secrets: false,
    },
    dice: {
      hosts: [
        {
          sentence: "Dice may connect to api.example.org and what is below it.",
          rule: "rule-dice",
        },
      ],
      ports: [],
      programs: [],
      secrets: [{ name: "weather", hosts: ["api.example.org", "api.example.net"] }],
      can_files: false,
      can_hosts: true,
      can_ports: false,
      can_programs: false,
      can_secrets: true,
    },
  };

  async Reach(id: string): Promise<t.PluginReach> {
    const can = { can_files: false, can_hosts: false, can_ports: false };
    const none = { ...can, can_programs: false, can_secrets: false };
    return this.reached[id] ?? { hosts: [], ports: [], programs: [], secrets: [], ...none };
  }

  async Templates(): Promise<t.Template[]> {
    return [
      template("python", "Python functions", "NAME.py", true, "Every function becomes a tool."),
      template("js", "JavaScript", "NAME.js", true, "Registers tools from a script."),
      template("ts", "TypeScript", "NAME.ts", true, "The same, with types."),
      template("maibot", "MaiBot plugin", "NAME/", false, "A folder that MaiBot runs too."),
      template("neko", "N.E.K.O plugin", "NAME/", false, "A folder that N.E.K.O runs too."),
    ];
  }

  async Choose(what: t.Choosable): Promise<string> {
    return `/home/ada/Downloads/${what === "file" ? "moon.zip" : "moon"}`;
  }

  async Log(id: string, since: number): Promise<t.PluginLog> {
    const lines = (this.logs.get(id) ?? []).filter((l) => l.n > since);
    return { revision: this.bus.revision("log", id), lines, dropped: 0 };
  }
}

export class FakeTools {
  all: t.Tool[] = [];

  constructor(private bus: FakeBus) {}

  async List(): Promise<t.ToolList> {
    const tokens = this.all.filter((t) => t.enabled).reduce((n, t) => n + t.tokens, 0);
    const revision = this.bus.revision("tools");
    return { revision, tools: this.all, tokens, context_tokens: 128_000 };
  }
}
