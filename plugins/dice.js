// Dice and dates: rolls dice in the usual notation and reckons with calendar
// dates. It comes with Conclave as an example of a script that registers its
// tools; it needs no permission but to offer them.

const tools = {
  roll_dice: {
    display_name: "Roll dice",
    description: "Roll dice and return each die and the total. Notation: how many, d, how many sides, then optionally + or - a number, as in 2d6+1 or d20.",
    parameters: {
      type: "object",
      properties: { notation: { type: "string", description: "What to roll, as in 2d6+1.", pattern: "^\\s*\\d*\\s*[dD]\\s*\\d+\\s*([+-]\\s*\\d+)?\\s*$" } },
      required: ["notation"],
    },
    run: ({ notation }) => rollDice(notation),
  },
  days_between: {
    display_name: "Days between",
    description: "Count the days, weeks and weekdays from one calendar date to another.",
    parameters: {
      type: "object",
      properties: {
        from: { type: "string", format: "date", description: "The first date, as YYYY-MM-DD." },
        to: { type: "string", format: "date", description: "The second date, as YYYY-MM-DD." },
      },
      required: ["from", "to"],
    },
    run: ({ from, to }) => daysBetween(parseDate(from), parseDate(to)),
  },
  add_to_date: {
    display_name: "Add to a date",
    description: "Add days, weeks, months or years to a calendar date (a negative amount subtracts) and say what weekday it falls on.",
    parameters: {
      type: "object",
      properties: {
        date: { type: "string", format: "date", description: "The date to start from, as YYYY-MM-DD." },
        amount: { type: "integer", description: "How many to add." },
        unit: { type: "string", enum: ["days", "weeks", "months", "years"], description: "What to add." },
      },
      required: ["date", "amount", "unit"],
    },
    run: ({ date, amount, unit }) => addToDate(parseDate(date), amount, unit),
  },
};

const MAX_DICE = 100;
const MAX_SIDES = 1000;
const DAY = 24 * 60 * 60 * 1000;
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** rollDie returns a fair number from 1 to sides: values that would favour some are drawn again. */
function rollDie(sides) {
  const limit = 2 ** 32 - (2 ** 32 % sides);
  const draw = new Uint32Array(1);
  do crypto.getRandomValues(draw);
  while (draw[0] >= limit);
  return (draw[0] % sides) + 1;
}

function rollDice(notation) {
  const parts = /^\s*(\d*)\s*d\s*(\d+)\s*(?:([+-])\s*(\d+))?\s*$/i.exec(notation ?? "");
  if (!parts) throw new Error(`“${notation}” is not dice; write it like 2d6+1`);
  const count = parts[1] === "" ? 1 : Number(parts[1]);
  const sides = Number(parts[2]);
  const bonus = parts[4] ? Number(parts[4]) * (parts[3] === "-" ? -1 : 1) : 0;
  if (count < 1 || count > MAX_DICE) throw new Error(`roll 1 to ${MAX_DICE} dice at once, not ${count}`);
  if (sides < 2 || sides > MAX_SIDES) throw new Error(`a die has 2 to ${MAX_SIDES} sides, not ${sides}`);
  const dice = Array.from({ length: count }, () => rollDie(sides));
  return { dice, bonus, total: dice.reduce((a, b) => a + b, bonus) };
}

/** parseDate reads YYYY-MM-DD as midnight UTC, so that no time zone or summer time shifts a day. */
function parseDate(text) {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text ?? "");
  const date = parts && new Date(Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])));
  if (!date || formatDate(date) !== text) throw new Error(`“${text}” is not a date; write it like 2026-11-21`);
  return date;
}

function formatDate(date) {
  return date.toISOString().slice(0, 10);
}

function daysBetween(from, to) {
  const days = Math.round((to - from) / DAY);
  let weekdays = 0;
  const step = Math.sign(days);
  const whole = Math.trunc(Math.abs(days) / 7);
  weekdays = whole * 5;
  for (let i = whole * 7 + 1; i <= Math.abs(days); i++) {
    const weekday = new Date(from.getTime() + i * step * DAY).getUTCDay();
    if (weekday !== 0 && weekday !== 6) weekdays++;
  }
  return { days, weeks: Math.trunc(days / 7), days_over: days % 7, weekdays: weekdays * (step || 1) };
}

function addToDate(date, amount, unit) {
  if (!Number.isInteger(amount)) throw new Error("amount is a whole number");
  const day = date.getUTCDate();
  const result = new Date(date);
  if (unit === "days" || unit === "weeks") {
    result.setUTCDate(day + amount * (unit === "weeks" ? 7 : 1));
  } else {
    // The last day of a shorter month stands in for a day it does not have.
    result.setUTCDate(1);
    result.setUTCMonth(result.getUTCMonth() + amount * (unit === "years" ? 12 : 1));
    const last = new Date(Date.UTC(result.getUTCFullYear(), result.getUTCMonth() + 1, 0)).getUTCDate();
    result.setUTCDate(Math.min(day, last));
  }
  if (Number.isNaN(result.getTime())) throw new Error("that date is too far away");
  return { date: formatDate(result), weekday: WEEKDAYS[result.getUTCDay()] };
}

for (const [name, { run, ...tool }] of Object.entries(tools)) {
  spindle.registerTool({ name, ...tool, council_eligible: true, inline_available: true });
}

spindle.on("TOOL_INVOCATION", ({ toolName, args }) => tools[toolName]?.run(args));
