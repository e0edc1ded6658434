/** Distinguishes members by colour, shape and letter, never by one alone. */

/** The names of the colours, in the order in which members get them. */
export const colors = ["rust", "green", "violet", "blue", "plum", "olive", "teal", "brick"] as const;

/** The colour of a tone, as CSS has it; 0 is the chair's, which is no member's. */
export function colorOf(tone: number): string {
  return tone > 0 ? `var(--member-${tone})` : "var(--text-2)";
}

/** The number of a member's colour and shape, 1 to 8: the one chosen, else that of its place. */
export function toneOf(color: string | undefined, place: number): number {
  const chosen = colors.findIndex((name) => name === color);
  return (chosen < 0 ? place % colors.length : chosen) + 1;
}
