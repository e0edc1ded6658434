/** The record of what tools did, of a scene. */
import type * as t from "../generated";

export class FakeActivity {
  entries: t.ActivityEntry[] = [];
  report: t.ActivityReport = { ok: true, sentence: "Nothing is on record yet." };

  /** Puts an entry on record. */
  add(entry: Partial<t.ActivityEntry>): void {
    const n = this.entries.length + 1;
    this.entries.push({
      n,
      time: new Date(Date.now() - (40 - n) * 60_000).toISOString(),
      kind: "call",
      title: "Saved a note",
      chat: "",
      call: String(n),
      who: "Main assistant",
      tool: "notes:write_note",
      plugin: "notes",
      plugin_name: "Notes",
      effect: "allow",
      outcome: "ok",
      ms: 12,
      size: "31 bytes",
      sent: [],
      why: [],
      arguments: "",
      left: "",
      digest: `${n}c41aa03d79f2e`.padEnd(64, "0"),
      ...entry,
    });
  }

  async List(chat: string, plugin: string, before: number): Promise<t.ActivityList> {
    const found = this.entries
      .filter((e) => (!chat || e.chat === chat) && (!plugin || e.plugin === plugin))
      .filter((e) => !before || e.n < before)
      .reverse();
    return { entries: found.slice(0, 50), more: found.length > 50 };
  }

  async Verify(): Promise<t.ActivityReport> {
    return this.report;
  }
}
