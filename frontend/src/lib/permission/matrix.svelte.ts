/** What each plugin may do, as the page shows it: filtered, with one row open at most. */
import { AppError, type Bridge } from "../bridge/calls";
import type { Matrix, MatrixRow, ToolAccess } from "../bridge/generated";

export type MatrixFilter = "all" | "runs" | "risky" | "unused" | "waits";

/** Capabilities by which something of a person's leaves this computer or is changed. */
const risky = new Set(["write files", "delete", "send to the web", "run programs", "use a secret"]);

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

  #asked = 0;

  constructor(private bridge: Bridge) {}

  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const now = await this.bridge.permissions.Matrix();
      const tools = this.open ? await this.bridge.permissions.Tools(this.open) : [];
      if (asked !== this.#asked) return;
      this.now = now;
      this.tools = tools;
      this.error = null;
    } catch (cause) {
      if (asked === this.#asked) this.error = AppError.of(cause);
    }
  }

  /** Shows the tools of a plugin, or hides them. */
  async toggle(plugin: string): Promise<void> {
    if (this.open === plugin) {
      this.open = "";
      return;
    }
    const tools = await this.bridge.permissions.Tools(plugin);
    this.tools = tools;
    this.open = plugin;
  }
}

function matches(row: MatrixRow, filter: MatrixFilter): boolean {
  const cells = row.all ? [row.all] : row.cells;
  switch (filter) {
    case "runs":
      return cells.some((c) => c.main === "allowed" || c.council === "allowed");
    case "risky":
      return row.all !== null || cells.some((c) => risky.has(c.capability));
    case "unused":
      return row.unused;
    case "waits":
      return row.standing === "new" || row.standing === "changed";
    case "all":
      return true;
  }
}
