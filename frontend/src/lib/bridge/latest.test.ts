import { expect, test } from "vitest";
import { Latest } from "./latest";

/** An answer that is given later. */
function later() {
  let resolve = (_: string) => {};
  let reject = (_: Error) => {};
  const promise = new Promise<string>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

test("only the answer to what was asked last is taken, in whatever order answers come", async () => {
  const latest = new Latest();
  const taken: string[] = [];
  const take = (answer: string) => taken.push(answer);
  const first = later();
  const second = later();
  const asked = [latest.take(first.promise, take), latest.take(second.promise, take)];
  second.resolve("second");
  first.resolve("first");
  await Promise.all(asked);
  expect(taken).toEqual(["second"]);

  const third = later();
  const dropped = latest.take(third.promise, take);
  latest.drop();
  third.reject(new Error("late"));
  await dropped;
  expect(taken).toEqual(["second"]);
  await expect(latest.take(Promise.reject(new Error("No.")), take)).rejects.toThrow("No.");
});
