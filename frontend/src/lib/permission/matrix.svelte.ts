/** What each plugin may do, as the page shows it: filtered, with one row open at most. */
import { AppError, type Bridge } from "../bridge/calls";
import { Puller } from "../bridge/events";
import type { Matrix, MatrixRow, ToolAccess } from "../bridge/generated";

export type MatrixFilter = "all" | "runs" | "risky" | "unused" | "waits";

export class MatrixState {
  now = $state.raw<Matrix | null>(null);
  error = $state.raw<AppError | null>(null);
  filter = $state.raw<MatrixFilter>("all");
  search = $state.raw("");
  /** The plugin whose tools are shown; "" is none. */
  open = $state.raw("");
  tools = $state.raw<ToolAccess[]>([]);

  readonly rows = $derived(
    (this.now?.rows ?? []).filter(
      (row) =>
        matches(row, this.filter) &&
        `${row.name} ${row.plugin}`.toLowerCase().includes(this.search.trim().toLowerCase()),
    ),
  );

  #puller = new Puller(
    () => 0, // it is pulled whenever the rules are
    () => this.#pull(),
    (cause) => (this.error = AppError.of(cause)),
  );

  constructor(private bridge: Bridge) {}

  load(): Promise<void> {
    return this.#puller.refresh();
  }

  async #pull(): Promise<void> {
    const now = await this.bridge.permissions.Matrix();
    const { open } = this;
    const tools = open ? await this.bridge.permissions.Tools(open) : [];
    if (open === this.open) this.tools = tools; // another row may have been opened by then
    this.now = now;
    this.error = null;
  }

  /** The row that was pressed last. */
  #pressed = "";

  /** Shows the tools of a plugin, or hides them. */
  async toggle(plugin: string): Promise<void> {
    this.#pressed = plugin;
    if (this.open === plugin) {
      this.open = "";
      return;
    }
    const tools = await this.bridge.permissions.Tools(plugin);
    if (this.#pressed !== plugin) return; // another row was pressed by then
    this.tools = tools;
    this.open = plugin;
  }
}

function matches(row: MatrixRow, filter: MatrixFilter): boolean {
  const cells = row.capabilities;
  switch (filter) {
    case "runs":
      return cells.some((c) => c.main === "allowed" || c.council === "allowed");
    case "risky":
      return row.all || cells.some((c) => c.risky);
    case "unused":
      return row.unused;
    case "waits":
      return row.waits || row.state === "new" || row.state === "changed";
    case "all":
      return true;
  }
}
