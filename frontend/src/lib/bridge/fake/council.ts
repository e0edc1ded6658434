/** A council that stands still, and runs of it: whatever is asked is answered with what a scene put here. */
import { AppError } from "../calls";
import type * as t from "../generated";
import type { FakeBus } from "./bus";

export const spent = (change: Partial<t.Spending> = {}): t.Spending => ({
  input_tokens: 0,
  output_tokens: 0,
  ms: 0,
  cost: 0,
  known: true,
  ...change,
});

export const member = (id: string, name: string, change: Partial<t.Member> = {}): t.Member => ({
  id,
  name,
  role: "",
  persona: {},
  tools: [],
  chance: 100,
  weight: 1,
  limits: {},
  context: { policy: "", system: true, memory: true, others: true, files: true },
  ...change,
});

export const council = (members: t.Member[], change: Partial<t.Council> = {}): t.Council => ({
  enabled: members.length > 0,
  mode: "opinions",
  members,
  helper: { model: "", temperature: 0.7, top_p: 0.9, max_tokens: 1024 },
  limits: { money: 0.25 },
  toolsSettings: {
    mode: "sidecar",
    timeoutMs: 30_000,
    sidecarContextWindow: 25,
    excludeLatestUserMessage: false,
    includeUserPersona: true,
    includeCharacterInfo: true,
    includeWorldInfo: true,
    allowUserControl: false,
    maxWordsPerTool: 250,
    retainResultsForRegens: false,
  },
  ...change,
});

export const three = [
  member("researcher", "Researcher", {
    role: "Finds what is known",
    tools: ["web:search", "text:word_count"],
    context: { policy: "turns", last: 3, system: true, memory: false, others: true, files: true },
  }),
  member("sceptic", "Sceptic", {
    role: "Looks for what is wrong",
    model: "acme/large-2",
    context: { policy: "question", system: false, memory: false, others: true, files: false },
    limits: { tokens: 4000, seconds: 30 },
  }),
  member("maker", "Maker", {
    role: "Proposes what to do",
    tools: ["notes:write_note"],
    limits: { money: 0.05 },
  }),
];

export const task = (id: string, change: Partial<t.Task> = {}): t.Task => ({
  id,
  stage: 0,
  kind: "answer",
  tool: "",
  title: "",
  attempt: change.state === "waiting" || change.state === "skipped" ? 0 : 1,
  state: "done",
  phase: "" as t.LanePhase,
  note: "",
  why: "",
  hint: "",
  detail: "",
  start_ms: 0,
  end_ms: 0,
  asked_ms: 0,
  due_ms: 0,
  text: "",
  offset: 0,
  bytes: 0,
  sealed: false,
  calls: [],
  refused: 0,
  sent: 0,
  spent: spent(),
  expected: spent(),
  ...change,
});

export const called = (
  id: string,
  title: string,
  from: number,
  to: number,
  change: Partial<t.Called> = {},
): t.Called => ({
  id,
  tool: "web:search",
  title,
  state: to ? "done" : "running",
  start_ms: from,
  end_ms: to,
  request: "",
  ...change,
});

export const lane = (
  of: t.Member,
  letter: string,
  tasks: t.Task[],
  change: Partial<t.Lane> = {},
): t.Lane => ({
  member: of.id,
  name: of.name,
  role: of.role,
  letter,
  color: "",
  avatar: "",
  model: of.model || "demo/guide",
  in: true,
  why: "",
  roll: null,
  chance: of.chance,
  context: of.context,
  tools: of.tools,
  tasks,
  drawn: [],
  ratings: [],
  spent: tasks.reduce(
    (sum, one) =>
      spent({
        input_tokens: sum.input_tokens + one.spent.input_tokens,
        output_tokens: sum.output_tokens + one.spent.output_tokens,
        cost: sum.cost + one.spent.cost,
      }),
    spent(),
  ),
  ...change,
});

/** A task that has ended, with what it said and took. */
export const ended = (
  id: string,
  from: number,
  to: number,
  dollars: number,
  change: Partial<t.Task> = {},
): t.Task =>
  task(id, {
    start_ms: from,
    end_ms: to,
    bytes: 420,
    sent: 1,
    spent: spent({ input_tokens: 1240, output_tokens: 260, cost: dollars }),
    expected: spent({ input_tokens: 1300, output_tokens: 300, ms: 9000, cost: dollars && 0.01 }),
    ...change,
  });

export const chair = (tasks: t.Task[]): t.Lane => ({
  ...lane(member("", ""), "", tasks),
  model: "demo/guide",
});

export const estimate = (change: Partial<t.Estimate> = {}): t.Estimate => ({
  calls: 4,
  tools: 0,
  input_tokens: 5200,
  output_tokens: 1800,
  cost: 0.04,
  known: true,
  cap: 0.25,
  seconds: 12,
  problems: [],
  ...change,
});

