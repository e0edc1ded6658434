/**
 * The requests that wait for a person, the rules that were made, and the pause
 * switch. It shows and passes on; what an answer means is decided in the core.
 */
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { AppError, type Bridge } from "../bridge/calls";
import type { Notices } from "../bridge/events";
import type { Answer, Call, PermissionRequest, Rule, Unattended, Undo } from "../bridge/generated";
import { Pulled } from "../bridge/pulled.svelte";
import { fits } from "./summary";

/** Requests drawn as one card, asked in the same message: the same tool, or all that only read. */
export interface Batch {
  /** The id of its first request, so that the card stays the same when requests join it. */
  key: string;
  requests: PermissionRequest[];
}

/** What a person has written in the card of a request. */
interface Written {
  /** The arguments as they were edited; null as they were asked with. */
  edited: string | null;
  /** Why it is not allowed; null while that is not being written. */
  why: string | null;
}

const nothing: Written = { edited: null, why: null };

/**
 * Whether a card for several shows all there is to know of a request. What a hook changed, what
 * would change or be sent, invisible characters, a program or a connection, and what is longer
 * than a few lines are looked at by themselves.
 */
function showsInBatch(request: PermissionRequest): boolean {
  const said = request.hidden + request.marks.length + request.warnings.length;
  const more = request.original !== null || request.preview !== null || said > 0;
  return !more && (!request.fixed || request.reads) && fits(request.arguments);
}

export class PermissionsState extends Pulled {
  requests = $state.raw<PermissionRequest[]>([]);
  paused = $state.raw(false);
  /** What is left of the time in which tools run without asking; null while they ask. */
  unattended = $state.raw<Unattended | null>(null);
  grants = $state.raw<Rule[]>([]);
  grantsReady = $state.raw(false);
  /** The request to bring into view, its heading focused; the card sets it back to "". */
  focused = $state.raw("");

  readonly calls = $derived(this.requests.filter((r) => r.kind === "call"));

  #answering = new Set<string>();
  #wantGrants = false;

  constructor(
    private bridge: Bridge,
    notices: Notices,
    /** Hears of each request the first time it is seen. */
    private onasked: (request: PermissionRequest) => void,
  ) {
    super(notices, "permissions");
  }

  protected override async pull(): Promise<void> {
    const list = await this.bridge.permissions.Requests();
    const known = new Set(this.requests.map((r) => r.id));
    this.requests = list.requests;
    // A request that was answered by then must not take the focus later.
    if (!list.requests.some((r) => r.id === this.focused)) this.focused = "";
    this.#forget();
    this.paused = list.paused;
    this.unattended = list.unattended;
    if (this.#wantGrants) {
      this.grants = (await this.bridge.permissions.Rules()).grants;
      this.grantsReady = true;
    }
    this.revision = Math.max(this.revision, list.revision);
    for (const request of list.requests) if (!known.has(request.id)) this.onasked(request);
  }

  /** Requests whose cards stand elsewhere than in their conversation. */
  #placed = new SvelteSet<string>();

  /** Requests are shown elsewhere than in their conversation; until the function returned is called. */
  place(ids: string[]): () => void {
    for (const id of ids) this.#placed.add(id);
    return () => {
      for (const id of ids) this.#placed.delete(id);
    };
  }

  /** Whether the card of a request stands elsewhere than in its conversation. */
  placed(id: string): boolean {
    return this.#placed.has(id);
  }

  /** What is written in cards, by request: a card comes and goes with what is in view. */
  #written = new SvelteMap<string, Written>();
  /** Requests that are looked at one by one. */
  #alone = new SvelteSet<string>();

  /** What is written in the card of a request. */
  written(id: string): Written {
    return this.#written.get(id) ?? nothing;
  }

  /** Keeps what is written in the card of a request until there is an answer. */
  write(id: string, change: Partial<Written>): void {
    const now = { ...this.written(id), ...change };
    if (now.edited === null && now.why === null) this.#written.delete(id);
    else this.#written.set(id, now);
  }

  /** Shows each request of a batch as a separate card. */
  review(batch: Batch): void {
    for (const { id } of batch.requests) this.#alone.add(id);
  }

  /** Drops text that was written in cards that are gone. */
  #forget(): void {
    const ids = new Set(this.requests.map((r) => r.id));
    for (const kept of [this.#written, this.#alone])
      for (const id of [...kept.keys()]) if (!ids.has(id)) kept.delete(id);
  }

  /** The requests that wait in one message of a chat, oldest first. */
  batches(conversation: string, seq: number): Batch[] {
    const here = (r: PermissionRequest) => r.conversation === conversation && r.seq === seq && !this.#placed.has(r.id);
    return this.#batch(this.calls.filter(here));
  }

  /** The batch in which a call waits; null if it does not wait. */
  batchOf(conversation: string, seq: number, call: Call): Batch | null {
    const asks = (r: PermissionRequest) => r.id === call.request || (call.id !== "" && r.call === call.id);
    return this.batches(conversation, seq).find((b) => b.requests.some(asks)) ?? null;
  }

  /** The requests of a chat that belong to no message; of "" those that belong to no chat. */
  loose(conversation: string): Batch[] {
    return this.batches(conversation, 0);
  }

  #batch(requests: PermissionRequest[]): Batch[] {
    const batches = new Map<string, Batch>();
    for (const request of requests) {
      const { id } = request;
      const joins = showsInBatch(request) && !this.#alone.has(id) && !this.#written.has(id);
      const kind = request.reads ? "" : request.tool;
      const alike = `${kind}\n${request.caller}\n${joins ? "" : id}`;
      const batch = batches.get(alike);
      if (batch) batch.requests.push(request);
      else batches.set(alike, { key: id, requests: [request] });
    }
    return [...batches.values()];
  }

  /** Answers one request once. Returns false if it was settled before or has grown. Other errors are thrown. */
  async answer(request: PermissionRequest, answer: Answer): Promise<boolean> {
    if (this.#answering.has(request.id)) return true;
    this.#answering.add(request.id);
    try {
      await this.bridge.permissions.Answer(request.id, request.nonce, answer);
      this.requests = this.requests.filter((r) => r.id !== request.id);
      this.#forget();
      return true;
    } catch (cause) {
      const error = AppError.of(cause);
      if (error.kind !== "conflict" && error.kind !== "not_found") throw error;
      await this.refresh();
      return false;
    } finally {
      this.#answering.delete(request.id);
    }
  }

  async openGrants(): Promise<void> {
    this.#wantGrants = true;
    await this.refresh();
  }

  async revoke(id: string): Promise<Undo> {
    const undo = await this.bridge.permissions.Revoke(id);
    await this.refresh();
    return undo;
  }

  async setPaused(paused: boolean): Promise<void> {
    this.paused = paused;
    await this.bridge.permissions.SetPaused(paused);
  }

  async startUnattended(minutes: number, calls: number, spend: number): Promise<void> {
    await this.bridge.permissions.StartUnattended(minutes, calls, spend);
    await this.refresh();
  }

  async endUnattended(): Promise<void> {
    this.unattended = null;
    await this.bridge.permissions.EndUnattended();
  }
}
