/** The record of what tools did, of a scene. */
import type * as t from "../generated";

/** What the chats are called that no scene opens. */
const titles: Record<string, string> = { another: "Letter to the landlord" };

/** How many of the files can be put back. */
const back = (changes: t.FileChanges) => changes.files.filter((f) => !f.not_kept).length;

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
      chat_title: entry.chat ? (titles[entry.chat] ?? "Counting words") : "",
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
      undo: "",
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

  /** What calls changed, by the names in their records. */
  changes = new Map<string, t.FileChanges>();
  kept: t.OldVersions = {
    sets: 0,
    oldest: "",
    old: "0 bytes",
    now: "0 bytes",
    any: false,
    days: 30,
  };

  /** Has a call have changed files. */
  change(undo: string, changes: Partial<t.FileChanges>): void {
    this.changes.set(undo, {
      kept: true,
      files: [],
      more: 0,
      sentence: "",
      note: "",
      undone: "",
      partial: false,
      did: "",
      ...changes,
    });
  }

  async Changes(undo: string): Promise<t.FileChanges> {
    const none = { kept: false, files: [], more: 0, sentence: "", note: "", undone: "" };
    return this.changes.get(undo) ?? { ...none, partial: false, did: "" };
  }

  async Undo(undo: string): Promise<t.FileChanges> {
    const was = await this.Changes(undo);
    const did = `${back(was)} files are as before the call.`;
    this.change(undo, { ...was, undone: new Date().toISOString(), partial: false, did });
    return this.Changes(undo);
  }

  async Redo(undo: string): Promise<t.FileChanges> {
    const was = await this.Changes(undo);
    const did = `${back(was)} files are as after the call.`;
    this.change(undo, { ...was, undone: "", partial: false, did });
    return this.Changes(undo);
  }

  async OldVersions(): Promise<t.OldVersions> {
    return this.kept;
  }

  async EmptyOldVersions(): Promise<t.OldVersions> {
    this.changes.clear();
    this.kept = { ...this.kept, sets: 0, old: "0 bytes", now: "0 bytes", any: false };
    return this.kept;
  }

  async Verify(): Promise<t.ActivityReport> {
    return this.report;
  }
}
