/** What the page keeps for itself in the browser's storage. */

/** What was kept at a place; null where there is nothing, or nothing that can be read. */
export function stored(place: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(place) ?? "null");
  } catch {
    return null;
  }
}

/** Keeps a value at a place. */
export function store(place: string, value: unknown): void {
  localStorage.setItem(place, JSON.stringify(value));
}
