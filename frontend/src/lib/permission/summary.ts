import { named, parsed, shown } from "./arguments";

/** The names of a call's arguments with their values; null when the text is no JSON object. */
function fields(json: string): [string, string][] | null {
  try {
    const value = parsed(json);
    if (typeof value !== "object" || value === null) return null;
    return Object.entries(value).map(([name, v]) => [named(name), shown(v)]);
  } catch {
    return null;
  }
}

const written = (all: [string, string][]) => all.map(([name, v]) => `${name}: ${v}`).join(", ");

/** A call's arguments, all of them, without JSON's signs: “path: Reports/tuesday.md, text: Three things…”. */
export function summary(json: string): string {
  const all = fields(json);
  return all ? written(all) : json;
}

/** How much of one call a card for several shows. */
const most = { characters: 400, lines: 6 };

/** Whether a card for several calls has room for all that one is asked with. */
export function fits(json: string): boolean {
  const said = summary(json);
  return said.length <= most.characters && said.split("\n").length <= most.lines;
}

/**
 * How many arguments a line names, and how many characters it shows of one, and of what is none. The
 * narrowest row has room for one, both of whose ends are seen then.
 */
const line = { arguments: 4, value: 28, all: 96 };

/**
 * What a call is about, in a line: “path: Reports/tuesday.md, text: Three things…e printer.”. Short
 * values come first, which mostly name what the long ones are for.
 */
export function about(json: string): string {
  const all = fields(json);
  if (!all) return middle(json, line.all);
  const long = ([, v]: [string, string]) => Number(v.length > line.value || v.includes("\n"));
  const first = all.toSorted((a, b) => long(a) - long(b)).slice(0, line.arguments);
  return written(first.map(([name, v]) => [middle(name, line.value), middle(v, line.value)]));
}

/** A text on one line, without its middle where it has more characters than most, which is even. */
function middle(text: string, most: number): string {
  const begins = () => [...text.slice(0, most)].slice(0, most / 2 - 1).join("");
  const ends = () => [...text.slice(-most)].slice(-most / 2).join("");
  const shown = text.length > most ? `${begins()}…${ends()}` : text;
  return shown.replace(/[\s\p{Cc}]+/gu, " ").trim();
}
