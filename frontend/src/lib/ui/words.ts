/** A word-level difference of two short texts. */

export interface Run {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Past this many words on a side the whole texts are shown instead: the table is quadratic. */
const most = 1500;

/** What must be removed from before and added to make after, in reading order. */
export function wordDiff(before: string, after: string): Run[] {
  const a = before.match(/\s+|[^\s]+/g) ?? [];
  const b = after.match(/\s+|[^\s]+/g) ?? [];
  if (a.length > most || b.length > most) {
    return [
      { kind: "removed", text: before },
      { kind: "added", text: after },
    ];
  }
  // Longest common subsequence, from the ends.
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] as number) + 1
          : Math.max(table[(i + 1) * width + j] as number, table[i * width + j + 1] as number);
    }
  }
  const runs: Run[] = [];
  const put = (kind: Run["kind"], text: string) => {
    const last = runs.at(-1);
    if (last?.kind === kind) last.text += text;
    else runs.push({ kind, text });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      put("same", a[i++] as string);
      j++;
    } else if (
      j >= b.length ||
      (i < a.length && (table[(i + 1) * width + j] as number) >= (table[i * width + j + 1] as number))
    ) {
      put("removed", a[i++] as string);
    } else put("added", b[j++] as string);
  }
  return runs;
}

/** How much unchanged text stays next to a difference. */
const around = 120;

/** Cuts long unchanged stretches down to the text next to differences. */
export function brief(runs: Run[]): Run[] {
  return runs.map((run, i) => {
    if (run.kind !== "same" || run.text.length <= 3 * around) return run;
    const start = i === 0 ? "" : run.text.slice(0, around);
    const end = i === runs.length - 1 ? "" : run.text.slice(-around);
    return { kind: "same", text: `${start} … ${end}` };
  });
}