export const run = (conversation: string, lanes: t.Lane[], change: Partial<t.Run> = {}): t.Run => ({
  run: "run-1",
  conversation,
  revision: 1,
  reset: false,
  turn: "turn-2",
  question: 1,
  mode: "opinions",
  state: "over",
  live: false,
  began: new Date(Date.now() - 300_000).toISOString(),
  ms: 11_800,
  due_ms: 0,
  estimate: estimate(),
  spent: spent({ input_tokens: 6100, output_tokens: 1900, ms: 11_800, cost: 0.037 }),
  early: "",
  edited: false,
  again: "",
  change: "",
  lanes,
  members: lanes.filter((l) => l.member !== "" && l.in).length,
  result: null,
  problem: "",
  ...change,
});

const tool = (
  id: string,
  title: string,
  plugin: string,
  change: Partial<t.CouncilTool> = {},
): t.CouncilTool => ({
  id,
  title,
  plugin: id.split(":")[0] ?? "",
  plugin_name: plugin,
  eligible: true,
  why: "",
  needs_helper: false,
  asks_arguments: false,
  capabilities: [],
  ...change,
});

export const tools: t.CouncilTool[] = [
  tool("web:search", "Search the web", "Web", { capabilities: ["network"] }),
  tool("text:word_count", "Word count", "Text tools"),
  tool("text:convert", "Convert units", "Text tools", { needs_helper: true }),
  tool("dice:roll", "Roll dice", "Dice", { needs_helper: true }),
  tool("notes:write_note", "Write note", "Notes", { capabilities: ["write files"] }),
  tool("mail:send", "Send mail", "Mail", {
    eligible: false,
    why: "It is switched off.",
    capabilities: ["network"],
  }),
  tool("voice_concern", "Voice a concern", "Built in", { plugin: "", needs_helper: true }),
  tool("lore:recall", "Recall lore", "Lorebook", {
    eligible: false,
    why: "Its plugin does not offer it to members.",
  }),
];

export const presets: t.CouncilPreset[] = [
  ["Three chairs", "Researcher, Sceptic and Maker answer by themselves.", "opinions"],
  ["Red team", "One drafts, two look for what is wrong with it.", "advocate"],
  ["Editor’s desk", "Writer, editor and proof-reader, one after another.", "relay"],
  ["Cost steward", "Two cheap opinions, and one that asks what they are worth.", "opinions"],
].map(([name = "", sentence = "", mode]) => ({
  name,
  sentence,
  own: false,
  council: council(three, { name, mode: mode as t.Mode }),
}));

export class FakeCouncil {
  settings: t.CouncilSettings = {
    revision: 1,
    council: council([]),
    scope: "chat chat-1",
    own: "",
    everywhere: false,
    problem: "",
  };
  choices: t.CouncilChoices = {
    scopes: [
      { scope: "chat chat-1", title: "This chat", set: true },
      { scope: "global", title: "Everywhere", set: false },
    ],
    tools,
    presets,
    models: [
      { name: "demo/guide", title: "Demo guide", tools: true, local: true },
      { name: "acme/large-2", title: "Large 2", tools: true, local: false },
      { name: "acme/small-2", title: "Small 2", tools: false, local: false },
    ],
    usual_answer: 1500,
  };
  estimate = estimate();
  runs: t.Run[] = [];
  said = new Map<string, t.Said>();
  sent = new Map<string, t.SentRequest[]>();
  diff: t.DiffLine[] = [];
  helped: Record<string, t.HelpedCount> = {};
  opened: t.OpenedRun | null = null;

  constructor(
    private bus: FakeBus,
    private asked: { name: string; args: unknown[] }[],
  ) {}

  /** Keeps the council, as the page is told of it again. */
  async Set(conversation: string, scope: string, council: t.Council): Promise<void> {
    this.asked.push({ name: "Council.Set", args: structuredClone([conversation, scope, council]) });
    this.settings = { ...this.settings, council: structuredClone(council) };
    this.bus.changed("councils");
  }

  /** Keeps the council there; the scopes before it hold none any more. */
  async Move(conversation: string, scope: string, council: t.Council): Promise<t.Undo> {
    this.asked.push({
      name: "Council.Move",
      args: structuredClone([conversation, scope, council]),
    });
    this.settings = { ...this.settings, council: structuredClone(council), scope };
    this.bus.changed("councils");
    return { token: "undo", sentence: `The council now applies to “${scope}”.` };
  }

  /** What was sent is in the newest chat that there is. */
  async Sample(): Promise<t.Sent> {
    this.asked.push({ name: "Council.Sample", args: [] });
    return { conversation: "chat-1", turn: "turn-1", seq: 1 };
  }

  async Use(conversation: string, on: boolean): Promise<t.Undo> {
    this.asked.push({ name: "Council.Use", args: [conversation, on] });
    this.settings.council.enabled = on;
    this.bus.changed("councils");
    return { token: "undo", sentence: `The council is ${on ? "on" : "off"} in this chat.` };
  }

