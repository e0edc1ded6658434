import { describe, expect, test } from "vitest";
import { startApp, until } from "../testing";
import { once } from "./answers";
import { Arm, armAfter } from "./arm.svelte";
import { summary } from "./summary";

const here = { top: 10, left: 10, width: 300, height: 200 };

describe("arming", () => {
  const make = () => {
    const clock = { now: 0 };
    return { clock, arm: new Arm(() => clock.now) };
  };

  test("a card arms 600 ms after it appeared", () => {
    const { clock, arm } = make();
    arm.look(here);
    clock.now = armAfter - 1;
    arm.look(here);
    expect(arm.armed).toBe(false);
    clock.now = armAfter;
    arm.look(here);
    expect(arm.armed).toBe(true);
  });

  test("any move disarms it for another 600 ms", () => {
    const { clock, arm } = make();
    arm.look(here);
    clock.now = armAfter;
    arm.look(here);
    arm.look({ ...here, top: 40 });
    expect(arm.armed).toBe(false);
    clock.now = 2 * armAfter;
    arm.look({ ...here, top: 40 });
    expect(arm.armed).toBe(true);
  });

  test("a click counts only when its press began on the armed card", () => {
    const { clock, arm } = make();
    arm.look(here);
    arm.press({} as PointerEvent); // too early
    clock.now = armAfter;
    arm.look(here);
    expect(arm.believe()).toBe(false);
    arm.press({} as PointerEvent);
    expect(arm.believe()).toBe(true);
    expect(arm.believe()).toBe(false); // used up
  });

  test("a held key and a key pressed elsewhere are not believed", () => {
    const { clock, arm } = make();
    arm.look(here);
    clock.now = armAfter;
    arm.look(here);
    const button = document.createElement("button");
    document.body.append(button);
    arm.press({ key: "Enter", repeat: false, currentTarget: button } as unknown as KeyboardEvent);
    expect(arm.believe()).toBe(false); // the focus is elsewhere
    button.focus();
    arm.press({ key: "Enter", repeat: true, currentTarget: button } as unknown as KeyboardEvent);
    expect(arm.believe()).toBe(false);
    arm.press({ key: "Enter", repeat: false, currentTarget: button } as unknown as KeyboardEvent);
    expect(arm.believe()).toBe(true);
    button.remove();
  });
});

describe("requests", () => {
  test("a request is announced once, and its answer goes out once with its nonce", async () => {
    const { app, fake } = await startApp();
    app.composer.changed("permission", 10);
    await app.send();
    await until("a request", () => app.permissions.calls.length === 1);
    expect(app.alert).toContain("Permission needed: Demo guide wants to write a note");
    const request = app.permissions.calls[0];
    if (!request) throw new Error("no request");
    await Promise.all([
      app.permissions.answer(request, once("allow", { scope: "always" })),
      app.permissions.answer(request, once("deny")),
    ]);
    expect(fake.permissions.answers.map((a) => a.answer.effect)).toEqual(["allow"]);
    await until("the answer's end", () => app.chat?.last?.head.state === "complete");
    expect(app.chat?.last?.calls[0]?.decision).toContain("by you");
    app.close();
  });

  test("a request settled elsewhere goes away and says so", async () => {
    const { app, fake } = await startApp();
    app.composer.changed("permission", 10);
    await app.send();
    await until("a request", () => app.permissions.calls.length === 1);
    const request = app.permissions.calls[0];
    if (!request) throw new Error("no request");
    await fake.permissions.Answer(request.id, request.nonce, once("deny"));
    expect(await app.permissions.answer(request, once("allow"))).toBe(false);
    expect(fake.permissions.answers.map((a) => a.answer.effect)).toEqual(["deny"]);
    app.close();
  });

  test("requests of one tool in one message are one batch", async () => {
    const { app } = await startApp();
    app.composer.changed("batch", 5);
    await app.send();
    await until("six requests", () => app.permissions.calls.length === 6);
    const seq = app.permissions.calls[0]?.seq ?? 0;
    const batches = app.permissions.batches(app.chat?.id ?? "", seq);
    expect(batches.map((b) => b.requests.length)).toEqual([6]);
    app.close();
  });

  test("a rule can be taken back, and given again", async () => {
    const { app } = await startApp("grants");
    await app.permissions.openGrants();
    expect(app.permissions.grants).toHaveLength(2);
    await app.undoable(() => app.permissions.revoke(app.permissions.grants[0]?.id ?? ""));
    expect(app.permissions.grants).toHaveLength(1);
    await app.undo();
    await until("both rules", () => app.permissions.grants.length === 2);
    app.close();
  });
});

test("arguments in one line", () => {
  expect(summary('{"path":"a.md","n":3,"text":"one\\ntwo"}')).toBe("path: a.md, n: 3, text: one");
  expect(summary("not json")).toBe("not json");
});
