import { named, parsed, shown } from "./arguments";

/** A call's arguments, all of them, without JSON's signs: “path: Reports/tuesday.md, text: Three things…”. */
export function summary(json: string): string {
  try {
    const value = parsed(json);
    if (typeof value !== "object" || value === null) return json;
    return Object.entries(value)
      .map(([name, v]) => `${named(name)}: ${shown(v)}`)
      .join(", ");
  } catch {
    return json;
  }
}

/** How much of one call a card for several shows. */
const most = { characters: 400, lines: 6 };

/** Whether a card for several calls has room for all that one is asked with. */
export function fits(json: string): boolean {
  const said = summary(json);
  return said.length <= most.characters && said.split("\n").length <= most.lines;
}
