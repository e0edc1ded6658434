/** A call's arguments in one line: “path: Reports/tuesday.md, text: Three things…”. */
export function summary(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== "object" || value === null) return json;
    return Object.entries(value)
      .map(
        ([name, v]) =>
          `${name}: ${typeof v === "string" ? v.split("\n", 1)[0] : JSON.stringify(v)}`,
      )
      .join(", ");
  } catch {
    return json;
  }
}
