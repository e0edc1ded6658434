/** What stands of a council outside its panel: few words, which the window has from its start. */
import type { CouncilLine, Estimate } from "../bridge/generated";
import { lasted, money } from "../format";
import { s } from "../strings";

/** Money that is a guess, or was chosen: “$0.04”. */
export function rough(dollars: number): string {
  return money({ cost: dollars, known: true }).replace(/(\.\d\d)0$/, "$1");
}

/** “66 ms”, “11.8 s”, “2 min 5 s”. */
export function took(ms: number): string {
  if (ms < 100) return ms > 0 ? s.units.milliseconds(Math.ceil(ms)) : s.units.seconds(0);
  return lasted(ms);
}

/** The place at the table that a letter is of: “a” is the first. */
export function placeOf(letter: string, otherwise: number): number {
  return /^[a-z]$/.test(letter) ? letter.charCodeAt(0) - 97 : otherwise;
}

/** “3 members · 11.8 s · $0.037 · 1 disagreement” */
export function folded(line: CouncilLine): string {
  return [
    s.council.memberCount(line.members),
    ...(line.silent > 0
      ? [line.silent === line.members ? s.council.silentAll : s.council.silentSome(line.silent)]
      : []),
    took(line.ms),
    money(line),
    ...(line.disagree > 0 ? [s.council.disagreements(line.disagree)] : []),
  ].join(" · ");
}

/** “about $0.04 · about 12 s”, as far as it is known. */
export function brief(e: Estimate | null): string {
  if (!e) return "";
  return [
    ...(e.known && e.cost > 0 ? [s.council.about(rough(e.cost))] : []),
    ...(e.seconds > 0 ? [s.council.about(s.units.seconds(Math.max(1, Math.round(e.seconds))))] : []),
  ]
    .map((part) => ` · ${part}`)
    .join("");
}
