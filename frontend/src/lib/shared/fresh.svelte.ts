/** Resources that are attached to a message and may be kept fresh: their plugin then tells when they change. */
import { SvelteMap } from "svelte/reactivity";
import type { Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type { Attached, WatchState } from "../bridge/generated";
import { Pulled } from "../bridge/pulled.svelte";
import type { Composer } from "../chat/composer.svelte";

/** Where the attachments come from that a resource became. */
export class Source {
  /** The watch of its plugin; "" while it is not kept fresh. */
  watch = $state.raw("");
  state = $state.raw<WatchState>("quiet");

  constructor(
    readonly plugin: string,
    readonly uri: string,
    readonly title: string,
  ) {}

  get fresh(): boolean {
    return this.watch !== "" && this.state !== "ended";
  }
}

export class FreshState extends Pulled {
  /** By the id of an attachment. Only those of plugins that tell of changes. */
  #sources = new SvelteMap<string, Source>();

  constructor(
    private bridge: Bridge,
    notices: Notices,
    private composer: Composer,
  ) {
    super(notices, "watches", "", false);
  }

  /** What an attachment was read from, if that can be kept fresh. */
  of(media: string): Source | undefined {
    return this.#sources.get(media);
  }

  /** Reads a resource, and attaches it to the message. */
  async attach(plugin: string, uri: string, title: string): Promise<void> {
    const files = await this.bridge.shared.AttachResource(plugin, uri, title);
    this.composer.addKept(files);
    if (!(await this.bridge.shared.Watchable(plugin))) return;
    const source = new Source(plugin, uri, title);
    for (const { id } of files) this.#sources.set(id, source);
  }

  protected override async pull(): Promise<void> {
    const watches = await this.bridge.shared.Watches();
    for (const source of this.#sources.values())
      if (source.watch) source.state = watches.find((one) => one.id === source.watch)?.state ?? "ended";
  }

  /** Has the plugin tell when the resource changes, from now on, or no longer. */
  async keep(source: Source, fresh: boolean): Promise<void> {
    const { watch } = source;
    source.watch = "";
    source.state = "quiet";
    if (watch) await this.bridge.shared.Unwatch(watch);
    if (!fresh) return;
    source.watch = await this.bridge.shared.Watch(source.plugin, source.uri);
    await this.refresh(); // it may have told already
  }

  /** Reads a resource once more, in the place of what was attached of it. It is kept fresh as before. */
  async readAgain(source: Source): Promise<void> {
    const { shared } = this.bridge;
    const before = source.watch;
    // First, so that no change after the reading is missed.
    const watch = before && (await shared.Watch(source.plugin, source.uri));
    let files: Attached[];
    try {
      files = await shared.AttachResource(source.plugin, source.uri, source.title);
    } catch (cause) {
      if (watch) await shared.Unwatch(watch);
      throw cause;
    }
    const old = [...this.#sources].filter(([, one]) => one === source).map(([id]) => id);
    for (const id of old) this.#sources.delete(id);
    for (const { id } of files) this.#sources.set(id, source);
    this.composer.replaceKept(old, files);
    source.watch = watch;
    if (before) await shared.Unwatch(before);
    await this.refresh(); // it may have changed again
  }

  /** Attachments went: what they were read from is kept fresh no longer, unless another one of it is left. */
  async gone(media: string[]): Promise<void> {
    const left = this.composer.attachments.flatMap(({ media: one }) => (one ? [this.of(one.id)] : []));
    for (const source of new Set(media.map((id) => this.of(id))))
      if (source?.watch && !left.includes(source)) await this.keep(source, false);
  }
}
