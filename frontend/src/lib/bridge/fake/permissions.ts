/** The requests that wait, and the rules, of a scene. */
import type * as t from "../generated";
import type { FakeBus } from "./bus";
import type { Conversation, FakeChats } from "./chats";

/** How long a rule holds, in words. */
const until: Partial<Record<t.Scope, string>> = {
  "this-chat": "in this chat",
  "until-quit": "until Conclave quits",
};

/** The folder of the file that arguments name. */
function folderOf(args: unknown): string {
  const path = String((args as { path?: string } | null)?.path ?? "");
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export class FakePermissions {
  grants: t.Rule[] = [];
  requests: t.PermissionRequest[] = [];
  paused = false;
  unattended: t.Unattended | null = null;
  mode: t.PermissionMode = "standard";
  /** The rules that were made on the page, as they were written. */
  drafts: t.RuleDraft[] = [];
  /** The rows of the table of plugins. */
  rows: t.MatrixRow[] = [];
  /** What a rule or a mode would have made of last week's calls. */
  trial: t.Trial = {
    sentence: "Of 42 calls in the last 7 days, 31 would have been asked about instead of 4.",
    rule: "",
    calls: [],
    more: 0,
  };

  constructor(
    private bus: FakeBus,
    private chats: FakeChats,
  ) {}

  /** Puts a call of an answer, the last of a chat, before the person. */
  ask(c: Conversation, call: t.Call, args: unknown): void {
    const entry = c.entries.at(-1);
    if (!entry) throw new Error("a request needs an answer that it belongs to");
    const { id } = this.put(call, args, {
      conversation: c.chat.id,
      project: c.chat.project,
      seq: entry.seq,
    });
    this.chats.call(entry, { ...call, id, state: "waiting", request: id, decision: "" });
    c.waiting = true;
    this.chats.busy(c, "permission", { tool: call.title });
    this.bus.changed("chat", c.chat.id);
    this.bus.changed("permissions");
  }

  /** Puts what a plugin does by itself before the person: it belongs to no chat. */
  askAlone(call: t.Call, args: unknown): void {
    const title = `${call.plugin} wants to ${call.doing}`;
    const scopes: t.Scope[] = ["once", "until-quit", "always"];
    this.put(call, args, { title, call: "", fixed: true, only: [], scopes });
    this.bus.changed("permissions");
  }

  private put(
    call: t.Call,
    args: unknown,
    more: Partial<t.PermissionRequest>,
  ): t.PermissionRequest {
    const id = `request-${this.requests.length + 1}`;
    const plugin = call.tool.split(":")[0] ?? "";
    const request: t.PermissionRequest = {
      id,
      nonce: `nonce-${id}`,
      kind: "call",
      caller: "main",
      plugin,
      plugin_name: call.plugin,
      tool: call.tool,
      title: `Demo guide wants to ${call.doing}`,
      name: call.title,
      capabilities: ["write files"],
      arguments: JSON.stringify(args, null, 2),
      reach: "Can touch: its own storage folder only.",
      care: "",
      reason: "Asked because: first time this tool writes in this chat.",
      history: "Allowed 4 times, last on Tuesday.",
      folder: folderOf(args),
      conversation: "",
      chat_title: "Counting words",
      project: "",
      seq: 0,
      call: id,
      count: 1,
      scopes: [
        "once",
        "this-answer",
        "this-chat",
        ...(more.project ? (["this-project"] as const) : []),
        "until-quit",
        "always",
      ],
      only: ["only in /home/ada/Documents/Notes"],
      asked: new Date().toISOString(),
      expires: new Date(Date.now() + 600_000).toISOString(),
      hidden: 0,
      marks: [],
      warnings: [],
      trust: "",
      here: "",
      fixed: false,
      hurried: false,
      reads: false,
      council: false,
      lasting: "always, only in /home/ada/Documents/Notes",
      original: null,
      preview: null,
      ...more,
    };
    this.requests.push(request);
    return request;
  }

  /** Another request joins one that waits. */
  join(): void {
    this.requests = this.requests.map((r) => ({ ...r, nonce: `${r.nonce}+`, count: r.count + 1 }));
    this.bus.changed("permissions");
  }

  grant(plugin: string, title: string, scope: t.Scope): void {
    this.grants.push({
      id: `grant-${this.grants.length + 1}`,
      effect: "allow",
      plugin: plugin.toLowerCase(),
      plugin_name: plugin,
      tool: title,
      scope,
      sentence: `${plugin} may run ${title}, when I ask, ${until[scope] ?? scope}.`,
      made: new Date().toISOString(),
      last_used: new Date().toISOString(),
      uses: 1,
      unused: false,
      unreadable: false,
    });
  }

  async Requests(): Promise<t.PermissionRequestList> {
    const { requests, paused, unattended } = this;
    return {
      revision: this.bus.revision("permissions"),
      requests: [...requests],
      paused,
      unattended,
    };
  }

  async StartUnattended(minutes: number, calls: number, spend: number): Promise<void> {
    const until = new Date(Date.now() + minutes * 60_000).toISOString();
    this.unattended = { until, calls, spend };
    this.bus.changed("permissions");
  }

  async EndUnattended(): Promise<void> {
    this.unattended = null;
    this.bus.changed("permissions");
  }

  async Rules(): Promise<t.RuleList> {
    return { revision: this.bus.revision("permissions"), grants: [...this.grants] };
  }

  /** Puts a plugin into the table: what it can, and what becomes of such calls. */
  row(name: string, can: Record<string, [t.Access, t.Access]>, more: Partial<t.MatrixRow> = {}) {
    this.rows.push({
      plugin: name.toLowerCase().replaceAll(" ", "-"),
      name,
      standing: "",
      waits: false,
      cells: Object.entries(can).map(([capability, [main, council]]) => ({
        capability,
        tools: 2,
        main,
        council,
      })),
      all: null,
      last_used: new Date().toISOString(),
      unused: false,
      ...more,
    });
  }

  async Matrix(): Promise<t.Matrix> {
    const columns = new Set(this.rows.flatMap((row) => row.cells.map((c) => c.capability)));
    const revision = this.bus.revision("permissions");
    return { revision, mode: this.mode, columns: [...columns], rows: [...this.rows] };
  }

  async Tools(plugin: string): Promise<t.ToolAccess[]> {
    const row = this.rows.find((r) => r.plugin === plugin);
    const tool = (name: string): t.ToolAccess => ({
      tool: name.toLowerCase().replaceAll(" ", "_"),
      name,
      capabilities: row?.cells.map((c) => c.capability) ?? [],
      main: "ask",
      main_why: "first time this tool runs",
      council: "allow",
      council_why: "computing and its own storage need no permission",
    });
    return row?.cells.length ? [tool("Write note"), tool("Read note")] : [];
  }

  async TryMode(): Promise<t.Trial> {
    return this.trial;
  }

  async TryRule(draft: t.RuleDraft): Promise<t.Trial> {
    return { ...this.trial, rule: ruleOf(draft) };
  }

  async SetMode(mode: t.PermissionMode): Promise<t.Undo> {
    this.mode = mode;
    this.bus.changed("permissions");
    return { token: "undo", sentence: "The mode was changed." };
  }

  async AddRule(draft: t.RuleDraft): Promise<t.Undo> {
    this.drafts.push(draft);
    this.grant(draft.plugin, draft.tool, "always");
    this.bus.changed("permissions");
    return { token: "undo", sentence: `The rule was made: ${ruleOf(draft)}` };
  }
}

const ruleOf = ({ plugin }: t.RuleDraft) => `${plugin} has to ask each time before it runs it.`;
