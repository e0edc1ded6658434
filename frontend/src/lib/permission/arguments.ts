/**
 * A call's arguments as a person reads them. They are a model's words: each is
 * bounded; the card says what is left out, and the JSON has it.
 */

/** How many arguments are listed, and how long a name and a value may be, in characters. */
const maxRows = 12;
const maxName = 60;
const maxValue = 2000;

interface Row {
  /** “Due date” for due_date. */
  label: string;
  value: string;
  /** How many characters of the value are left out. */
  cut: number;
}

interface Listed {
  rows: Row[];
  /** How many arguments are left out. */
  more: number;
}

/** Marks a number that stays as it is written; no text that the core shows has this character. */
const mark = "\u0000";

/** JSON of which numbers that JavaScript would round are texts with a mark before them. */
export function parsed(json: string): unknown {
  const exact = json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (piece) =>
    piece.startsWith('"') || String(Number(piece)) === piece ? piece : `"\\u0000${piece}"`,
  );
  return JSON.parse(exact);
}

/** A value as a person reads it: a text as it is, all else as JSON. */
export function shown(value: unknown, indent?: number): string {
  if (typeof value === "string") return value.replace(mark, "");
  return JSON.stringify(value, null, indent).replace(/"\\u0000([^"]*)"/g, "$1");
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
  return { rows: all.slice(0, maxRows).map(row), more: Math.max(0, all.length - maxRows) };
}

function row([name, value]: [string, unknown]): Row {
  const text = shown(value, 2);
  return {
    label: label(name),
    value: text.slice(0, maxValue),
    cut: Math.max(0, text.length - maxValue),
  };
}

function label(name: string): string {
  const words = name.replace(/[_\s-]+/g, " ").trim();
  const shown = words.charAt(0).toUpperCase() + words.slice(1);
  return shown.length > maxName ? `${shown.slice(0, maxName - 1)}…` : shown;
}