  async UseEverywhere(conversation: string, on: boolean): Promise<t.Undo> {
    this.asked.push({ name: "Council.UseEverywhere", args: [conversation, on] });
    this.settings = { ...this.settings, everywhere: on };
    this.bus.changed("councils");
    return { token: "undo", sentence: `All chats are answered ${on ? "with" : "without"} it.` };
  }

  /** Has a run be as a scene says, and tells of it. */
  add(run: t.Run): t.Run {
    this.runs = [...this.runs.filter((r) => r.run !== run.run), run];
    this.bus.changed("councils", run.conversation);
    return run;
  }

  /** Has lanes change, as they do while a run is watched. */
  change(id: string, lanes: t.Lane[], head: Partial<t.Run> = {}): void {
    const before = this.of(id);
    Object.assign(before, head);
    before.lanes = before.lanes.map((l) => lanes.find((n) => n.member === l.member) ?? l);
    before.revision = this.bus.changed("council", id);
  }

  of(id: string): t.Run {
    const found = this.runs.find((r) => r.run === id) ?? this.opened?.view;
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

  private named(name: string): boolean {
    return this.choices.presets.some((preset) => preset.name === name);
  }

  private keep(presets: t.CouncilPreset[]): void {
    this.choices = { ...this.choices, presets };
    this.bus.changed("councils");
  }

  async AddPreset(name: string, set: t.Council): Promise<string> {
    this.asked.push({ name: "Council.AddPreset", args: structuredClone([name, set]) });
    let free = name;
    for (let n = 2; this.named(free); n++) free = `${name} ${n}`;
    const kept = { ...structuredClone(set), name: free };
    this.keep([...this.choices.presets, { name: free, sentence: "", own: true, council: kept }]);
    return free;
  }

  async RenamePreset(name: string, to: string): Promise<void> {
    this.asked.push({ name: "Council.RenamePreset", args: [name, to] });
    if (this.named(to))
      throw new AppError({
        kind: "conflict",
        message: `There is a preset “${to}” already.`,
        hint: "Choose another name.",
      });
    this.keep(
      this.choices.presets.map((preset) =>
        preset.own && preset.name === name
          ? { ...preset, name: to, council: { ...preset.council, name: to } }
          : preset,
      ),
    );
  }

  async DeletePreset(name: string): Promise<t.Undo> {
    this.asked.push({ name: "Council.DeletePreset", args: [name] });
    this.keep(this.choices.presets.filter((preset) => !preset.own || preset.name !== name));
    return { token: "undo", sentence: `The preset “${name}” was deleted.` };
  }

  async Estimate(): Promise<t.Estimate> {
    return this.estimate;
  }

  async Contexts(_conversation: string, set: t.Council): Promise<Record<string, t.ContextCount>> {
    return Object.fromEntries(
      set.members.map((m) => [
        m.id,
        { tokens: m.context.policy === "question" ? 38 : 1180, why: "" },
      ]),
    );
  }

  async Runs(conversation: string): Promise<t.RunHeader[]> {
    return this.runs
      .filter((r) => r.conversation === conversation)
      .map((r) => ({
        run: r.run,
        turn: r.turn,
        question: r.question,
        mode: r.mode,
        state: r.state,
        live: r.live,
        members: r.members,
        disagree: r.result?.disagreement.length ?? 0,
        began: r.began,
        spent: r.spent,
      }));
  }

  async Helped(): Promise<Record<string, t.HelpedCount>> {
    return this.helped;
  }

  async Run(id: string): Promise<t.Run> {
    return structuredClone(this.of(id));
  }

  async Said(_run: string, task: string): Promise<t.Said> {
    const said = this.said.get(task);
    if (!said) throw new Error(`the scene tells nothing of task ${task}`);
    return said;
  }

  async Sent(_run: string, task: string): Promise<t.SentRequest[]> {
    return this.sent.get(task) ?? [];
  }

  async Compare(): Promise<t.DiffLine[]> {
    return this.diff;
  }

  async Open(): Promise<t.OpenedRun> {
    if (!this.opened) throw new Error("the scene has no file");
    return this.opened;
  }

  async Export(id: string): Promise<t.RunFile> {
    return { name: "council-run.json", text: JSON.stringify(this.of(id)), left: [] };
  }

  async Avatar(data: string): Promise<string> {
    this.asked.push({ name: "Council.Avatar", args: [data] });
    return "picture-1";
  }

  async MemberFile(m: t.Member): Promise<string> {
    return JSON.stringify(m);
  }

  async ReadMember(text: string): Promise<t.Member> {
    return JSON.parse(text) as t.Member;
  }

  async ReadCouncil(text: string): Promise<t.Council> {
    return JSON.parse(text) as t.Council;
  }
}
