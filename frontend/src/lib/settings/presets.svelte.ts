/** The saved council presets. */
import type { Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type { Council, CouncilPreset, Undo } from "../bridge/generated";
import { Pulled } from "../bridge/pulled.svelte";
import { saveCouncil } from "../council/file";

export class PresetsState extends Pulled {
  list = $state.raw<CouncilPreset[]>([]);

  readonly own = $derived(this.list.filter((preset) => preset.own));
  readonly builtIn = $derived(this.list.filter((preset) => !preset.own));

  constructor(
    private bridge: Bridge,
    notices: Notices,
  ) {
    super(notices, "councils", "", false);
  }

  protected override async pull(): Promise<void> {
    this.list = await this.bridge.council.Presets();
  }

  async rename(preset: CouncilPreset, to: string): Promise<void> {
    await this.bridge.council.RenamePreset(preset.name, to);
    await this.open();
  }

  /** Returns the name of the copy. */
  duplicate({ name, council }: CouncilPreset): Promise<string> {
    return this.#add(name, council);
  }

  async remove(preset: CouncilPreset): Promise<Undo> {
    const undo = await this.bridge.council.DeletePreset(preset.name);
    await this.open();
    return undo;
  }

  /** Keeps the council of a file, and returns the name that it has: its own, else the file's. */
  async read(file: string, text: string): Promise<string> {
    const council = await this.bridge.council.ReadCouncil(text);
    return this.#add(council.name || file.replace(/\.json$/i, ""), council);
  }

  async #add(name: string, council: Council): Promise<string> {
    const kept = await this.bridge.council.AddPreset(name, council);
    await this.open();
    return kept;
  }

  save({ name, council }: CouncilPreset): Promise<void> {
    return saveCouncil(this.bridge, council, name);
  }
}
