/** The saved council presets. */
import { AppError, type Bridge } from "../bridge/calls";
import { Puller, type Notices } from "../bridge/events";
import type { Council, CouncilPreset, Undo } from "../bridge/generated";
import { saveCouncil } from "../council/file";

export class PresetsState {
  list = $state.raw<CouncilPreset[]>([]);
  ready = $state.raw(false);
  error = $state.raw<AppError | null>(null);

  readonly own = $derived(this.list.filter((preset) => preset.own));
  readonly builtIn = $derived(this.list.filter((preset) => !preset.own));

  #off: () => void;
  #puller = new Puller(
    () => 0, // presets have no revision: each notice has them pulled
    () => this.#pull(),
    (cause) => (this.error = AppError.of(cause)),
  );

  constructor(
    private bridge: Bridge,
    notices: Notices,
  ) {
    this.#off = notices.watch("councils", "", () => void this.open());
  }

  open(): Promise<void> {
    return this.#puller.refresh();
  }

  close(): void {
    this.#off();
  }

  async #pull(): Promise<void> {
    this.list = await this.bridge.council.Presets();
    this.ready = true;
    this.error = null;
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
