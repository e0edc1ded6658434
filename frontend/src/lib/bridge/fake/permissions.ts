/** The requests that wait, and the rules, of a scene. */
import type * as t from "../generated";
import type { FakeBus } from "./bus";
import type { Conversation, FakeChats } from "./chats";
import { sample, type Scene } from "./scene";

/** The call of a recorded tool that writes a note, which a person is asked about. */
export const note = (file: string, change: Partial<t.Call> = {}): t.Call => ({
  ...sample().call,
  summary: `path: Reports/${file}, text: Three things to do on Tuesday.`,
  ...change,
});

export class FakePermissions {
  requests: t.PermissionRequest[];
  grants: t.Rule[];
  unattended: t.Unattended | null = null;
  mode: t.PermissionMode = "standard";
  /** The rules that were made on the page, as they were written. */
  drafts: t.RuleDraft[] = [];

  constructor(
    private bus: FakeBus,
    private chats: FakeChats,
    private scene: Scene,
  ) {
    this.requests = scene.of<t.PermissionRequestList>("Permissions.Requests").requests;
    this.grants = scene.of<t.RuleList>("Permissions.Rules").grants;
  }

  /** Puts a call of an answer, the last of a chat, before the person. */
  ask(c: Conversation, call: t.Call, args: unknown): void {
    const entry = c.entries.at(-1);
    if (!entry) throw new Error("a request needs an answer that it belongs to");
    const { id } = this.put(call, args, { conversation: c.chat.id, seq: entry.seq });
    const asked: t.Call = { ...sample().call, ...call, id, state: "waiting", request: id };
    entry.parts.push({ ...sample().callPart, index: entry.parts.length, call: asked });
    entry.part_count = entry.parts.length;
    c.waiting = true;
    this.chats.busy(c, "permission", { tool: call.title });
    this.bus.changed("chat", c.chat.id);
    this.bus.changed("permissions");
  }

  /** Puts what a plugin does by itself before the person: it belongs to no chat. */
  askAlone(call: t.Call, args: unknown): void {
    const title = `${call.plugin} wants to ${call.doing}`;
    const scopes: t.Scope[] = ["once", "until-quit", "always"];
    const alone = { conversation: "", project: "", seq: 0, call: "" };
    this.put(call, args, { ...alone, title, fixed: true, only: [], scopes });
    this.bus.changed("permissions");
  }

  private put(call: t.Call, args: unknown, more: Partial<t.PermissionRequest>): t.PermissionRequest {
    const id = `request-${this.requests.length + 1}`;
    const request: t.PermissionRequest = {
      ...sample().request,
      id,
      nonce: `nonce-${id}`,
      plugin: call.tool.split(":")[0] ?? "",
      plugin_name: call.plugin,
      tool: call.tool,
      title: `Demo guide wants to ${call.doing}`,
      name: call.title,
      arguments: JSON.stringify(args, null, 2),
      call: id,
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

  async Requests(): Promise<t.PermissionRequestList> {
    const { requests, unattended } = this;
    const revision = this.bus.revision("permissions");
    return { revision, requests: [...requests], paused: false, unattended };
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

  async Matrix(): Promise<t.Matrix> {
    const revision = this.bus.revision("permissions");
    return { ...this.scene.of<t.Matrix>("Permissions.Matrix"), revision, mode: this.mode };
  }

  async SetMode(mode: t.PermissionMode): Promise<t.Undo> {
    this.mode = mode;
    this.bus.changed("permissions");
    return this.scene.acts["Permissions.SetMode"] as t.Undo;
  }

  async AddRule(draft: t.RuleDraft): Promise<t.Undo> {
    this.drafts.push(draft);
    this.grants.push({ ...sample().rule, id: `grant-${this.grants.length + 1}` });
    this.bus.changed("permissions");
    return this.scene.acts["Permissions.AddRule"] as t.Undo;
  }
}
