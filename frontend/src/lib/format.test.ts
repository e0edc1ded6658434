import { expect, it } from "vitest";
import { moment, when } from "./format";
import { s } from "./strings";

const now = new Date(2026, 10, 23, 15, 0);
const at = (year: number, month: number, day: number) => new Date(year, month - 1, day, 14, 5, 9).toISOString();

it("a moment says its day where that is not today, and its year after a year", () => {
  expect(moment(at(2026, 11, 23), false, now)).toBe("14:05");
  expect(moment(at(2026, 11, 22), false, now)).toBe("yesterday 14:05");
  expect(moment(at(2026, 11, 20), true, now)).toBe("Friday 14:05:09");
  expect(moment(at(2025, 12, 3), false, now)).toBe("Dec 3 14:05");
  expect(when(at(2025, 11, 24), now)).toBe("Nov 24");
  expect(when(at(2025, 11, 23), now)).toBe("Nov 23, 2025");
  expect(moment(at(2025, 10, 3), false, now)).toBe("Oct 3, 2025 14:05");
});

it("one is one", () => {
  expect(s.tool.cut(1)).toBe("1 more character is not shown.");
  expect(s.tool.cut(1200)).toBe("1,200 more characters are not shown.");
  expect(s.council.promptsElsewhere(1)).toMatch(/adds one more/);
  expect(s.council.promptsElsewhere(2)).toMatch(/adds 2 more/);
  expect(s.council.tokens(1)).toBe("1 token");
  expect(s.council.cutTokens(1)).toBe("1 token was left out.");
  expect(s.council.cutTokens(2)).toBe("2 tokens were left out.");
  expect(s.cost.chat(1, "$0.01")).toBe("1 token · $0.01");
});
