/** Other programs that use Conclave's tools. */
import type { Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type { OfferableTool, ProgramList } from "../bridge/generated";
import { Pulled } from "../bridge/pulled.svelte";

export class ProgramsState extends Pulled {
  now = $state.raw<ProgramList | null>(null);
  /** The token that was made last, which is shown once, and whose it is. */
  made = $state.raw<{ name: string; token: string } | null>(null);

  readonly plugins = $derived.by(() => {
    const groups: { plugin: string; tools: OfferableTool[] }[] = [];
    for (const tool of this.now?.tools ?? []) {
      const last = groups.at(-1);
      if (last?.plugin === tool.plugin) last.tools.push(tool);
      else groups.push({ plugin: tool.plugin, tools: [tool] });
    }
    return groups;
  });
  readonly offered = $derived(this.now?.tools.filter((tool) => tool.offered).length ?? 0);

  #off: () => void;

  constructor(
    private bridge: Bridge,
    notices: Notices,
  ) {
    super(notices, "settings", "", false);
    this.#off = notices.watch("tools", "", () => void this.refresh());
  }

  override close(): void {
    this.#off();
    super.close();
  }

  protected override async pull(): Promise<void> {
    this.now = await this.bridge.programs.List();
  }

  async offer(tools: OfferableTool[], offered: boolean): Promise<void> {
    const ids = tools.filter((tool) => tool.offered !== offered).map((tool) => tool.id);
    await this.bridge.programs.Offer(ids, offered);
    await this.open();
  }

  async add(name: string): Promise<void> {
    const token = await this.bridge.programs.AddToken(name);
    this.made = { name, token };
    await this.open();
  }

  async remove(name: string): Promise<void> {
    await this.bridge.programs.Remove(name);
    if (this.made?.name === name) this.made = null;
    await this.open();
  }

  async setPort(open: boolean, port: number): Promise<void> {
    await this.bridge.programs.SetPort(open, port);
    await this.open();
  }
}
