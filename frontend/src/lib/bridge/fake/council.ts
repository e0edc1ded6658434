/** The council of a scene and its runs, which a test may change. */
import { AppError } from "../calls";
import type * as t from "../generated";
import type { Asked } from "../fake";
import type { FakeBus } from "./bus";
import type { Scene } from "./scene";

export class FakeCouncil {
  settings: t.CouncilSettings;
  choices: t.CouncilChoices;
  runs: t.Run[];
  helped: Record<string, t.HelpedCount>;

  constructor(
    private bus: FakeBus,
    private scene: Scene,
    private asked: Asked[],
  ) {
    this.settings = scene.of("Council.Settings");
    this.choices = scene.of("Council.Choices");
    this.helped = scene.of("Council.Helped");
    this.runs = [...scene.all<t.Run>("Council.Run").values()];
  }

  /** Notes what was asked, as it was then. */
  private note(name: string, ...args: unknown[]): void {
    this.asked.push({ name: `Council.${name}`, args: structuredClone(args) });
  }

  private keep(change: Partial<t.CouncilSettings>): void {
    this.settings = { ...this.settings, ...structuredClone(change) };
    this.bus.changed("councils");
  }

  /** Keeps the council. */
  async Set(conversation: string, scope: string, council: t.Council): Promise<void> {
    this.note("Set", conversation, scope, council);
    this.keep({ council });
  }

  /** Keeps the council there; the scopes before it have none any longer. */
  async Move(conversation: string, scope: string, council: t.Council): Promise<t.Undo> {
    this.note("Move", conversation, scope, council);
    this.keep({ council, scope });
    return { token: "undo", sentence: `The council now applies to “${scope}”.` };
  }

  async Use(conversation: string, on: boolean): Promise<t.Undo> {
    this.note("Use", conversation, on);
    this.keep({ council: { ...this.settings.council, enabled: on } });
    return { token: "undo", sentence: `The council is ${on ? "on" : "off"} in this chat.` };
  }

  async UseEverywhere(conversation: string, on: boolean): Promise<t.Undo> {
    this.note("UseEverywhere", conversation, on);
    this.keep({ everywhere: on });
    return { token: "undo", sentence: `All chats are answered ${on ? "with" : "without"} it.` };
  }

  /** Adds a run, or takes its newest state. */
  add(run: t.Run): t.Run {
    this.runs = [...this.runs.filter((r) => r.run !== run.run), run];
    this.bus.changed("councils", run.conversation);
    return run;
  }

  /** Changes lanes of a run, as they change while it is watched. */
  change(id: string, lanes: t.Lane[], head: Partial<t.Run> = {}): void {
    const run = Object.assign(this.of(id), head);
    run.lanes = run.lanes.map((l) => lanes.find((n) => n.member === l.member) ?? l);
    run.revision = this.bus.changed("council", id);
  }

  of(id: string): t.Run {
    const found = [...this.runs, this.scene.find<t.OpenedRun>("Council.Open")?.view].find((r) => r?.run === id);
    if (!found) throw new Error(`the scene has no run ${id}`);
    return found;
  }

  /** A scope of a chat is always that of the chat that asks. */
  async Settings(conversation = ""): Promise<t.CouncilSettings> {
    const { scope } = this.settings;
    const own = scope.startsWith("chat ") ? scope : `chat ${conversation}`;
    return { ...structuredClone(this.settings), own, revision: this.bus.revision("councils") };
  }

  async Choices(): Promise<t.CouncilChoices> {
    return structuredClone(this.choices);
  }

  async Presets(): Promise<t.CouncilPreset[]> {
    return structuredClone(this.choices.presets);
  }

  private setPresets(presets: t.CouncilPreset[]): void {
    this.choices = { ...this.choices, presets };
    this.bus.changed("councils");
  }

  private named(name: string): boolean {
    return this.choices.presets.some((preset) => preset.name === name);
  }

  async AddPreset(name: string, set: t.Council): Promise<string> {
    this.note("AddPreset", name, set);
    let free = name;
    for (let n = 2; this.named(free); n++) free = `${name} ${n}`;
    const council = { ...structuredClone(set), name: free };
    const members = council.members.map((m) => m.name);
    const added = { name: free, sentence: "", own: true, mode: council.mode, members, council };
    this.setPresets([...this.choices.presets, added]);
    return free;
  }

  async RenamePreset(name: string, to: string): Promise<void> {
    this.note("RenamePreset", name, to);
    if (this.named(to)) throw new AppError(this.scene.failures["Council.RenamePreset"] as t.Failure);
    this.setPresets(
      this.choices.presets.map((preset) =>
        preset.own && preset.name === name ? { ...preset, name: to, council: { ...preset.council, name: to } } : preset,
      ),
    );
  }

  async DeletePreset(name: string): Promise<t.Undo> {
    this.note("DeletePreset", name);
    this.setPresets(this.choices.presets.filter((preset) => !preset.own || preset.name !== name));
    return { token: "undo", sentence: `The preset “${name}” was deleted.` };
  }

  async Contexts(_conversation: string, set: t.Council): Promise<Record<string, t.ContextCount>> {
    const tokens = (m: t.Member) => (m.context.policy === "question" ? 38 : 1180);
    return Object.fromEntries(set.members.map((m) => [m.id, { tokens: tokens(m), why: "" }]));
  }

  async Runs(conversation: string): Promise<t.RunHeader[]> {
    return this.runs
      .filter((r) => r.conversation === conversation)
      .map((r) => ({
        ...r,
        cut_off: !r.live && r.state !== "over",
        disagree: r.result?.disagreement.length ?? 0,
        ms: r.spent.ms,
        cost: r.spent.known ? r.spent.cost : null,
        seats: [],
      }));
  }

  async Run(id: string): Promise<t.Run> {
    return structuredClone(this.of(id));
  }

  async Helped(): Promise<Record<string, t.HelpedCount>> {
    return this.helped;
  }

  async Avatar(data: string): Promise<string> {
    this.note("Avatar", data);
    return "picture-1";
  }

  async ReadCouncil(text: string): Promise<t.Council> {
    return JSON.parse(text) as t.Council;
  }
}
