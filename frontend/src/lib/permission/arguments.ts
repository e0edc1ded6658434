/**
 * A call's arguments as a person reads them: all of them, since the one that matters may be the
 * last. They are a model's words: of a long one the beginning is shown until it is opened.
 */
import { s } from "../strings";

/** How many arguments have rows, and how long a name and the beginning of a value may be, in characters. */
const maxRows = 200;
const maxName = 60;
const maxValue = 2000;

interface Row {
  /** “Due date” for due_date. */
  label: string;
  value: string;
  /** What follows the beginning of a long value. */
  rest: string;
}

interface Listed {
  /** The last is of all arguments that have no row of their own. */
  rows: Row[];
  /** How many arguments there are. */
  count: number;
}

/**
 * Stands before a number that stays as it is written, and behind a name that is written again,
 * with how often it stands there by then. No text that the core shows has this character.
 */
const mark = "\u0000";

/**
 * JSON without what JavaScript would lose: numbers that it would round are texts, and each of
 * several members with one name gets a distinct name.
 */
export function parsed(json: string): unknown {
  /** The names of each object that is open, and how often they stand in it so far. */
  const objects: Map<string, number>[] = [];
  const pieces = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|-?\d[\d.eE+-]*|[{}]/g;
  const exact = json.replace(pieces, (piece: string, text?: string, colon?: string) => {
    if (piece === "{") objects.push(new Map());
    if (piece === "}") objects.pop();
    if (piece === "{" || piece === "}") return piece;
    if (text === undefined) return String(Number(piece)) === piece ? piece : `"\\u0000${piece}"`;
    const names = objects.at(-1);
    if (colon === undefined || !names) return piece;
    const name = JSON.parse(text) as string;
    const times = (names.get(name) ?? 0) + 1;
    names.set(name, times);
    return times === 1 ? piece : `${text.slice(0, -1)}\\u0000${times}"${colon}`;
  });
  return JSON.parse(exact);
}

/** A value as a person reads it: a text as it is, all else as JSON. */
export function shown(value: unknown, indent?: number): string {
  if (typeof value === "string") return value.replace(mark, "");
  return JSON.stringify(value, null, indent)
    .replace(
      /"([^"\\]*(?:\\.[^"\\]*)*?)\\u0000(\d+)":/g,
      (_, name: string, times: string) => `${s.tool.nameAgain(`"${name}"`, Number(times))}:`,
    )
    .replace(/"\\u0000([^"]*)"/g, "$1");
}

/** A name of a member as a person reads it; as makes the words of it. */
export function named(name: string, as = (own: string) => own): string {
  const [own = "", times] = name.split(mark);
  return times ? s.tool.nameAgain(as(own), Number(times)) : as(own);
}

/** Whether a text is a JSON object. */
export function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** The arguments in the order given; null when the text is no JSON object. */
export function listed(json: string): Listed | null {
  let value: unknown;
  try {
    value = parsed(json || "{}");
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const all = Object.entries(value);
  const rows = all.slice(0, maxRows).map(([name, v]) => row(named(name, label), shown(v, 2)));
  const more = all.slice(maxRows).map(([name, v]) => `${named(name)}: ${shown(v)}`);
  if (more.length) rows.push(row(s.tool.moreArguments(more.length), more.join("\n")));
  return { rows, count: all.length };
}

function row(label: string, text: string): Row {
  return { label, value: text.slice(0, maxValue), rest: text.slice(maxValue) };
}

function label(name: string): string {
  const words = name
    .replace(/[_\s-]+/g, " ")
    .replace(/\b(?:api|html|id|ip|json|uri|url)\b/gi, (word) => word.toUpperCase())
    .trim();
  const shown = words.charAt(0).toUpperCase() + words.slice(1);
  return shown.length > maxName ? `${shown.slice(0, maxName - 1)}…` : shown;
}
