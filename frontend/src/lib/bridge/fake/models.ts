/** Connections and models in memory. */
import { AppError } from "../calls";
import type * as t from "../generated";
import type { FakeBus } from "./bus";

const guide: t.Connection = {
  name: "demo",
  kind: "demo",
  title: "Demo guide",
  url: "",
  host: "",
  has_key: false,
  built_in: true,
  state: "ok",
  problem: null,
  latency_ms: 0,
  checked: new Date().toISOString(),
  models: [],
};

export function model(
  connection: string,
  id: string,
  title: string,
  change: Partial<t.Model> = {},
): t.Model {
  return {
    name: `${connection}/${id}`,
    connection,
    id,
    title,
    tools: true,
    vision: false,
    reasoning: false,
    context_tokens: 128_000,
    ...change,
  };
}

export class FakeModels implements t.ModelsCalls {
  connections: t.Connection[] = [guide];
  models: t.Model[] = [model("demo", "guide", "Demo guide", { context_tokens: 8000 })];
  default = "demo/guide";
  local: t.LocalServer[] = [];
  locked = false;
  fresh = false;
  /** How long a test takes, in ms. */
  latency = 300;
  #bus: FakeBus;
  #undo: (text: string, back: () => void) => t.Undo;

  constructor(bus: FakeBus, undo: (text: string, back: () => void) => t.Undo) {
    this.#bus = bus;
    this.#undo = undo;
  }

  title = (name: string) => this.models.find((m) => m.name === name)?.title ?? name;

  async List(): Promise<t.ModelList> {
    return {
      revision: this.#bus.revision("models"),
      default: this.default,
      connections: this.connections,
      models: this.models,
      providers: [
        {
          kind: "anthropic",
          title: "Anthropic",
          url: "",
          needs_key: true,
          asks_url: false,
          key_page: "https://example.org/anthropic-keys",
          key_prefixes: ["sk-ant-"],
        },
        {
          kind: "openai",
          title: "OpenAI",
          url: "",
          needs_key: true,
          asks_url: false,
          key_page: "https://example.org/openai-keys",
          key_prefixes: ["sk-", "sk-proj-"],
        },
        {
          kind: "google",
          title: "Google Gemini",
          url: "",
          needs_key: true,
          asks_url: false,
          key_page: "https://example.org/google-keys",
          key_prefixes: ["AIza"],
        },
        {
          kind: "ollama",
          title: "Ollama",
          url: "http://127.0.0.1:11434",
          needs_key: false,
          asks_url: false,
          key_page: "",
          key_prefixes: [],
        },
        {
          kind: "openai",
          title: "OpenAI-compatible server",
          url: "http://127.0.0.1:8080/v1",
          needs_key: false,
          asks_url: false,
          key_page: "",
          key_prefixes: [],
        },
      ],
      key_store: this.locked
        ? "Keys will be kept in an encrypted file protected by a passphrase."
        : "Keys are kept in the system keychain.",
      keys_locked: this.locked,
      keys_fresh: this.fresh,
    };
  }

  async Add(edit: t.ConnectionEdit): Promise<string> {
    const name = (edit.name || edit.title || edit.kind)
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, "-");
    this.connections = [
      ...this.connections,
      {
        ...guide,
        name,
        kind: edit.kind,
        title: edit.title || edit.kind.charAt(0).toUpperCase() + edit.kind.slice(1),
        url: edit.url,
        host: edit.url ? new URL(edit.url).host : `api.${edit.kind}.example`,
        has_key: edit.key !== "",
        built_in: false,
        state: edit.key.includes("bad") ? "failed" : "unknown",
        checked: "",
        models: edit.models,
      },
    ];
    this.#bus.changed("models");
    return name;
  }

  async Update(name: string, edit: t.ConnectionEdit): Promise<void> {
    const { title, url, models } = edit;
    const state = edit.key.includes("bad") ? "failed" : "unknown";
    this.#set(name, { title, url, models, state, ...(edit.key ? { has_key: true } : {}) });
  }

  #set(name: string, change: Partial<t.Connection>): void {
    this.connections = this.connections.map((c) => (c.name === name ? { ...c, ...change } : c));
    this.#bus.changed("models");
  }

  async Remove(name: string): Promise<t.Undo> {
    const { connections, models } = this;
    this.connections = connections.filter((c) => c.name !== name);
    this.models = models.filter((m) => m.connection !== name);
    this.#bus.changed("models");
    return this.#undo(`The connection “${name}” was removed.`, () => {
      this.connections = connections;
      this.models = models;
      this.#bus.changed("models");
    });
  }

  async Test(name: string): Promise<void> {
    const connection = this.connections.find((c) => c.name === name);
    if (!connection) return;
    const bad = connection.state === "failed";
    this.#set(name, { state: "asking" });
    await new Promise((r) => setTimeout(r, this.latency));
    if (bad) {
      const message = `Key refused by ${connection.title} (401).`;
      this.#set(name, {
        state: "failed",
        problem: { kind: "provider", message, hint: "Check it has not expired.", detail: "", ref: "" },
      });
      return;
    }
    this.models = [
      ...this.models.filter((m) => m.connection !== name),
      model(name, "large", `${connection.title} Large`, {
        vision: true,
        reasoning: true,
        context_tokens: 200_000,
      }),
      model(name, "small", `${connection.title} Small`),
    ];
    this.#set(name, {
      state: "ok",
      problem: null,
      latency_ms: 212,
      checked: new Date().toISOString(),
    });
  }

  async Unlock(passphrase: string): Promise<void> {
    if (passphrase === "wrong") {
      throw new AppError({
        kind: "not_allowed",
        message: "This passphrase does not open the file of keys.",
        hint: "Try again.",
        ref: "",
      });
    }
    this.locked = false;
    this.#bus.changed("models");
  }

  async SetCapabilities(
    name: string,
    tools: boolean,
    vision: boolean,
    reasoning: boolean,
  ): Promise<void> {
    this.models = this.models.map((m) =>
      m.name === name ? { ...m, tools, vision, reasoning } : m,
    );
    this.#bus.changed("models");
  }

  async SetDefault(name: string): Promise<void> {
    this.default = name;
    this.#bus.changed("models");
  }

  async ScanLocal(): Promise<t.LocalServer[]> {
    await new Promise((r) => setTimeout(r, this.latency));
    return this.local;
  }
}
