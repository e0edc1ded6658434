import { parsed, shown } from "./arguments";

/** A call's arguments in one line: “path: Reports/tuesday.md, text: Three things…”. */
export function summary(json: string): string {
  try {
    const value = parsed(json);
    if (typeof value !== "object" || value === null) return json;
    return Object.entries(value)
      .map(([name, v]) => `${name}: ${shown(v).split("\n", 1)[0]}`)
      .join(", ");
  } catch {
    return json;
  }
}
