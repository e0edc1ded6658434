/** What changed of a plugin: why a person is asked, and the lines of its code that differ. */
import type { Change } from "../bridge/generated";

/** Why a person is asked about a plugin that ran before, from its changes. */
export function whyAsked(changes: Change[]): "changed" | "listed" | "settings" {
  if (changes[0]?.field === "settings") return "settings";
  return changes.length > 0 && changes.every((c) => c.field === "listed") ? "listed" : "changed";
}

/** Whether all that a description now says otherwise is among the lines that a diff of the code shows too. */
export function repeats(change: Change, diff: string): boolean {
  if (change.field !== "description" || !diff) return false;
  const shown = diffLines(diff);
  const has = (line: string, kind: DiffLine["kind"]) => shown.some((l) => l.kind === kind && l.text.includes(line));
  const lines = (text: string, other: string) => {
    const others = new Set(other.split("\n").map((line) => line.trim()));
    return text.split("\n").flatMap((line) => (others.has(line.trim()) ? [] : [line.trim()]));
  };
  const { before, after } = change;
  return (
    lines(before, after).every((line) => has(line, "removed")) &&
    lines(after, before).every((line) => has(line, "added"))
  );
}

/** One line of a unified diff, its line end included. The words + and − stay, so colour is not all. */
interface DiffLine {
  kind: "added" | "removed" | "same" | "file" | "place";
  text: string;
}

export function diffLines(diff: string): DiffLine[] {
  const lines = diff.split(/(?<=\n)/).filter((line) => line !== "");
  return lines.map((text) => ({ kind: kindOf(text), text }));
}

function kindOf(line: string): DiffLine["kind"] {
  if (line.startsWith("=== ")) return "file";
  if (line.startsWith("@@ ")) return "place";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return "same";
}
