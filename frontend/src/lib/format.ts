/** Times, sizes and names as a person reads them. */
import { s } from "./strings";

const dayMS = 24 * 60 * 60 * 1000;

function midnight(d: Date): number {
  return new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime();
}

const two = (n: number) => String(n).padStart(2, "0");

// Without Intl: a window's start would wait for its tables, and hold them.
const clock = (d: Date) => `${two(d.getHours())}:${two(d.getMinutes())}`;

const weekday = (d: Date) => s.dates.days[d.getDay()] as string;
const month = (d: Date) => s.dates.months[d.getMonth()] as string;

/** “14:05” */
export function time(iso: string): string {
  return iso ? clock(new Date(iso)) : "";
}

/** “Saturday, November 21, 2026 at 14:05”, for a tooltip. */
export function fullTime(iso: string): string {
  if (!iso) return "";
  const d = new Date(iso);
  return s.dates.full(weekday(d), month(d), d.getDate(), d.getFullYear(), clock(d));
}

/** “14:05” today, else with the day before it, as when has it: “Tuesday 14:05”; with seconds “14:05:09”. */
export function moment(iso: string, seconds: boolean, now = new Date()): string {
  if (!iso) return "";
  const then = new Date(iso);
  const at = clock(then) + (seconds ? `:${two(then.getSeconds())}` : "");
  return midnight(then) === midnight(now) ? at : `${when(iso, now)} ${at}`;
}

/** “14:05” today, “Tuesday” within a week, “Oct 3” within a year, else “Oct 3, 2025”. */
export function when(iso: string, now = new Date()): string {
  if (!iso) return "";
  const then = new Date(iso);
  const days = Math.round((midnight(now) - midnight(then)) / dayMS);
  if (days <= 0) return clock(then);
  if (days === 1) return s.sidebar.yesterday.toLowerCase();
  if (days < 7) return weekday(then);
  const short = month(then).slice(0, 3);
  if (days < 365) return s.dates.day(short, then.getDate());
  return s.dates.dayOf(short, then.getDate(), then.getFullYear());
}

/** The name of a folder, of its path. */
export const folderName = (path: string): string => path.split(/[\\/]/).at(-1) || path;

/** The heading of a ChatGroup key. */
export function groupTitle(key: string, now = new Date()): string {
  if (key === "pinned") return s.sidebar.pinned;
  if (key === "found") return s.sidebar.found;
  if (key.startsWith("project:")) return folderName(key.slice("project:".length)) || s.sidebar.noProject;
  const [year = 0, number = 1, day] = key.split("-").map(Number);
  if (day === undefined) return s.dates.month(month(new Date(year, number - 1, 1)), year);
  const then = new Date(year, number - 1, day);
  const days = Math.round((midnight(now) - then.getTime()) / dayMS);
  if (days <= 0) return s.sidebar.today;
  if (days === 1) return s.sidebar.yesterday;
  return weekday(then);
}

/** “11.8 s”, “2 min 5 s”, “10 min”. */
export function lasted(ms: number): string {
  if (ms === 0) return s.units.seconds(0);
  if (ms < 59_950) return s.units.seconds((ms / 1000).toFixed(1));
  const seconds = Math.round(ms / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return rest ? s.units.minutesSeconds(minutes, rest) : s.units.minutes(minutes);
}

/** “1.4 ms”, “84 ms”, and from a second on as lasted has it. */
export function duration(ms: number): string {
  if (ms >= 1000) return lasted(ms);
  return s.units.milliseconds(ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms));
}

/** “Ada, Ben, Cleo” */
export function commas(names: readonly string[]): string {
  return names.join(s.numbers.comma);
}

/** How a text begins, on one line. */
export function beginning(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}

/** Bytes as “12 KiB”, “3.4 MiB”, in the units of limit.Size of the program. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [n, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "KiB"] : [bytes / 1024 / 1024, "MiB"];
  return `${unit === "KiB" ? Math.round(n) : n.toFixed(1)} ${unit}`;
}

/** What something cost, in words; as cost.Words of the program has them. */
export function money({ cost, known }: { cost: number; known: boolean }): string {
  if (cost < 0.001) return known ? (cost ? s.cost.under : s.cost.none) : s.cost.unknown;
  const dollars = `$${cost.toFixed(cost < 0.1 ? 3 : 2).replace(/(\.\d\d)0$/, "$1")}`;
  return known ? dollars : s.cost.atLeast(dollars);
}
