/** What plugins have for the person: prompts to begin a message with, and resources to attach to one. */
import { SvelteMap } from "svelte/reactivity";
import type { App } from "../app.svelte";
import type { Prompt, Sharer, Resource } from "../bridge/generated";

/** A line of the list over the message. */
export interface Suggestion {
  key: string;
  title: string;
  note: string;
  choose: () => void;
}

/** How many lines the list has. */
const most = 50;

export class SharedState {
  sharers = $state.raw<Sharer[]>([]);
  /** The prompt whose values a person fills in; null = none. */
  filling = $state.raw<Prompt | null>(null);
  /** A person looks for a resource. */
  choosing = $state.raw(false);
  /** Prompts and resources by plugin, as far as they were asked for. */
  #prompts = new SvelteMap<string, Prompt[]>();
  #resources = new SvelteMap<string, Resource[]>();
  #asked = new Set<string>();

  constructor(private app: App) {}

  /** Plugins came or went: what they have is asked for again when it is needed. */
  async refresh(): Promise<void> {
    this.#asked.clear();
    this.sharers = await this.app.bridge.shared.Sharers();
  }

  /** Asks each plugin once; one that does not answer has nothing. */
  #once(kind: string, sharers: Sharer[], ask: (plugin: string) => Promise<void>): void {
    for (const { plugin } of sharers) {
      const key = `${kind} ${plugin}`;
      if (this.#asked.has(key)) continue;
      this.#asked.add(key);
      void ask(plugin).catch(() => undefined);
    }
  }

  /** What a text that is being written may become: “/…” a prompt, “@plugin:…” an attached resource. */
  suggestions(text: string): Suggestion[] {
    const prompt = /^\/([^\s{]*)$/.exec(text);
    if (prompt) return this.#promptsFor(prompt[1] ?? "");
    const resource = /(?:^|\s)@([\w.-]+):(\S*)$/.exec(text);
    return resource ? this.#resourcesFor(text, resource[1] ?? "", resource[2] ?? "") : [];
  }

  #promptsFor(words: string): Suggestion[] {
    this.#once("prompts", this.sharers, async (plugin) => {
      this.#prompts.set(plugin, await this.app.bridge.shared.Prompts(plugin));
    });
    this.app.prompts.open();
    const own = this.app.prompts.named(words).map((p) => ({
      key: p.id,
      title: p.title,
      note: p.text.trim().split("\n")[0] ?? "",
      choose: () => {
        this.app.composer.changed("", 0);
        this.app.prompts.use(p);
      },
    }));
    const theirs = this.sharers
      .flatMap(({ plugin }) => this.#prompts.get(plugin) ?? [])
      .filter((p) => `${p.name} ${p.title}`.toLowerCase().includes(words.toLowerCase()))
      .slice(0, most)
      .map((p) => ({
        key: `${p.plugin}/${p.name}`,
        title: p.title,
        note: [p.plugin_name, p.description].filter(Boolean).join(" · "),
        choose: () => {
          this.app.composer.changed("", 0);
          if (p.arguments.length > 0) this.filling = p;
          else void this.app.attempt(() => this.fill(p, {}));
        },
      }));
    return [...own, ...theirs].slice(0, most);
  }

  #resourcesFor(text: string, name: string, words: string): Suggestion[] {
    const like = name.toLowerCase();
    const named = this.sharers.filter(
      (one) => one.plugin.toLowerCase().includes(like) || one.name.toLowerCase().includes(like),
    );
    this.#once("resources", named, async (plugin) => {
      this.#resources.set(plugin, (await this.app.bridge.shared.Resources(plugin)).resources);
    });
    return named
      .flatMap((from) => (this.#resources.get(from.plugin) ?? []).map((resource) => ({ from, resource })))
      .filter(({ resource: r }) => `${r.title} ${r.name} ${r.uri}`.toLowerCase().includes(words.toLowerCase()))
      .slice(0, most)
      .map(({ from, resource }) => ({
        key: `${from.plugin}/${resource.uri}`,
        title: resource.title,
        note: [from.name, resource.description || resource.uri].join(" · "),
        choose: () => {
          const left = text.slice(0, text.lastIndexOf("@"));
          this.app.composer.changed(left, left.length);
          void this.app.attempt(() => this.app.fresh.attach(from.plugin, resource.uri, resource.title));
        },
      }));
  }

  /** Puts a prompt with its values into the message, to be looked at and sent. */
  async fill(prompt: Prompt, values: Record<string, string>): Promise<void> {
    const filled = await this.app.bridge.shared.Fill(prompt.plugin, prompt.name, values);
    this.filling = null;
    this.app.composer.begin(filled.text, filled.text.length);
    this.app.composer.addKept(filled.attachments);
    this.app.wish.composer++;
  }
}
