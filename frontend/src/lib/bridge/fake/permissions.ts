/** The gate's waiting requests and rules, in memory. */
import { AppError } from "../calls";
import type * as t from "../generated";
import type { FakeBus } from "./bus";

interface Asked {
  pending: t.Pending;
  take: (answer: t.Answer) => void;
}

export class FakePermissions implements t.PermissionsCalls {
  readonly grants: t.Grant[] = [];
  /** Every answer that was accepted, for tests. */
  readonly answers: { request: string; answer: t.Answer }[] = [];
  paused = false;
  #asked = new Map<string, Asked>();
  #ids = 0;
  #bus: FakeBus;
  #undo: (text: string, back: () => void) => t.Undo;

  constructor(bus: FakeBus, undo: (text: string, back: () => void) => t.Undo) {
    this.#bus = bus;
    this.#undo = undo;
  }

  /** Puts a request before the person. */
  ask(
    conversation: string,
    seq: number,
    call: t.Call,
    args: string,
    change: Partial<t.Pending> = {},
  ) {
    const id = `request-${++this.#ids}`;
    const now = Date.now();
    const pending: t.Pending = {
      id,
      nonce: `nonce-${id}`,
      kind: "call",
      caller: "main",
      plugin: call.tool.split(":")[0] ?? "",
      plugin_name: call.plugin,
      tool: call.tool,
      title: `Demo guide wants to ${call.doing}`,
      name: call.title,
      capabilities: ["write files"],
      arguments: args,
      reach: "Can touch: its own storage folder only.",
      reason: "Asked because: first time this tool writes in this chat.",
      history: "Allowed 4 times, last on Tuesday.",
      conversation,
      seq,
      call: call.id,
      count: 1,
      scopes: ["once", "this-answer", "this-chat", "until-quit", "always"],
      asked: new Date(now).toISOString(),
      expires: new Date(now + 600_000).toISOString(),
      hidden: 0,
      ...change,
    };
    const answered = new Promise<t.Answer>((take) => this.#asked.set(id, { pending, take }));
    this.#bus.changed("permissions");
    return { id, answered };
  }

  settle(id: string): void {
    if (this.#asked.delete(id)) this.#bus.changed("permissions");
  }

  /** Remembers an answer and returns the rule's id. */
  grant(call: t.Call, scope: t.Scope): string {
    const id = `grant-${++this.#ids}`;
    const until: Record<string, string> = {
      "this-answer": "until this answer ends",
      "this-chat": "in this chat",
      "until-quit": "until Conclave quits",
      always: "always",
    };
    this.grants.push({
      id,
      effect: "allow",
      plugin: call.tool.split(":")[0] ?? "",
      plugin_name: call.plugin,
      tool: call.title,
      scope,
      sentence: `${call.plugin} may run ${call.title}, when I ask, ${until[scope] ?? scope}.`,
      made: new Date().toISOString(),
      last_used: new Date().toISOString(),
      uses: 1,
      unreadable: false,
    });
    this.#bus.changed("permissions");
    return id;
  }

  async Pending(): Promise<t.PendingList> {
    return {
      revision: this.#bus.revision("permissions"),
      requests: [...this.#asked.values()].map((a) => a.pending),
      paused: this.paused,
    };
  }

  async Answer(request: string, nonce: string, answer: t.Answer): Promise<void> {
    const asked = this.#asked.get(request);
    if (!asked || asked.pending.nonce !== nonce) {
      throw new AppError({
        kind: "conflict",
        message: "This request was already answered.",
        hint: "",
        ref: "",
      });
    }
    this.#asked.delete(request);
    this.answers.push({ request, answer });
    asked.take(answer);
    this.#bus.changed("permissions");
  }

  async Grants(): Promise<t.GrantList> {
    return { revision: this.#bus.revision("permissions"), grants: [...this.grants] };
  }

  async Revoke(grant: string): Promise<t.Undo> {
    const at = this.grants.findIndex((g) => g.id === grant);
    const gone = this.grants.splice(at, at < 0 ? 0 : 1);
    this.#bus.changed("permissions");
    return this.#undo("The permission was taken back.", () => {
      this.grants.push(...gone);
      this.#bus.changed("permissions");
    });
  }

  async SetPaused(paused: boolean): Promise<void> {
    this.paused = paused;
    this.#bus.changed("permissions");
  }
}
