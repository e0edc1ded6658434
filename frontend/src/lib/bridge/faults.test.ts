import { afterEach, beforeEach, expect, test } from "vitest";
import { AppError } from "./calls";
import { fakeBridge } from "./fake";
import { reportFaults } from "./faults";

let bridge = fakeBridge();
let end = () => {};
beforeEach(() => {
  bridge = fakeBridge();
  end = reportFaults(bridge);
});
afterEach(() => end());

const fails = (error: unknown) => dispatchEvent(new ErrorEvent("error", { error, message: "no" }));
const rejects = (reason: unknown) => dispatchEvent(Object.assign(new Event("unhandledrejection"), { reason }));
const reports = () => bridge.given("Window.Report");

test("what nobody catches is told to the program, with its stack", () => {
  const error = new TypeError("x is undefined");
  fails(error);
  rejects("gone");
  expect(reports()).toEqual([
    ["TypeError: x is undefined", error.stack],
    ["gone", ""],
  ]);
});

test("what the browser says without an error is told with its place", () => {
  dispatchEvent(new ErrorEvent("error", { message: "Script error", filename: "a.js", lineno: 3, colno: 7 }));
  expect(reports()).toEqual([["Script error", "a.js:3:7"]]);
});

test("what the program logged itself is not told back", () => {
  rejects(new AppError({ message: "Something failed.", ref: "a1b2c3" }));
  expect(reports()).toEqual([]);
  rejects(new AppError({ message: "The store is in use." }));
  expect(reports()).toHaveLength(1);
});

test("a page reports 20 faults at most, and none after the end", () => {
  for (let i = 0; i < 30; i++) fails(new Error(`fault ${i}`));
  expect(reports()).toHaveLength(20);
  end();
  end = reportFaults(bridge);
  end();
  rejects("late");
  expect(reports()).toHaveLength(20);
});
