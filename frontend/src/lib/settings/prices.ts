/** What is paid for, in the order of the columns. */
export const priceKinds = ["input", "output", "cached"] as const;
